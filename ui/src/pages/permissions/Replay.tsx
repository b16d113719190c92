import { useState } from "react";

import { errorText, permissions, type Approval, type Replayed } from "../../api";
import { Button, Segments, plural } from "../../parts";
import { TextField } from "../Field";
import { conditionsOf } from "../settings/rules";

const DECISIONS = [
  { value: "auto", label: "Allow" },
  { value: "ask", label: "Ask" },
  { value: "deny", label: "Deny" },
] as const;
const VERDICTS = { auto: "ran", ask: "asked", refuse: "refused" };
const WOULD = { auto: "runs", ask: "asks", refuse: "is refused" };

/** A rule tried on what was called before. Nothing is called and nothing is saved. */
export function Replay() {
  const [rule, setRule] = useState({ server: "*", tool: "*", where: "" });
  const [approval, setApproval] = useState<Approval>("ask");
  const [found, setFound] = useState<{ value: Replayed | null; error: string }>({ value: null, error: "" });
  const conditions = conditionsOf(rule.where);
  const run = () => {
    if (!conditions) return;
    const { server, tool } = rule;
    permissions.replay({ approval, server, tool, arguments: conditions }).then(
      (value) => setFound({ value, error: "" }),
      (error: unknown) => setFound({ value: null, error: errorText(error) }),
    );
  };
  return (
    <form
      className="panel"
      aria-label="Try a rule on past calls"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <div className="panel-head">
        <h2>Try a rule on past calls</h2>
      </div>
      <div className="panel-body form">
        <div className="two">
          <TextField
            label="Server"
            mono
            value={rule.server}
            onText={(server) => setRule({ ...rule, server })}
          />
          <TextField label="Tool" mono value={rule.tool} onText={(tool) => setRule({ ...rule, tool })} />
        </div>
        <TextField
          label="When"
          optional
          mono
          value={rule.where}
          onText={(where) => setRule({ ...rule, where })}
          placeholder="path = /docs/*"
          problem={conditions ? "" : "Write it as name = pattern, more with “and”."}
        />
        <div className="panel-foot">
          <Segments label="Decision" value={approval} options={DECISIONS} onChange={setApproval} />
          <span className="grow" />
          <Button type="submit" disabled={!conditions}>
            Replay
          </Button>
        </div>
        {found.error && (
          <p className="bad" role="alert">
            {found.error}
          </p>
        )}
        {found.value && <Outcome replayed={found.value} />}
      </div>
    </form>
  );
}

function Outcome({ replayed }: { replayed: Replayed }) {
  const changed = replayed.examples.filter(({ was, would }) => was !== would);
  return (
    <>
      <p role="status">
        {replayed.calls === 0
          ? "No call was made yet."
          : `Decides ${replayed.matched} of your last ${plural(replayed.calls, "call")}: ${replayed.would_run} run, ${replayed.would_ask} ask, ${replayed.would_deny} refused.`}
      </p>
      {changed.length > 0 && (
        <ul className="replayed">
          {changed.map((call) => (
            <li key={call.call_id}>
              <code className="cut">
                {call.server}.{call.tool} {call.arguments}
              </code>
              <span>
                {VERDICTS[call.was]}, now {WOULD[call.would]}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
