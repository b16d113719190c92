/** Arguments as a person changed them before allowing the call. */

import { same } from "../form/SchemaForm";
import { fieldsOf, problemOf, type Values } from "../form/schema";
import type { Named } from "../conversation/toolbox";
import { keepsNumbers, parseJson } from "../parts";
import type { Call } from "../state";

export interface EditDraft {
  editor: "form" | "json";
  values: Values;
  json: string;
}

export interface Changes {
  before: Values;
  /** Null while the JSON cannot be read. */
  now: Values | null;
  /** The names of arguments that are other than the model wrote them. */
  names: readonly string[];
  /** Whether it can be sent; what the model wrote was checked by the server. */
  valid: boolean;
}

export function draftOf(call: Call): EditDraft {
  const values = argumentsIn(call);
  return { editor: "form", values, json: JSON.stringify(values, null, 2) };
}

export function changesIn(call: Call, named: Named, draft: EditDraft | undefined): Changes {
  const before = argumentsIn(call);
  const now = draft ? parsedOf(draft) : before;
  const known = [...new Set([...Object.keys(before), ...Object.keys(now ?? {})])];
  const names = now ? known.filter((name) => !same(before[name], now[name])) : [];
  const fields = fieldsOf(named.tool?.input_schema ?? {}, before);
  const fits = now !== null && fields.every((field) => !problemOf(field, now[field.name]));
  return { before, now, names, valid: fits || (now !== null && names.length === 0) };
}

/** Whether arguments can be edited: what was not touched must be sent as the model wrote it, to the last digit. */
export function mayEdit(call: Call): boolean {
  return keepsNumbers(call.spec.arguments);
}

/** The arguments as allowing the call would send them. */
export function sentBy(call: Call, { now, names, valid }: Changes): string {
  return valid && names.length > 0 ? JSON.stringify(now) : call.spec.arguments;
}

/** The arguments as JSON to be judged, changed or not; what cannot be read as an object counts as none. */
export function judgedBy(call: Call, { now, names }: Changes): string {
  if (now && names.length > 0) return JSON.stringify(now);
  return objectOf(call.spec.arguments) ? call.spec.arguments : "{}";
}

export function argumentsIn(call: Call): Values {
  return objectOf(call.spec.arguments) ?? {};
}

export function parsedOf({ editor, values, json }: EditDraft): Values | null {
  return editor === "json" ? objectOf(json) : values;
}

function objectOf(json: string): Values | null {
  const value = parseJson(json);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
}
