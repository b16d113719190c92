import { ApprovalGroup } from "../cards/ApprovalGroup";
import { InputCard } from "../cards/InputCard";
import { UnknownCard } from "../cards/UnknownCard";
import { lookOf, waitingCalls, type Call, type Turn } from "../state";
import { CallRow } from "./CallRow";
import { Figures } from "./Figures";
import { keptCalls } from "./folding";

interface Props {
  calls: readonly Call[];
  turn: Turn;
}

/** What stays of calls whose rows are folded: those that failed, on a line each, those that wait, as cards, and what they gave to look at. */
export function KeptCalls({ calls, turn }: Props) {
  const { failed, waiting } = keptCalls(turn, calls);
  return (
    <>
      {failed.length > 0 && (
        <div className="calls" role="group" aria-label={`${failed.length} failed`}>
          {failed.map((call) => (
            <CallRow key={call.id} call={call} turn={turn} grouped open={false} />
          ))}
        </div>
      )}
      <WaitingCalls calls={waiting} turn={turn} />
      <Figures calls={calls} />
    </>
  );
}

/** Calls that wait for a person. They never fold; approvals share a card. */
export function WaitingCalls({ calls, turn }: Props) {
  const first = waitingCalls(turn)[0];
  const approvals = calls.filter((call) => lookOf(call) === "waiting");
  return (
    <>
      <ApprovalGroup calls={approvals} first={first !== undefined && approvals.includes(first)} />
      {calls.map((call) => (
        <WaitingCall key={call.id} call={call} first={call === first} />
      ))}
    </>
  );
}

/** A question of a server, or an outcome in doubt. */
function WaitingCall({ call, first }: { call: Call; first: boolean }) {
  const look = lookOf(call);
  if (look === "unknown") return <UnknownCard call={call} first={first} />;
  if (look === "asked" && call.input)
    return <InputCard key={call.input.at} call={call} input={call.input} first={first} />;
  return null;
}
