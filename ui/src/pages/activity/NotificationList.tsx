import { paths } from "../../app/router";
import { markAllRead, markRead, unread, useTold, type Told } from "../../notifications/center";
import { land } from "../../notifications/land";
import type { Kind } from "../../notifications/preferences";
import { Button, Icon, when, type IconName } from "../../parts";

const LOOKS: Record<Kind, { icon: IconName; tone: string }> = {
  needs: { icon: "person", tone: "warn" },
  finished: { icon: "check", tone: "dim" },
  failed: { icon: "fail", tone: "bad" },
};

/** Newest first; those not read yet are tinted. */
export function NotificationList({ now }: { now: number }) {
  const all = useTold().filter((one) => !one.hidden);
  return (
    <section className="panel" aria-labelledby="notifications">
      <div className="panel-head">
        <h2 id="notifications">Notifications</h2>
        <span className="grow" />
        <Button small look="ghost" disabled={unread(all) === 0} onClick={markAllRead}>
          Mark all read
        </Button>
      </div>
      {all.length === 0 && <p className="dim bell-none">No notifications yet.</p>}
      <ul>
        {all.map((one) => (
          <Item key={one.key} one={one} now={now} />
        ))}
      </ul>
    </section>
  );
}

function Item({ one, now }: { one: Told; now: number }) {
  const { icon, tone } = LOOKS[one.kind];
  return (
    <li>
      <a
        className={one.read ? "bell-item" : "bell-item unread"}
        href={paths.conversation(one.conversationId)}
        onClick={(event) => {
          event.preventDefault();
          markRead(one.key);
          land(one.conversationId);
        }}
      >
        <Icon name={icon} className={tone} />
        <strong className="cut">{one.title}</strong>
        <span className="when num">{when(one.at, now)}</span>
        <small>
          {!one.read && <span className="vh">New: </span>}
          {one.text}
        </small>
      </a>
    </li>
  );
}
