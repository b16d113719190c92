import { Banner, Button, useNow } from "../parts";
import { isOpen, type Turn, type Waiting } from "../state";
import { useOpen } from "./context";
import { SignInHere } from "./MissingServers";
import { stop } from "./stop";
import { nameCall, type Naming } from "./toolbox";
import { spokenWait, waitText, type WaitNames } from "./waitText";

/** What a turn waits for. The reason is spoken once, its seconds never. */
export function WaitingLine({ turn, waiting }: { turn: Turn; waiting: Waiting }) {
  const { store, naming } = useOpen();
  const now = useNow(true);
  const names = namesIn(turn, waiting, naming);
  const text = waitText(waiting, now, names);
  if (waiting.for === "sign_in")
    return (
      <SignInHere slug={waiting.server ?? ""} wanted>
        <span role="alert">
          <strong>{text.lead}</strong> {text.after}
        </span>
      </SignInHere>
    );
  const call = waiting.for === "tool" || waiting.for === "server" ? (waiting.call_id ?? "") : "";
  return (
    <Banner
      icon={waiting.for === "rate_limit" ? "timeout" : waiting.for === "slot" ? "queued" : "run"}
      actions={
        <Button small onClick={() => stop(store, turn.id, call)}>
          {call ? "Stop call" : "Stop"}
        </Button>
      }
    >
      <span className="vh" role="status">
        {spokenWait(waiting, names)}
      </span>
      <span aria-hidden="true">
        <strong>{text.lead}</strong> {text.before}
        {text.count && <span className={text.slow ? "num warn" : "num"}>{text.count}</span>}
        {text.after}
        {text.where && <span className="dim"> {text.where}</span>}
      </span>
    </Banner>
  );
}

/** The call's tool by its title, and how many calls of this turn wait with it for their server. */
function namesIn(turn: Turn, { call_id, server }: Waiting, naming: Naming): WaitNames {
  const calls = turn.rounds.flatMap((round) => round.calls).filter(isOpen);
  const call = calls.find((one) => one.id === call_id);
  const serverOf = (one: (typeof calls)[number]) => nameCall(naming, one).server;
  const waiting = calls.filter((one) => one.attempts.length > 0 && call && serverOf(one) === serverOf(call));
  return { tool: call ? nameCall(naming, call).title : (server ?? ""), calls: Math.max(1, waiting.length) };
}
