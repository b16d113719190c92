import { inBase, openInTab, system } from "../../api";
import { LinkButton } from "../../parts";
import { useLoaded } from "../useLoaded";
import { Section } from "./Section";

const KEYS: [string[], string][] = [
  [["Enter"], "Send"],
  [["Shift", "Enter"], "New line"],
  [["Esc"], "Go back one step; what was typed stays. It never decides a card."],
  [["Esc", "Esc"], "Stop the turn, from the message box or the thread"],
  [["Ctrl", "K"], "Search chats"],
  [["Alt", "↑"], "Previous turn"],
  [["Alt", "↓"], "Next turn"],
  [["Alt", "W"], "Next card that waits, in any chat"],
  [["Alt", "I"], "Inspector of the focused turn"],
];

export function Keyboard() {
  return (
    <Section id="keyboard" title="Keyboard">
      <dl className="keys">
        {KEYS.map(([keys, words]) => (
          <div key={words}>
            <dt>
              {keys.map((key, n) => (
                <kbd key={n}>{key}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

export function About() {
  const { value, error } = useLoaded("health", system.health);
  return (
    <Section id="about" title="About">
      <dl className="facts">
        <dt>Version</dt>
        <dd className="num">{value?.version ?? (error || "…")}</dd>
        <dt>Server</dt>
        <dd>
          <code>{location.host}</code>
        </dd>
        <dt>Interface</dt>
        <dd>
          <a href={inBase("/docs")}>Documentation</a>
          <LinkButton onClick={() => openInTab("/openapi.json")}>OpenAPI</LinkButton>
        </dd>
      </dl>
    </Section>
  );
}
