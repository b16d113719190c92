import { useState } from "react";

import { SchemaForm, same } from "../form/SchemaForm";
import { fieldsOf, problemOf, type Values } from "../form/schema";
import { Button, Icon, Segments, Tag, parseJson } from "../parts";
import type { Call } from "../state";
import type { StepProps } from "./ApprovalCard";
import { AskCard } from "./AskCard";
import { WaitingTime } from "./WaitingTime";

export interface EditDraft {
  editor: "form" | "json";
  values: Values;
  json: string;
}

/** Arguments as a form made from the schema, or as JSON. Allow stays off until they are valid. */
export function EditCard({ call, named, busy, error, drafts, keep, decide, back, deny }: StepProps) {
  const [before] = useState(() => argumentsIn(call));
  const [fields] = useState(() => fieldsOf(named.tool?.input_schema ?? {}, before));
  const draft = drafts.edit ?? { editor: "form", values: before, json: JSON.stringify(before, null, 2) };
  const set = (more: Partial<EditDraft>) => keep({ edit: { ...draft, ...more } });
  const parsed = parsedOf(draft);
  const changed = changesIn(call, draft);
  const valid = parsed !== null && fields.every((field) => !problemOf(field, parsed[field.name]));
  const show = (editor: "form" | "json") => {
    if (editor === "json") set({ editor, json: JSON.stringify(draft.values, null, 2) });
    else if (parsed) set({ editor, values: parsed });
  };
  const discard = () => {
    keep({ edit: undefined });
    back();
  };
  return (
    <AskCard
      callId={call.id}
      icon="person"
      question={`Allow ${named.title}?`}
      named={named}
      time={<WaitingTime since={call.askedAt} />}
      first={false}
      stepped
      back={back}
      error={error}
      foot={
        <>
          <Button
            look="primary"
            disabled={busy || !valid || changed === 0}
            onClick={() => parsed && decide({ decision: "allow", scope: "once", arguments: parsed })}
          >
            Allow once with changes
          </Button>
          <Button disabled={busy} onClick={discard}>
            Discard changes
          </Button>
          <span className="grow" />
          <Button look="ghost" disabled={busy} onClick={back}>
            Back <kbd aria-hidden="true">Esc</kbd>
          </Button>
          <Button disabled={busy} onClick={deny}>
            Deny…
          </Button>
        </>
      }
    >
      <div className="edit-head">
        <strong>Edit arguments</strong>
        {changed > 0 && <Tag icon="write">{changed} changed</Tag>}
        <span className="grow" />
        <Segments
          kind="tabs"
          label="Editor"
          value={draft.editor}
          onChange={show}
          options={[
            { value: "form", label: "Form" },
            { value: "json", label: "JSON" },
          ]}
        />
      </div>
      {draft.editor === "form" ? (
        <SchemaForm
          fields={fields}
          values={draft.values}
          onChange={(values) => set({ values })}
          before={before}
          tried
        />
      ) : (
        <JsonEditor text={draft.json} wrong={parsed === null} onChange={(json) => set({ json })} />
      )}
      <p className="note">
        <Icon name="info" />
        <span>The model is told what you changed.</span>
      </p>
    </AskCard>
  );
}

/** How many arguments the draft has otherwise than the model wrote them. */
export function changesIn(call: Call, draft: EditDraft | undefined): number {
  if (!draft) return 0;
  const before = argumentsIn(call);
  const now = parsedOf(draft) ?? {};
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (name) => !same(before[name], now[name]),
  ).length;
}

function argumentsIn(call: Call): Values {
  return objectOf(call.spec.arguments) ?? {};
}

/** Null while the JSON cannot be read. */
function parsedOf({ editor, values, json }: EditDraft): Values | null {
  return editor === "json" ? objectOf(json) : values;
}

function JsonEditor({
  text,
  wrong,
  onChange,
}: {
  text: string;
  wrong: boolean;
  onChange: (text: string) => void;
}) {
  return (
    <div className="field">
      <textarea
        className="input mono"
        rows={Math.min(16, text.split("\n").length + 1)}
        aria-label="Arguments as JSON"
        aria-invalid={wrong || undefined}
        spellCheck={false}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
      {wrong && (
        <span className="wrong">
          <Icon name="fail" />
          Must be a JSON object
        </span>
      )}
    </div>
  );
}

function objectOf(json: string): Values | null {
  const value = parseJson(json);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
}
