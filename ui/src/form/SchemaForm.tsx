import { useId, useState, type ReactNode } from "react";

import { Icon } from "../parts";
import { ChipsInput } from "./ChipsInput";
import { BadJson, problemOf, type FieldSpec, type Values } from "./schema";

interface Props {
  fields: readonly FieldSpec[];
  values: Values;
  onChange: (values: Values) => void;
  /** The values before any change; a changed field shows what it was. */
  before?: Values;
  /** Problems the server found, by field. */
  problems?: Record<string, string>;
  /** Whether what is missing is said everywhere; else only in fields that were touched. */
  tried?: boolean;
}

const NARROW = new Set<FieldSpec["kind"]>(["number", "choice", "list"]);

/** A form made from a schema. Short fields share a line. */
export function SchemaForm({ fields, values, onChange, before, problems = {}, tried = false }: Props) {
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const ownProblem = (spec: FieldSpec) =>
    tried || touched.has(spec.name) ? problemOf(spec, values[spec.name]) : "";
  const field = (spec: FieldSpec) => (
    <Field
      key={spec.name}
      spec={spec}
      value={values[spec.name]}
      before={before}
      problem={problems[spec.name] ?? ownProblem(spec)}
      onTouch={() => setTouched(new Set(touched).add(spec.name))}
      onChange={(value) => onChange(withValue(values, spec.name, value))}
    />
  );
  return (
    <div className="form">
      {pairs(fields).map((row) => (row.length === 2 ? two(row.map(field)) : row.map(field)))}
    </div>
  );
}

function two(children: ReactNode[]): ReactNode {
  return (
    <div className="two" key={(children[0] as { key: string }).key}>
      {children}
    </div>
  );
}

function pairs(fields: readonly FieldSpec[]): FieldSpec[][] {
  const rows: FieldSpec[][] = [];
  for (const field of fields) {
    const last = rows.at(-1);
    if (last?.length === 1 && last[0] && fitsBeside(last[0], field)) last.push(field);
    else rows.push([field]);
  }
  return rows;
}

function fitsBeside(one: FieldSpec, other: FieldSpec): boolean {
  return NARROW.has(one.kind) ? NARROW.has(other.kind) || other.kind === "text" : false;
}

interface FieldProps {
  spec: FieldSpec;
  value: unknown;
  before?: Values | undefined;
  problem: string;
  onTouch: () => void;
  onChange: (value: unknown) => void;
}

function Field({ spec, value, before, problem, onTouch, onChange }: FieldProps) {
  const id = useId();
  const was = before && !same(before[spec.name], value) ? before[spec.name] : undefined;
  if (spec.kind === "boolean") return <Check id={id} spec={spec} value={value} onChange={onChange} />;
  return (
    <div className="field" onBlur={onTouch}>
      <label htmlFor={id}>
        {spec.title} {!spec.required && <span className="dim">optional</span>}
      </label>
      <Control id={id} spec={spec} value={value} problem={problem} onChange={onChange} />
      {spec.help && <span className="help">{spec.help}</span>}
      {problem && (
        <span className="wrong" id={`${id}-wrong`}>
          <Icon name="fail" />
          {problem}
        </span>
      )}
      {was !== undefined && (
        <span className="was">
          <span>was</span>
          <s>{typeof was === "string" ? was : JSON.stringify(was)}</s>
        </span>
      )}
    </div>
  );
}

function Check({ id, spec, value, onChange }: Pick<ControlProps, "id" | "spec" | "value" | "onChange">) {
  const help = spec.help ? `${id}-help` : undefined;
  return (
    <label className="check">
      <input
        className="box"
        type="checkbox"
        aria-labelledby={id}
        aria-describedby={help}
        checked={value === true}
        onChange={(e) => onChange(e.target.checked)}
      />
      <span>
        <span id={id}>{spec.title}</span>
        {help && (
          <span className="help" id={help}>
            {spec.help}
          </span>
        )}
      </span>
    </label>
  );
}

interface ControlProps extends Omit<FieldProps, "before" | "onTouch"> {
  id: string;
}

function Control({ id, spec, value, problem, onChange }: ControlProps) {
  const shared = {
    id,
    className: "input",
    "aria-invalid": problem ? true : undefined,
    "aria-describedby": problem ? `${id}-wrong` : undefined,
  };
  switch (spec.kind) {
    case "choice":
      return (
        <span className="select">
          <select {...shared} value={asText(value)} onChange={(e) => onChange(e.target.value || undefined)}>
            {!spec.required && <option value="">–</option>}
            {spec.required && value === undefined && <option value="">Choose</option>}
            {spec.choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
          <Icon name="down" />
        </span>
      );
    case "long":
      return (
        <textarea {...shared} rows={3} value={asText(value)} onChange={(e) => onChange(e.target.value)} />
      );
    case "json":
      return (
        <textarea
          {...shared}
          className="input mono"
          rows={3}
          value={
            value instanceof BadJson ? value.text : value === undefined ? "" : JSON.stringify(value, null, 2)
          }
          onChange={(e) => onChange(jsonOf(e.target.value))}
        />
      );
    case "list":
      return <ChipsInput id={id} value={Array.isArray(value) ? value.map(String) : []} onChange={onChange} />;
    case "number":
      return (
        <input
          {...shared}
          inputMode="decimal"
          value={asText(value)}
          onChange={(e) => onChange(numberOf(e.target.value))}
        />
      );
    default:
      return (
        <input
          {...shared}
          type={inputType(spec.format)}
          value={asText(value)}
          onChange={(e) => onChange(e.target.value || undefined)}
        />
      );
  }
}

function inputType(format: string): string {
  return { email: "email", uri: "url", date: "date", "date-time": "datetime-local" }[format] ?? "text";
}

function asText(value: unknown): string {
  return value === undefined || value === null
    ? ""
    : typeof value === "string"
      ? value
      : JSON.stringify(value);
}

/** A number where the text is one; else the text, which the check then refuses. */
function numberOf(text: string): unknown {
  if (text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isNaN(number) || text.endsWith(".") ? text : number;
}

function jsonOf(text: string): unknown {
  if (!text.trim()) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return new BadJson(text);
  }
}

function withValue(values: Values, name: string, value: unknown): Values {
  const next = { ...values, [name]: value };
  return Object.fromEntries(Object.entries(next).filter(([, one]) => one !== undefined));
}

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
