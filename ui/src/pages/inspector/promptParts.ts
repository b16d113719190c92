/** A request body as rows that can be read: who said it, how much of the context it takes, what was done to it. */

import type { Round, Turn } from "../../state";
import { dotted } from "./spans";

export type Mark = "cached" | "partly cached" | "shortened" | "untrusted" | "deleted";

export interface PromptPart {
  id: string;
  role: string;
  /** One line for the folded row. */
  summary: string;
  /** The exact text, or JSON where it is not text. */
  text: string;
  chars: number;
  tokens: number;
  marks: readonly Mark[];
  /** Rows inside: the messages of earlier turns. */
  inside: readonly PromptPart[];
}

export interface WireMessage {
  role: string;
  content: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  [field: string]: unknown;
}

interface WirePart {
  text?: string;
  image_url?: { url?: string };
  input_audio?: { data?: string };
}

export type Body = Record<string, unknown>;

const CHARS_PER_TOKEN = 4;

/**
 * Sizes are estimates from the number of characters, made to add up to what the provider counted, where it did.
 * A provider caches a prefix, so the rows are marked from the top.
 */
export function promptParts(body: Body, turn: Turn, round: Round | undefined): PromptPart[] {
  const messages = wireMessages(body);
  const systems = messages.findIndex((message) => message.role !== "system");
  const head = messages.slice(0, Math.max(0, systems));
  const start = openingIndex(messages, turn);
  const parts = [
    ...head.map((message, n) => messagePart(message, `s${n}`, turn)),
    ...toolsPart(body),
    ...historyPart(messages.slice(head.length, start), turn),
    ...messages.slice(start).map((message, n) => messagePart(message, `m${n}`, turn)),
  ];
  return withCache(scaled(parts, round?.reply.usage?.prompt ?? 0), round?.reply.usage?.cached ?? 0);
}

/** What the request says besides messages and tools. */
export function otherFields(body: Body): [string, unknown][] {
  return Object.entries(body).filter(([name]) => name !== "messages" && name !== "tools");
}

export function sumOf(parts: readonly PromptPart[]): number {
  return parts.reduce((sum, part) => sum + part.tokens, 0);
}

function wireMessages(body: Body): WireMessage[] {
  return Array.isArray(body.messages) ? (body.messages as WireMessage[]) : [];
}

/** Where this turn begins: its own first words, found from the end, since the same words may have been said before. */
function openingIndex(messages: readonly WireMessage[], turn: Turn): number {
  const words = turn.opening.find((_, n) => !turn.blanked.includes(n))?.content;
  const index = messages.findLastIndex((message) => message.role === "user" && message.content === words);
  if (index >= 0) return index;
  const asked = messages.findLastIndex((message) => message.role === "user");
  return asked >= 0 ? asked : messages.length;
}

function toolsPart(body: Body): PromptPart[] {
  const offered = Array.isArray(body.tools) ? (body.tools as { function?: { name?: string } }[]) : [];
  if (offered.length === 0) return [];
  const names = offered.map((tool) => dotted(tool.function?.name ?? "")).join(", ");
  const count = `${offered.length} ${offered.length === 1 ? "definition" : "definitions"}`;
  return [
    part("tools", "tools", `${count}: ${names}`, JSON.stringify(offered, null, 2), compactLength(offered)),
  ];
}

function historyPart(messages: readonly WireMessage[], turn: Turn): PromptPart[] {
  if (messages.length === 0) return [];
  const inside = messages.map((message, n) => messagePart(message, `h${n}`, turn));
  const turns = messages.filter(
    (message) => message.role === "user" && !Array.isArray(message.content),
  ).length;
  const summary = `${turns} earlier ${turns === 1 ? "turn" : "turns"}, ${messages.length} messages`;
  const chars = inside.reduce((sum, row) => sum + row.chars, 0);
  return [{ ...part("history", "history", summary, "", chars), inside }];
}

function messagePart(message: WireMessage, id: string, turn: Turn): PromptPart {
  const text = contentText(message.content);
  const calls = message.tool_calls ?? [];
  const written = calls.map((call) => `${call.function.name} ${call.function.arguments}`).join("\n");
  const whole = [text, written].filter(Boolean).join("\n\n");
  const made = part(id, message.role, summaryOf(message, text, calls.length, turn), whole, whole.length);
  return { ...made, marks: marksOf(message, text, turn) };
}

function summaryOf(message: WireMessage, text: string, calls: number, turn: Turn): string {
  const first = oneLine(text);
  if (message.role === "tool") {
    const call = callOf(turn, message.tool_call_id);
    const name = call ? dotted(call.spec.name) : first;
    return call?.finished && call.finished.state !== "ok" ? `${name}, ${call.finished.state}` : name;
  }
  if (calls === 0) return first;
  const count = `${calls} tool ${calls === 1 ? "call" : "calls"}`;
  return first ? `${count}. ${first}` : count;
}

function marksOf(message: WireMessage, text: string, turn: Turn): Mark[] {
  if (message.role !== "tool") return [];
  const marks: Mark[] = [];
  if (callOf(turn, message.tool_call_id)?.finished?.output.shortened) marks.push("shortened");
  if (/^(\[[^\n]*\n)?<result(-\w+)? [^>]*trust="untrusted"/.test(text)) marks.push("untrusted");
  return marks;
}

function callOf(turn: Turn, id: string | undefined) {
  return turn.rounds.flatMap((round) => round.calls).find((call) => call.id === id);
}

function part(id: string, role: string, summary: string, text: string, chars: number): PromptPart {
  const tokens = Math.ceil(chars / CHARS_PER_TOKEN);
  return { id, role, summary, text, chars, tokens, marks: [], inside: [] };
}

function scaled(parts: readonly PromptPart[], counted: number): PromptPart[] {
  const estimate = sumOf(parts);
  const factor = counted > 0 && estimate > 0 ? counted / estimate : 1;
  return parts.map((row) => ({
    ...row,
    tokens: Math.round(row.tokens * factor),
    inside: row.inside.map((inner) => ({ ...inner, tokens: Math.round(inner.tokens * factor) })),
  }));
}

function withCache(parts: readonly PromptPart[], cached: number): PromptPart[] {
  let before = 0;
  return parts.map((row) => {
    const after = before + row.tokens;
    const mark = cacheMark(before, after, cached);
    before = after;
    return mark ? { ...row, marks: [mark, ...row.marks] } : row;
  });
}

/** Estimates are a little off, so nearly all is all, and hardly any is none. */
function cacheMark(before: number, after: number, cached: number): Mark | null {
  if (cached <= 0 || after <= before) return null;
  const share = (cached - before) / (after - before);
  if (share >= 0.9) return "cached";
  return share > 0.1 ? "partly cached" : null;
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(partText).join("\n");
  return content === null || content === undefined ? "" : JSON.stringify(content, null, 2);
}

/** The server puts a note where the bytes of a picture or sound stood. */
function partText(wire: unknown): string {
  const { text, image_url: image, input_audio: sound } = wire as WirePart;
  return text ?? image?.url ?? sound?.data ?? JSON.stringify(wire, null, 2);
}

function compactLength(value: unknown): number {
  return JSON.stringify(value).length;
}

function oneLine(text: string): string {
  return text.slice(0, 200).replace(/\s+/g, " ").trim();
}
