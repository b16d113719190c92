import type { PermissionLayer, PermissionVerdict } from "../api";
import { Link, paths } from "../app/router";
import { Icon } from "../parts";

const VERDICTS = {
  auto: { words: "This call runs without asking.", icon: "check", tone: "" },
  ask: { words: "This call asks.", icon: "person", tone: "warn" },
  refuse: { words: "This call is refused.", icon: "denied", tone: "bad" },
} as const;

const LAYERS: Record<PermissionLayer["layer"], string> = {
  rules: "Rules",
  grants: "Grants",
  chat: "Chat",
  server: "Server and tool",
  otherwise: "Otherwise",
};

const EFFECTS = {
  auto: { word: "Allow", icon: "check" },
  ask: { word: "Ask", icon: "person" },
  deny: { word: "Deny", icon: "denied" },
} as const;

/** What a call comes to, in a sentence, with the step of the approval that decides. */
export function Verdict({ verdict }: { verdict: PermissionVerdict }) {
  const { words, icon, tone } = VERDICTS[verdict.verdict];
  return (
    <p className={`verdict ${tone}`}>
      <Icon name={icon} />
      <span>
        <strong>{words}</strong> {reasonOf(verdict)}
        {verdict.step > 0 && (
          <span className="dim">
            {" "}
            Step {verdict.step} of 7; the tool {verdict.tool_class}.
          </span>
        )}
      </span>
    </p>
  );
}

/** The layers in the order in which they are judged; the one that decides is marked. */
export function Trace({ layers }: { layers: readonly PermissionLayer[] }) {
  return (
    <ol className="trace" aria-label="Layers of permissions">
      {layers.map((one, n) => (
        <li key={one.layer} className={one.decides ? "win" : undefined}>
          <span className="no" aria-hidden="true">
            {n + 1}
          </span>
          <span>
            {one.decides ? <b>{LAYERS[one.layer]}</b> : LAYERS[one.layer]}
            {one.decides && <span className="vh"> decides</span>}
            <small>
              {one.permission_id ? (
                <Link href={paths.permission(one.permission_id)}>{one.why}</Link>
              ) : (
                one.why
              )}
            </small>
          </span>
          <Effect effect={one.effect} />
        </li>
      ))}
    </ol>
  );
}

function Effect({ effect }: Pick<PermissionLayer, "effect">) {
  if (effect === "") return <span className="dim">–</span>;
  const { word, icon } = EFFECTS[effect];
  return (
    <span className={`verd ${effect}`}>
      <Icon name={icon} />
      {word}
    </span>
  );
}

const SETTING = { auto: "Auto", ask: "Ask", deny: "Deny", "": "" };

/** Of two settings the stricter counts, which is said with both. */
function reasonOf({ why, trace, outside }: PermissionVerdict): string {
  const chat = trace.find(({ layer }) => layer === "chat");
  const server = trace.find(({ layer }) => layer === "server");
  if (chat?.effect && server?.effect && chat.effect !== server.effect) {
    const of = {
      chat: `“${SETTING[chat.effect]}” in this chat`,
      server: `“${SETTING[server.effect]}” on the server`,
    };
    if (server.decides) return `${of.server} is stricter than ${of.chat}.`;
    if (chat.decides) return `${of.chat} is stricter than ${of.server}.`;
  }
  return outside ? `${sentence(why)} It came from ${outside}.` : sentence(why);
}

function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
