import { permissions, turns, type ReplayedCall } from "../../api";
import { useVerb } from "../../conversation/useVerb";
import { Moment, Skeleton } from "../../parts";
import { useLoaded } from "../useLoaded";

export interface PickedCall {
  /** Its slug. */
  server: string;
  tool: string;
  chat: string;
  json: string;
}

const LAST = 50;
const ANY = { approval: "ask", server: "*", tool: "*" } as const;

/** Some of the last calls, to be tested as they were: shown shortened, taken in full from their turn. */
export function PastCalls({ onPick }: { onPick: (call: PickedCall) => void }) {
  const { value, error } = useLoaded("past", () => permissions.replay({ rule: ANY, last: LAST }));
  const picking = useVerb();
  const pick = (call: ReplayedCall) =>
    picking.run(async () => {
      const { turn } = await turns.get(call.turn_id);
      const found = turn.calls.find(({ id }) => id === call.call_id);
      onPick({
        server: call.server,
        tool: call.tool,
        chat: turn.conversation_id,
        json: found?.arguments ?? call.arguments,
      });
    });
  if (error || picking.error)
    return (
      <p className="bad" role="alert">
        {error || picking.error}
      </p>
    );
  if (!value) return <Skeleton label="Loading past calls…" rows={3} row={36} />;
  const calls = value.examples.toSorted((a, b) => b.at.localeCompare(a.at));
  if (calls.length === 0) return <p className="dim">No calls yet.</p>;
  return (
    <ul className="past-calls" aria-label="Past calls">
      {calls.map((call) => (
        <li key={call.call_id}>
          <button type="button" disabled={picking.busy} onClick={() => void pick(call)}>
            <code className="cut">
              {call.server}.{call.tool} {call.arguments}
            </code>
            <Moment at={Date.parse(call.at)} />
          </button>
        </li>
      ))}
    </ul>
  );
}
