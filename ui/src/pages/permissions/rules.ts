/** The rules over calls as a person edits them. */

import type { Rule } from "../../api";

export const NEW_RULE: Rule = { approval: "ask", server: "*", tool: "*", arguments: {}, hint: "", name: "" };

export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const item = list[from];
  if (item === undefined || to < 0 || to >= list.length) return [...list];
  return list.toSpliced(from, 1).toSpliced(to, 0, item);
}

/** `force = true and path = /docs/*`, as rules are written everywhere on the page. */
export function conditionText(given: Record<string, string>): string {
  return Object.entries(given)
    .map(([name, pattern]) => `${name} = ${pattern}`)
    .join(" and ");
}

/** Null when it cannot be read. */
export function conditionsOf(text: string): Record<string, string> | null {
  const found: Record<string, string> = {};
  if (text.trim() === "") return found;
  for (const part of text.trim().split(/\s+and\s+(?=[^=]+=)/)) {
    const index = part.indexOf("=");
    const name = part.slice(0, Math.max(0, index)).trim();
    if (!name || name in found) return null;
    found[name] = part.slice(index + 1).trim();
  }
  return found;
}

/** What a server may claim of a tool, as the words after it. */
export const CLAIMS: readonly (readonly [Rule["hint"], string])[] = [
  ["", "any tool"],
  ["read_only", "that only reads"],
  ["not_read_only", "that changes data"],
  ["destructive", "that destroys"],
  ["open_world", "that contacts other systems"],
];

/** What is odd about a rule in its place; "" when nothing is. */
export function oddness(rules: readonly Rule[], index: number): string {
  const rule = rules[index];
  if (!rule) return "";
  const above = rules.findIndex((other, n) => n < index && covers(other, rule));
  return above < 0 ? "" : `Never reached: rule ${above + 1} fits everything it fits.`;
}

function covers(above: Rule, below: Rule): boolean {
  const patterns = coversPattern(above.server, below.server) && coversPattern(above.tool, below.tool);
  const conditions = Object.entries(above.arguments).every(
    ([name, pattern]) => below.arguments[name] === pattern,
  );
  return patterns && conditions && (above.hint === "" || above.hint === below.hint);
}

function coversPattern(above: string, below: string): boolean {
  if (above === "*" || above === below) return true;
  return above.endsWith("*") && !/[*?[]/.test(above.slice(0, -1)) && below.startsWith(above.slice(0, -1));
}

export function same(a: readonly Rule[], b: readonly Rule[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
