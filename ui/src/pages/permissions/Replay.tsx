import { useEffect, useState } from "react";

import { errorText, permissions, type Replayed, type ReplayedCall, type Rule } from "../../api";
import { Icon, Moment, PlacedBar, plural } from "../../parts";

const LAST = 500;
const TYPING_MS = 250;

interface Props {
  rule: Rule;
  position: number;
  /** Id of the saved rule that it replaces. */
  replaces: string;
}

/** What the rule would have made of past calls. Nothing is called and nothing is saved. */
export function Replay({ rule, position, replaces }: Props) {
  const [found, setFound] = useState<{ value: Replayed | null; error: string }>({ value: null, error: "" });
  const { approval, server, tool, hint, other_arguments = false } = rule;
  const tried = { approval, server, tool, arguments: rule.arguments, hint, other_arguments };
  const request = JSON.stringify({ rule: tried, last: LAST, position, replaces });
  useEffect(() => {
    let wanted = true;
    const timer = setTimeout(() => {
      permissions.replay(JSON.parse(request) as Parameters<typeof permissions.replay>[0]).then(
        (value) => wanted && setFound({ value, error: "" }),
        (error: unknown) => wanted && setFound({ value: null, error: errorText(error) }),
      );
    }, TYPING_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [request]);
  if (found.error)
    return (
      <p className="bad" role="alert">
        {found.error}
      </p>
    );
  return found.value ? <Outcome replayed={found.value} /> : <p className="dim">Replaying past calls…</p>;
}

function Outcome({ replayed }: { replayed: Replayed }) {
  const { calls, stopped, asked, freed } = replayed;
  if (calls === 0) return <p role="status">No calls yet, so there is nothing to replay.</p>;
  const changed = replayed.examples.filter(({ was, would }) => was !== would);
  return (
    <div className="replay">
      <p>
        <strong>Replayed against your last {plural(calls, "call")}</strong>{" "}
        <span className="dim">nothing is run</span>
      </p>
      <div className="stackbar" aria-hidden="true">
        <PlacedBar className="same" size={(calls - stopped - asked - freed) / calls} />
        <PlacedBar className="stop" size={stopped / calls} />
        <PlacedBar className="asks" size={asked / calls} />
        <PlacedBar className="free" size={freed / calls} />
      </div>
      <p role="status">{sentenceOf(replayed)}</p>
      {changed.length > 0 && (
        <ul className="replay-list">
          {changed.map((call) => (
            <Changed key={call.call_id} call={call} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** "Would have stopped 3 of your last 412 calls. 1 call you approved would have run without asking." */
export function sentenceOf({ calls, stopped, asked, freed, approved }: Replayed): string {
  const last = `your last ${plural(calls, "call")}`;
  const parts = [
    stopped > 0 ? `Would have stopped ${stopped} of ${last}.` : "",
    asked > 0 ? `${plural(asked, "call")} that ran would have asked.` : "",
    approved > 0 ? `${plural(approved, "call")} you approved would have run without asking.` : "",
    freed > approved
      ? `${plural(freed - approved, "call")} that did not run would have run without asking.`
      : "",
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(" ") : `Would have changed none of ${last}.`;
}

const WAS = { auto: "ran", ask: "asked", refuse: "refused" };
const WOULD = { auto: "Allow", ask: "Ask", refuse: "Deny" };

function Changed({ call }: { call: ReplayedCall }) {
  return (
    <li>
      <Moment at={Date.parse(call.at)} />
      <code className="cut">
        {call.server}.{call.tool} {call.arguments}
      </code>
      <span className="change">
        {WAS[call.was]}
        {call.decision && `, ${call.decision}`} <Icon name="right" />
        <b className={call.would}>{WOULD[call.would]}</b>
      </span>
    </li>
  );
}
