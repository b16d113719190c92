/** What changed in a tool since it was allowed, field by field. */

import type { ToolDefinition } from "../../api";
import { diffLines, diffText, type Line } from "../diff";

export interface Section {
  title: string;
  lines: readonly Line[];
}

type Definition = Omit<ToolDefinition, "hash">;

export function toolDiff(was: Definition, now: Definition): Section[] {
  const order = [...argumentsOf(was), ...argumentsOf(now)]; // as it was, new ones last: a new order is no change
  const sections: Section[] = [
    { title: "title", lines: diffText(was.title, now.title) },
    { title: "description", lines: diffText(was.description, now.description) },
    { title: "annotations", lines: diffLines(flat(was.annotations), flat(now.annotations)) },
    { title: "inputSchema.properties", lines: diffLines(properties(was, order), properties(now, order)) },
    { title: "inputSchema", lines: diffLines(rest(was), rest(now)) },
  ];
  return sections.filter((section) => section.lines.some((line) => line.kind !== "same"));
}

/** One line per argument: its name, its type, and what else is said of it. */
function properties({ input_schema: schema }: Definition, order: readonly string[]): string[] {
  const given = schema.properties;
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  if (typeof given !== "object" || given === null) return [];
  return Object.entries(given)
    .toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([name, value]) => `${name}: ${signature(value)}${required.includes(name) ? ", required" : ""}`);
}

function argumentsOf({ input_schema: { properties: given } }: Definition): string[] {
  return typeof given === "object" && given !== null ? Object.keys(given) : [];
}

function signature(schema: unknown): string {
  if (typeof schema !== "object" || schema === null) return JSON.stringify(schema);
  const { type, ...others } = schema as Record<string, unknown>;
  const head = typeof type === "string" ? type : type === undefined ? "any" : JSON.stringify(type);
  const tail = Object.entries(others).map(([name, value]) => `${name} ${plain(value)}`);
  return [head, ...tail].join(", ");
}

function rest({ input_schema: schema }: Definition): string[] {
  const others = Object.entries(schema).filter(([name]) => name !== "properties" && name !== "required");
  return flat(Object.fromEntries(others));
}

function flat(value: object): string[] {
  return Object.entries(value)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, inner]) => `${name}: ${plain(inner)}`);
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
