import { useState } from "react";

import { policy, type Approval, type Rule } from "../../api";
import { Link, paths } from "../../app/router";
import { useVerb } from "../../conversation/useVerb";
import { ruleText } from "../../conversation/labels";
import { Button, Icon, IconButton, Segments } from "../../parts";
import { Problem } from "../Problem";
import { useLoaded } from "../useLoaded";
import { CLAIMS, NEW_RULE, conditionText, conditionsOf, moved, oddness, same } from "./rules";
import { Section } from "./Section";

const VERDICTS = [
  { value: "auto", label: "Auto" },
  { value: "ask", label: "Ask" },
  { value: "deny", label: "Deny" },
] as const;

/** The ordered rules: the first that fits a call decides. */
export function Policy() {
  const { value, error, again } = useLoaded("policy", policy.get);
  return (
    <Section
      id="policy"
      title="Rules"
      words="The first rule that fits a call decides whether it runs, asks or is refused."
    >
      <Problem what="Rules couldn’t be loaded." error={error} onAgain={again} />
      {!value && !error && <p className="dim">Loading rules…</p>}
      {value && <Editor kept={value.rules} operator={value.operator_rules} onSaved={again} />}
    </Section>
  );
}

interface Draft {
  id: number;
  rule: Rule;
  /** The conditions as typed; they may not be readable yet. */
  where: string;
}

let nextId = 0;

function draftOf(rule: Rule): Draft {
  return { id: ++nextId, rule, where: conditionText(rule.arguments) };
}

interface EditorProps {
  kept: readonly Rule[];
  /** From windlass.toml: they come first and stay there. */
  operator: readonly Rule[];
  onSaved: () => void;
}

function Editor({ kept, operator, onSaved }: EditorProps) {
  const [drafts, setDrafts] = useState<Draft[]>(() => kept.map(draftOf));
  const [status, setStatus] = useState("");
  const { run, busy, error } = useVerb();
  const rules = drafts.map(({ rule }) => rule);
  const readable = drafts.every(({ where }) => conditionsOf(where) !== null);
  const changed = !readable || !same(rules, kept);

  const change = (index: number, next: Partial<Draft>) =>
    setDrafts(drafts.map((draft, n) => (n === index ? { ...draft, ...next } : draft)));
  const move = (index: number, by: number) => {
    setDrafts(moved(drafts, index, index + by));
    const n = operator.length + index + 1;
    setStatus(`Rule ${n} is now rule ${n + by}.`);
  };
  const save = async () => {
    if (await run(() => policy.put(rules))) onSaved();
  };
  return (
    <>
      <ol className="rules">
        {operator.map((rule, index) => (
          <li className="rule fixed" key={index}>
            <span className="no num">{index + 1}</span>
            <code className="mono">{ruleText(rule)}</code>
            <span className="dim">windlass.toml</span>
          </li>
        ))}
        {drafts.map((draft, index) => (
          <RuleRow
            key={draft.id}
            draft={draft}
            n={operator.length + index + 1}
            first={index === 0}
            last={index === drafts.length - 1}
            odd={oddness([...operator, ...rules], operator.length + index)}
            onChange={(next) => change(index, next)}
            onMove={(by) => move(index, by)}
            onRemove={() => setDrafts(drafts.filter((_, n) => n !== index))}
          />
        ))}
        <li className="rule else">
          <span className="no">Otherwise</span>
          <p>
            Tools that read run, tools that change or send ask. What you allowed on a card, and settings of
            chats and servers, are in <Link href={paths.permissions}>Permissions</Link>.
          </p>
        </li>
      </ol>
      <span className="vh" role="status">
        {status}
      </span>
      <Problem what="Couldn’t save." error={error} />
      <div className="panel-foot">
        <Button icon="plus" onClick={() => setDrafts([...drafts, draftOf(NEW_RULE)])}>
          Add a rule
        </Button>
        <span className="grow" />
        {changed && (
          <>
            <Button look="ghost" onClick={() => setDrafts(kept.map(draftOf))}>
              Discard changes
            </Button>
            <Button look="primary" disabled={busy || !readable} onClick={save}>
              {busy ? "Saving" : "Save rules"}
            </Button>
          </>
        )}
      </div>
    </>
  );
}

interface RowProps {
  draft: Draft;
  n: number;
  first: boolean;
  last: boolean;
  odd: string;
  onChange: (next: Partial<Draft>) => void;
  onMove: (by: number) => void;
  onRemove: () => void;
}

function RuleRow({ draft, n, first, last, odd, onChange, onMove, onRemove }: RowProps) {
  const { rule, where } = draft;
  const put = (next: Partial<Rule>) => onChange({ rule: { ...rule, ...next } });
  const unreadable = conditionsOf(where) === null;
  const typeWhere = (text: string) => {
    const read = conditionsOf(text);
    onChange({ where: text, ...(read && { rule: { ...rule, arguments: read } }) });
  };
  return (
    <li className="rule" aria-label={`Rule ${n}`}>
      <span className="no num">{n}</span>
      <span className="rule-fits">
        <Box
          label={`Server of rule ${n}`}
          value={rule.server}
          onText={(server) => put({ server: server || "*" })}
        />
        <span className="dim">.</span>
        <Box label={`Tool of rule ${n}`} value={rule.tool} onText={(tool) => put({ tool: tool || "*" })} />
        <span className="dim">where</span>
        <Box
          label={`Conditions of rule ${n}`}
          value={where}
          onText={typeWhere}
          placeholder="any arguments"
          invalid={unreadable}
        />
      </span>
      <Segments<Approval>
        label={`Verdict of rule ${n}`}
        value={rule.approval}
        options={VERDICTS}
        onChange={(approval) => put({ approval })}
      />
      <span className="row-acts">
        <IconButton icon="up" label={`Move rule ${n} up`} disabled={first} onClick={() => onMove(-1)} />
        <IconButton icon="down" label={`Move rule ${n} down`} disabled={last} onClick={() => onMove(1)} />
        <IconButton icon="trash" label={`Remove rule ${n}`} onClick={onRemove} />
      </span>
      <Notes rule={rule} odd={odd} unreadable={unreadable} />
    </li>
  );
}

function Notes({ rule, odd, unreadable }: { rule: Rule; odd: string; unreadable: boolean }) {
  if (!rule.hint && !rule.name && !odd && !unreadable) return null;
  return (
    <span className="rule-notes">
      {unreadable && (
        <span className="wrong">
          <Icon name="fail" />
          Write it as name = pattern, more with “and”.
        </span>
      )}
      {rule.name && <span>{rule.name}</span>}
      {rule.hint && (
        <span>
          <Icon name="shield" />
          only a tool {CLAIMS.find(([hint]) => hint === rule.hint)?.[1]}, as its server claims
        </span>
      )}
      {odd && (
        <span>
          <Icon name="info" />
          {odd}
        </span>
      )}
    </span>
  );
}

interface BoxProps {
  label: string;
  value: string;
  onText: (text: string) => void;
  placeholder?: string;
  invalid?: boolean;
}

function Box({ label, value, onText, placeholder, invalid }: BoxProps) {
  return (
    <input
      className="input mono"
      aria-label={label}
      value={value}
      placeholder={placeholder}
      aria-invalid={invalid ? true : undefined}
      onChange={(event) => onText(event.target.value)}
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
    />
  );
}
