import { useState } from "react";

import {
  KINDS,
  WAYS,
  noteAsked,
  permission,
  setWay,
  usePreferences,
  type Kind,
  type Way,
} from "../../notifications/preferences";
import { Banner, Button, Icon } from "../../parts";

const KIND_WORDS: Record<Kind, string> = {
  needs: "It needs me",
  finished: "A long turn is done",
  failed: "A turn fails",
};
const WAY_WORDS: Record<Way, string> = { page: "Page", desktop: "Desktop", sound: "Sound" };

/** Which kinds of news come which way. */
export function TellMe() {
  const { ways } = usePreferences();
  const [allowed, setAllowed] = useState(permission);
  const ask = async () => {
    noteAsked("on");
    setAllowed(await Notification.requestPermission());
  };
  return (
    <section className="panel" aria-labelledby="tell-me">
      <div className="panel-head">
        <h2 id="tell-me">Tell me when</h2>
      </div>
      <table className="matrix">
        <thead>
          <tr>
            <td />
            {WAYS.map((way) => (
              <th key={way} scope="col">
                {WAY_WORDS[way]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {KINDS.map((kind) => (
            <tr key={kind}>
              <th scope="row">{KIND_WORDS[kind]}</th>
              {WAYS.map((way) => (
                <td key={way}>
                  <input
                    type="checkbox"
                    className="box"
                    aria-label={`${KIND_WORDS[kind]}: ${WAY_WORDS[way]}`}
                    checked={ways[kind][way]}
                    onChange={(event) => setWay(kind, way, event.target.checked)}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Permission allowed={allowed} onAsk={() => void ask()} />
      <p className="matrix-foot dim">
        <Icon name="lock" />
        Desktop notifications never show arguments.
      </p>
    </section>
  );
}

function Permission({ allowed, onAsk }: { allowed: ReturnType<typeof permission>; onAsk: () => void }) {
  switch (allowed) {
    case "granted":
      return null;
    case "default":
      return (
        <div className="matrix-note">
          <Banner
            icon="bell"
            actions={
              <Button small onClick={onAsk}>
                Turn on
              </Button>
            }
          >
            Desktop notifications are off.
          </Banner>
        </div>
      );
    case "denied":
      return (
        <p className="matrix-note dim">
          Your browser blocks notifications from {location.host}. Open the site settings from the icon beside
          the address, allow notifications, then reload this page.
        </p>
      );
    case "unsupported":
      return (
        <p className="matrix-note dim">
          This browser shows desktop notifications only for pages over https or on this computer.
        </p>
      );
  }
}
