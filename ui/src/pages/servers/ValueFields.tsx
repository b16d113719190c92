import type { MissingValue } from "../../api";
import { TextField } from "../Field";

export type Values = Record<string, string>;

interface Props {
  asks: readonly MissingValue[];
  values: Values;
  onChange: (values: Values) => void;
  /** Names the fields that were left empty and must not be. */
  tried: boolean;
}

/** What a draft asks for: one field each. Secrets are not shown while they are typed. */
export function ValueFields({ asks, values, onChange, tried }: Props) {
  return asks.map((ask) => (
    <TextField
      key={ask.name}
      label={ask.label || ask.name}
      optional={ask.default === ""}
      mono
      type={ask.secret ? "password" : "text"}
      autoComplete={ask.secret ? "new-password" : "off"}
      value={values[ask.name] ?? proposed(ask) ?? ""}
      onText={(text) => onChange({ ...values, [ask.name]: text })}
      problem={tried && isLacking(ask, values) ? "Required" : undefined}
      help={helpOf(ask)}
    />
  ));
}

/** Null while one of them is lacking. */
export function given(asks: readonly MissingValue[], values: Values): Values | null {
  if (asks.some((ask) => isLacking(ask, values))) return null;
  return Object.fromEntries(asks.map((ask) => [ask.name, values[ask.name] ?? proposed(ask) ?? ""]));
}

/** Nothing goes into a field that hides it before a person types it. */
function proposed(ask: MissingValue): string | null {
  return ask.secret && ask.default ? null : ask.default;
}

function isLacking(ask: MissingValue, values: Values): boolean {
  return proposed(ask) === null && !values[ask.name];
}

function helpOf(ask: MissingValue): string {
  const where = `For ${ask.where.join(", ")}.`;
  return ask.secret ? `${where} Saved, and hidden for security.` : where;
}
