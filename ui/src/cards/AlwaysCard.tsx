import { useState } from "react";

import { policy, type Rule } from "../api";
import { useVerb } from "../conversation/useVerb";
import { ruleOf, ruleText } from "../conversation/labels";
import { Button, parseJson } from "../parts";
import type { StepProps } from "./ApprovalCard";
import { AskCard } from "./AskCard";

/** One more step before a rule is written: the very rule is shown, and may be bound to some of the arguments. */
export function AlwaysCard({ call, named, busy, error, decide, back }: StepProps) {
  const [bound, setBound] = useState<ReadonlySet<string>>(new Set());
  const adding = useVerb();
  const choices = plainArguments(call.spec.arguments);
  const rule: Rule = {
    approval: "auto",
    server: named.server || "*",
    tool: named.tool?.tool_name ?? call.spec.name,
    arguments: Object.fromEntries(choices.filter(([name]) => bound.has(name))),
    hint: "",
    name: "",
  };
  const add = async () => {
    if (bound.size === 0) {
      decide({ decision: "allow", scope: "always" });
      return;
    }
    const added = await adding.run(async () => {
      const { rules } = await policy.get();
      await policy.put([rule, ...rules]);
    });
    if (added) decide({ decision: "allow", scope: "once" });
  };
  const above = ruleOf(call.judged?.rule ?? "").number;
  return (
    <AskCard
      callId={call.id}
      icon="shield"
      question={`Always allow ${named.title}?`}
      server={named.server}
      time=""
      first={false}
      error={adding.error || error}
      foot={
        <>
          <Button look="primary" disabled={busy || adding.busy} onClick={add}>
            Add rule and allow
          </Button>
          <Button look="ghost" disabled={busy} onClick={back}>
            Back
          </Button>
        </>
      }
    >
      <p>
        This adds a rule {above ? `above rule ${above}` : "above the others"}. It holds for this exact tool
        definition; if the server changes it, you are asked again.
      </p>
      {choices.length > 0 && (
        <fieldset className="field">
          <legend className="label">Only when</legend>
          {choices.map(([name, value]) => (
            <label className="check" key={name}>
              <input
                type="checkbox"
                className="box"
                checked={bound.has(name)}
                onChange={(event) => setBound(withOrWithout(bound, name, event.target.checked))}
              />
              <code>
                {name} = {value}
              </code>
            </label>
          ))}
          <span className="help">Leave all off to allow any arguments.</span>
        </fieldset>
      )}
      <div className="args-box">
        <code className="mono">{ruleText(rule)}</code>
      </div>
    </AskCard>
  );
}

const LONGEST_PATTERN = 120;

/** Arguments short and plain enough to stand in a rule. */
function plainArguments(json: string): [string, string][] {
  const value = parseJson(json);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .filter(([, inner]) => ["string", "number", "boolean"].includes(typeof inner))
    .map(([name, inner]): [string, string] => [
      name,
      typeof inner === "string" ? inner : JSON.stringify(inner),
    ])
    .filter(([, text]) => text.length <= LONGEST_PATTERN && !text.includes("*"));
}

function withOrWithout(names: ReadonlySet<string>, name: string, wanted: boolean): ReadonlySet<string> {
  const next = new Set(names);
  if (wanted) next.add(name);
  else next.delete(name);
  return next;
}
