import { useState } from "react";

import { SchemaForm } from "../form/SchemaForm";
import { fieldsOf } from "../form/schema";
import { Button, Icon, Segments, Tag } from "../parts";
import { CardInside } from "./AskCard";
import { argumentsIn, changesIn, draftOf, parsedOf, type EditDraft } from "./changes";
import { StepFoot } from "./StepFoot";
import type { StepProps } from "./steps";

/** Arguments as a form made from the schema, or as JSON. What was changed is shown before it is sent. */
export function EditStep({ call, named, busy, error, drafts, keep, back }: StepProps) {
  const [before] = useState(() => argumentsIn(call));
  const [fields] = useState(() => fieldsOf(named.tool?.input_schema ?? {}, before));
  const [tried, setTried] = useState(false);
  const draft = drafts.edit ?? draftOf(call);
  const set = (more: Partial<EditDraft>) => keep({ edit: { ...draft, ...more } });
  const parsed = parsedOf(draft);
  const { names, valid } = changesIn(call, named, draft);
  const show = (editor: "form" | "json") => {
    if (editor === "json") set({ editor, json: JSON.stringify(draft.values, null, 2) });
    else if (parsed) set({ editor, values: parsed });
  };
  const done = () => {
    setTried(true);
    if (valid) back();
  };
  const discard = () => {
    keep({ edit: undefined });
    back();
  };
  return (
    <CardInside
      error={error}
      foot={
        <StepFoot busy={busy} back={back}>
          <Button look="primary" disabled={busy} onClick={done}>
            Use changes
          </Button>
          <Button disabled={busy} onClick={discard}>
            Undo changes
          </Button>
        </StepFoot>
      }
    >
      <div className="edit-head">
        <strong>Edit arguments</strong>
        {names.length > 0 && <Tag icon="write">{names.length} changed</Tag>}
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
          tried={tried}
        />
      ) : (
        <JsonEditor text={draft.json} wrong={parsed === null} onChange={(json) => set({ json })} />
      )}
      <p className="note">
        <Icon name="info" />
        <span>The model is told what you changed.</span>
      </p>
    </CardInside>
  );
}

interface JsonEditorProps {
  text: string;
  wrong: boolean;
  onChange: (text: string) => void;
}

function JsonEditor({ text, wrong, onChange }: JsonEditorProps) {
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
