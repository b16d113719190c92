import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";

import { servers } from "../../api";
import { useVerb } from "../../conversation/useVerb";
import { Button, Tag } from "../../parts";

export interface Field {
  name: string;
  title: string;
  description: string;
  required: boolean;
}

interface Props {
  title: string;
  server: string;
  description: string;
  fields: readonly Field[];
  /** What the server is asked to complete, or null when it completes nothing. */
  completes: { prompt: string } | { template: string } | null;
  act: string;
  onDone: (values: Record<string, string>) => unknown;
  onBack: () => void;
}

/** The arguments of a prompt or of a resource's address; required ones first. */
export function ArgumentsForm(props: Props) {
  const { title, server, description, completes, act, onDone, onBack } = props;
  const fields = [...props.fields].sort((a, b) => Number(b.required) - Number(a.required));
  const [values, setValues] = useState<Record<string, string>>({});
  const { run, busy, error } = useVerb();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const missing = fields.some((field) => field.required && !values[field.name]?.trim());
  const done = () => {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
    if (!missing && !busy)
      void run(async () => {
        await onDone(given);
      });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.preventDefault();
      onBack();
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing && isField(event.target)) {
      event.preventDefault(); // the message is not sent
      done();
    }
  };
  return (
    <div className="suggest fill" role="group" aria-label={`Arguments of ${title}`} onKeyDown={onKeyDown}>
      <p className="fill-head">
        <b className="cut">{title}</b>
        <Tag>{server}</Tag>
      </p>
      {description && <p className="dim fill-says">{description}</p>}
      {fields.map((field, index) => (
        <ArgumentField
          key={field.name}
          field={field}
          server={server}
          completes={completes}
          values={values}
          box={index === 0 ? first : null}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      {error && (
        <p className="bad" role="alert">
          {error}
        </p>
      )}
      <p className="fill-foot">
        <Button look="primary" small disabled={missing || busy} onClick={done}>
          {act}
        </Button>
        <Button look="ghost" small onClick={onBack}>
          Cancel
        </Button>
      </p>
    </div>
  );
}

interface FieldProps {
  field: Field;
  server: string;
  completes: Props["completes"];
  values: Readonly<Record<string, string>>;
  box: React.Ref<HTMLInputElement>;
  onChange: (value: string) => void;
}

const WAIT_MS = 150;

function ArgumentField({ field, server, completes, values, box, onChange }: FieldProps) {
  const id = useId();
  const [known, setKnown] = useState<readonly string[]>([]);
  const [looking, setLooking] = useState(false);
  const value = values[field.name] ?? "";
  useEffect(() => {
    if (!completes || !looking) return;
    let current = true;
    const others = Object.fromEntries(Object.entries(values).filter(([name]) => name !== field.name));
    const timer = setTimeout(() => {
      // A server that does not complete in time leaves the field as it is.
      servers
        .complete(server, { ...completes, argument: field.name, value, arguments: others })
        .then(({ values: found }) => current && setKnown(found))
        .catch(() => undefined);
    }, WAIT_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [completes, looking, server, field.name, value, values]);
  return (
    <div className="fill-field">
      <label htmlFor={id}>
        {field.title || field.name} {!field.required && <span className="dim">optional</span>}
      </label>
      <input
        id={id}
        ref={box}
        className="input"
        dir="auto"
        autoComplete="off"
        value={value}
        required={field.required}
        list={known.length > 0 ? `${id}-known` : undefined}
        aria-describedby={field.description ? `${id}-says` : undefined}
        onFocus={() => setLooking(true)}
        onBlur={() => setLooking(false)}
        onChange={(event) => onChange(event.target.value)}
      />
      {known.length > 0 && (
        <datalist id={`${id}-known`}>
          {known.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      {field.description && (
        <small className="dim" id={`${id}-says`}>
          {field.description}
        </small>
      )}
    </div>
  );
}

function isField(target: EventTarget): boolean {
  return target instanceof HTMLInputElement;
}
