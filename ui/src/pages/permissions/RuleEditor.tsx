import { useState, type KeyboardEvent } from "react";

import { policy, type Rule } from "../../api";
import { ruleList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, IconButton, Problem, Segments, Skeleton } from "../../parts";
import { TextField } from "../Field";
import { useLoaded } from "../useLoaded";
import { Replay } from "./Replay";
import { CLAIMS, NEW_RULE, conditionText, conditionsOf, moved, oddness } from "./rules";

const DECISIONS = [
  { value: "auto", label: "Allow" },
  { value: "ask", label: "Ask" },
  { value: "deny", label: "Deny" },
] as const;

interface Props {
  /** Of the rule that is edited; "" for a new one, which comes last. */
  id: string;
  onDone: () => void;
  onClose: () => void;
}

/** A rule edited in its place, with what it would have done to past calls below it. */
export function RuleEditor({ id, onDone, onClose }: Props) {
  const { value, error, again } = useLoaded(`policy ${id}`, policy.get);
  if (error) return <Problem what="Rules couldn’t be loaded." error={error} onAgain={again} />;
  if (!value) return <Skeleton label="Loading rules…" rows={2} row={52} />;
  const found = value.rules.findIndex((rule) => rule.id === id);
  const position = found < 0 ? value.rules.length : found;
  return (
    <Form
      rule={value.rules[position] ?? NEW_RULE}
      position={position}
      saved={value.rules}
      operator={value.operator_rules}
      version={value.version}
      onDone={onDone}
      onClose={onClose}
    />
  );
}

interface FormProps {
  rule: Rule;
  position: number;
  saved: readonly Rule[];
  /** From windlass.toml: they come first and stay there. */
  operator: readonly Rule[];
  version: string;
  onDone: () => void;
  onClose: () => void;
}

function Form({ rule: before, position, saved, operator, version, onDone, onClose }: FormProps) {
  const [rule, setRule] = useState(before);
  const [where, setWhere] = useState(() => conditionText(before.arguments));
  const { run, busy, error } = useVerb();
  const isNew = position === saved.length;
  const conditions = conditionsOf(where);
  const written = { ...rule, arguments: conditions ?? {} };
  const rules = [...saved.slice(0, position), written, ...saved.slice(position + 1)];
  const odd = oddness([...operator, ...rules], operator.length + position);
  const put = async (next: Rule[]) => {
    if (!(await run(() => policy.put(next, version)))) return;
    void ruleList.refresh();
    onDone();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    onClose();
  };
  return (
    <form
      className="panel rule-edit"
      aria-label={isNew ? "New rule" : `Rule ${operator.length + position + 1}`}
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        if (conditions) void put(rules);
      }}
    >
      <div className="rule-fields">
        <TextField
          label="Server"
          mono
          autoFocus
          value={rule.server}
          onText={(server) => setRule({ ...rule, server: server || "*" })}
        />
        <TextField
          label="Tool"
          mono
          value={rule.tool}
          onText={(tool) => setRule({ ...rule, tool: tool || "*" })}
        />
        <TextField
          label="When"
          mono
          placeholder="any arguments"
          value={where}
          onText={setWhere}
          problem={conditions ? "" : "Write it as name = pattern, more with “and”."}
        />
        <Segments
          label="Decision"
          value={rule.approval}
          options={DECISIONS}
          onChange={(approval) => setRule({ ...rule, approval })}
        />
      </div>
      {rule.hint && (
        <p className="dim">
          Only a tool {CLAIMS.find(([hint]) => hint === rule.hint)?.[1]}, as its server claims.
        </p>
      )}
      {odd && <p className="dim">{odd}</p>}
      {conditions && <Replay rule={written} position={position} replaces={before.id ?? ""} />}
      <Problem what="Couldn’t save." error={error} />
      <div className="panel-foot">
        <Button type="submit" look="primary" disabled={busy || !conditions}>
          Save rule
        </Button>
        <Button disabled={busy} onClick={onClose}>
          Cancel <kbd aria-hidden="true">Esc</kbd>
        </Button>
        <span className="grow" />
        {!isNew && (
          <>
            <IconButton
              icon="up"
              label="Move up"
              disabled={busy || position === 0}
              onClick={() => void put(moved(rules, position, position - 1))}
            />
            <IconButton
              icon="down"
              label="Move down"
              disabled={busy || position === saved.length - 1}
              onClick={() => void put(moved(rules, position, position + 1))}
            />
            <Button
              look="ghost"
              disabled={busy}
              onClick={() => void put(saved.filter((_, n) => n !== position))}
            >
              Delete rule
            </Button>
          </>
        )}
      </div>
    </form>
  );
}
