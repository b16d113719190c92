import { JsonView, parseJson } from "../../parts";
import { argumentsOf, type Call } from "../../state";

const RESOLVED = {
  done: "It happened.",
  retry: "Send it again.",
  skip: "Left unknown.",
  "": "Not said yet.",
};

/** Why the turn waited for a person, and what that person said. */
export function WaitDetail({ call, outcome }: { call: Call; outcome: boolean }) {
  const value = parseJson(argumentsOf(call));
  return (
    <>
      <dl className="facts">
        <dt>Exact name</dt>
        <dd>
          <code>{call.spec.name}</code>
        </dd>
        <dt>Why</dt>
        <dd>
          {outcome ? "It was sent, and no answer was recorded." : <code>{call.judged?.rule || "asks"}</code>}
        </dd>
        <dt>Your decision</dt>
        <dd>{outcome ? RESOLVED[call.resolved] : decision(call)}</dd>
        {call.decided?.reason && (
          <>
            <dt>Reason</dt>
            <dd>{call.decided.reason}</dd>
          </>
        )}
      </dl>
      {value !== undefined && <JsonView value={value} open={4} />}
    </>
  );
}

function decision({ decided }: Call): string {
  if (!decided) return "Not given yet.";
  if (!decided.allow) return "Denied.";
  const scope = { once: "once", conversation: "in this chat", always: "always" }[decided.scope ?? "once"];
  return `Allowed ${scope}${decided.arguments ? ", with changed arguments" : ""}.`;
}
