import { useConnection } from "../app/link";
import { PageFrame } from "../app/PageFrame";
import { Skeleton, clockTime, plural, useNow } from "../parts";
import { useListing } from "../sidebar/listing";
import "./activity/activity.css";
import { NotificationList } from "./activity/NotificationList";
import { TellMe } from "./activity/TellMe";
import { Waits, waitingChats } from "./activity/Waits";
import "./pages.css";

const WAIT_PX = 54; // a row with its frame

/** What does not move and why, what happened meanwhile, and of what the person wants to be told. */
export default function Activity() {
  const { items, loaded } = useListing();
  const { state, since } = useConnection();
  const now = useNow(false);
  const chats = waitingChats(items);
  const running = items.filter((one) => one.state === "running").length;
  return (
    <PageFrame title="Activity" actions={running > 0 && <Running count={running} />}>
      <div className="activity">
        <section aria-labelledby="waits" className={state === "lost" ? "stale" : undefined}>
          <div className="section-head">
            <h2 id="waits">Not moving right now</h2>
            {chats.length > 0 && <span className="dim num">{chats.length}</span>}
          </div>
          {state === "lost" && (
            <p className="why-stale" role="alert">
              Disconnected since {clockTime(since)}. This is how it was then.
            </p>
          )}
          {loaded ? <Waits chats={chats} /> : <Skeleton label="Loading chats…" rows={1} row={WAIT_PX} />}
        </section>
        <div className="stack">
          <NotificationList now={now} />
          <TellMe />
        </div>
      </div>
    </PageFrame>
  );
}

function Running({ count }: { count: number }) {
  return <span className="dim num topmeta">{plural(count, "turn")} running</span>;
}
