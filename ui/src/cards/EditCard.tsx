import { useState } from "react";

import { SchemaForm, same } from "../form/SchemaForm";
import { fieldsOf, problemOf, type Values } from "../form/schema";
import { Button, Icon, Segments, Tag, parseJson } from "../parts";
import type { StepProps } from "./ApprovalCard";
import { AskCard } from "./AskCard";
import { WaitingTime } from "./WaitingTime";

/** Arguments as a form made from the schema, or as JSON. Allow stays off until they are valid. */
export function EditCard({ call, named, busy, error, decide, back, deny }: StepProps) {
  const [before] = useState(() => objectOf(call.spec.arguments) ?? {});
  const [values, setValues] = useState<Values>(before);
  const [editor, setEditor] = useState<"form" | "json">("form");
  const [json, setJson] = useState(() => JSON.stringify(before, null, 2));
  const [fields] = useState(() => fieldsOf(named.tool?.input_schema ?? {}, before));
  const parsed = editor === "json" ? objectOf(json) : values;
  const names = new Set([...Object.keys(before), ...Object.keys(parsed ?? {})]);
  const changed = [...names].filter((name) => !same(before[name], parsed?.[name])).length;
  const valid = parsed !== null && fields.every((field) => !problemOf(field, parsed[field.name]));
  const show = (next: "form" | "json") => {
    if (next === "json") setJson(JSON.stringify(values, null, 2));
    else if (parsed) setValues(parsed);
    else return;
    setEditor(next);
  };
  return (
    <AskCard
      callId={call.id}
      icon="person"
      question={`Allow ${named.title}?`}
      server={named.server}
      time={<WaitingTime since={call.askedAt} />}
      first={false}
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
          <Button disabled={busy} onClick={back}>
            Discard changes
          </Button>
          <span className="grow" />
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
          value={editor}
          onChange={show}
          options={[
            { value: "form", label: "Form" },
            { value: "json", label: "JSON" },
          ]}
        />
      </div>
      {editor === "form" ? (
        <SchemaForm fields={fields} values={values} onChange={setValues} before={before} />
      ) : (
        <JsonEditor text={json} wrong={parsed === null} onChange={setJson} />
      )}
      <p className="note">
        <Icon name="info" />
        <span>The model is told which arguments you changed.</span>
      </p>
    </AskCard>
  );
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
