/** The part of JSON Schema that a form can draw, and a check of values against it. The server checks the rest. */

import type { JsonSchema } from "../state";

export interface FieldSpec {
  name: string;
  title: string;
  help: string;
  required: boolean;
  kind: "text" | "long" | "number" | "boolean" | "choice" | "list" | "json";
  choices: readonly string[];
  format: string;
  schema: JsonSchema;
  fallback: unknown;
}

export type Values = Record<string, unknown>;

const LONG_TEXT = 60;

/** The fields of an object schema, in its order. `values` helps to guess how much room a text needs. */
export function fieldsOf(schema: JsonSchema, values: Values = {}): FieldSpec[] {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
  const extra = Object.keys(values).filter((name) => !(name in properties));
  return [...Object.entries(properties), ...extra.map((name): [string, JsonSchema] => [name, {}])].map(
    ([name, property]) => ({
      name,
      title: text(property.title) || name,
      help: text(property.description),
      required: required.has(name),
      kind: kindOf(property, values[name]),
      choices: choicesOf(property),
      format: text(property.format),
      schema: property,
      fallback: property.default,
    }),
  );
}

/** A box that is not ticked is an answer too: where one is required, it stands for `false`. */
export function defaultsOf(fields: readonly FieldSpec[]): Values {
  const given = fields.map(({ name, kind, required, fallback }): [string, unknown] => [
    name,
    fallback ?? (kind === "boolean" && required ? false : undefined),
  ]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** What is wrong with a value, or "" when nothing is. */
export function problemOf(field: FieldSpec, value: unknown): string {
  if (value === undefined || value === "")
    return field.required && field.kind !== "boolean" ? "Required" : "";
  if (
    field.choices.length > 0 &&
    field.kind === "choice" &&
    !field.choices.some((choice) => choice === value)
  )
    return `Must be ${orList(field.choices)}`;
  if (typeof value === "string") return textProblem(field, value);
  if (typeof value === "number") return numberProblem(field, value);
  if (field.kind === "json" && value instanceof BadJson) return "Not valid JSON";
  return "";
}

/** Stands for text in a JSON field that cannot be read. */
export class BadJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function textProblem(field: FieldSpec, value: string): string {
  const { schema } = field;
  if (field.kind === "number")
    return schema.type === "integer" ? "Must be a whole number" : "Must be a number";
  if (typeof schema.minLength === "number" && value.length < schema.minLength)
    return `At least ${schema.minLength} characters`;
  if (typeof schema.maxLength === "number" && value.length > schema.maxLength)
    return `At most ${schema.maxLength} characters`;
  if (field.format === "email" && !/^\S+@\S+$/.test(value)) return "Enter an email address";
  if ((field.format === "uri" || field.format === "url") && !/^\w+:\S+$/.test(value))
    return "Enter an address";
  return "";
}

function numberProblem({ schema }: FieldSpec, value: number): string {
  if (schema.type === "integer" && !Number.isInteger(value)) return "Must be a whole number";
  if (typeof schema.minimum === "number" && value < schema.minimum) return `At least ${schema.minimum}`;
  if (typeof schema.maximum === "number" && value > schema.maximum) return `At most ${schema.maximum}`;
  return "";
}

function kindOf(schema: JsonSchema, value: unknown): FieldSpec["kind"] {
  if (choicesOf(schema).length > 0) return "choice";
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]) as unknown[];
  const named = types.find((one) => typeof one === "string" && one !== "null");
  const guess = named ?? (value === undefined ? "string" : typeof value);
  if (guess === "string") return isLong(schema, value) ? "long" : "text";
  if (guess === "number" || guess === "integer") return "number";
  if (guess === "boolean") return "boolean";
  if (guess === "array" && isTextItem(schema.items)) return "list";
  return "json";
}

function isLong(schema: JsonSchema, value: unknown): boolean {
  const given = typeof value === "string" ? value : "";
  const room = typeof schema.maxLength === "number" ? schema.maxLength : 0;
  return given.length > LONG_TEXT || given.includes("\n") || room > 500;
}

function isTextItem(items: unknown): boolean {
  return typeof items === "object" && items !== null && (items as JsonSchema).type === "string";
}

function choicesOf(schema: JsonSchema): string[] {
  if (Array.isArray(schema.enum)) return schema.enum.filter((one) => one !== null).map(String);
  if (Array.isArray(schema.oneOf)) {
    const consts = schema.oneOf.map((one) => (one as JsonSchema).const);
    return consts.every((one) => typeof one === "string") ? consts : [];
  }
  return [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
