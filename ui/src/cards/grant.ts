/** A grant as it is filled in on a card, and as it is sent. */

import type { Decision } from "../api";
import type { Values } from "../form/schema";

export interface GrantDraft {
  covers: "any" | "some" | "exactly";
  /** Arguments that must be as they are in this call, or as their pattern says. */
  bound: readonly string[];
  /** Patterns that stand instead of the value. */
  patterns: Readonly<Record<string, string>>;
  where: "always" | "conversation";
  until: "revoked" | "days";
}

const LONGEST_SHOWN = 120;

/** Arguments short and plain enough to stand in a condition, each with its text. */
export function plainArguments(given: Values): [string, string][] {
  return Object.entries(given)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([name, value]): [string, string] => [name, textOf(value)])
    .filter(([, text]) => text.length <= LONGEST_SHOWN);
}

/**
 * As narrow as it can be said in words: widening it takes a press. Where an argument cannot stand in a condition,
 * conditions on the rest would leave that one free.
 */
export function newGrant(given: Values): GrantDraft {
  const names = plainArguments(given).map(([name]) => name);
  const all = Object.keys(given).length;
  const covers = all === 0 ? "any" : names.length === all ? "some" : "exactly";
  return { covers, bound: names, patterns: {}, where: "always", until: "days" };
}

/** Conditions as patterns; a value that was not edited fits itself alone. */
export function conditionsOf(draft: GrantDraft, given: Values): Record<string, string> {
  if (draft.covers !== "some") return {};
  const bound = plainArguments(given).filter(([name]) => draft.bound.includes(name));
  return Object.fromEntries(bound.map(([name, text]) => [name, draft.patterns[name] ?? literally(text)]));
}

/** Whether it says "only when" and then names nothing, which would be sent as a grant for any arguments. */
export function bindsNothing(draft: GrantDraft, given: Values): boolean {
  return draft.covers === "some" && Object.keys(conditionsOf(draft, given)).length === 0;
}

export function coverageOf(draft: GrantDraft, given: Values): Pick<Decision, "covers" | "conditions"> {
  if (draft.covers === "exactly") return { covers: "arguments" };
  const conditions = conditionsOf(draft, given);
  return { covers: "tool", ...(Object.keys(conditions).length > 0 && { conditions }) };
}

function literally(text: string): string {
  return text.replace(/[*?[]/g, "[$&]");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
