/** What was mended in a reply: in words, as it was written, and as it was used. */

import type { Round, ToolCall } from "../../state";
import { dotted } from "./spans";

export interface Repair {
  id: string;
  words: string;
  raw: string;
  used: string;
}

export function repairsIn(round: Round): Repair[] {
  const { reply } = round;
  const inCalls = (reply.calls ?? []).flatMap((call) =>
    (call.repairs ?? []).map((words) => callRepair(call, words)),
  );
  const shown = new Set(inCalls.map((repair) => repair.words));
  const inReply = (reply.repairs ?? []).map(sentence).filter((words) => !shown.has(words));
  return [...inReply.map((words) => ({ id: words, words, raw: "", used: "" })), ...inCalls];
}

/** `raw` cut at the pieces that were mended, so that they can be marked. */
export function pieces(raw: string, marked: readonly string[]): { text: string; mended: boolean }[] {
  const first = marked
    .filter(Boolean)
    .map((part) => ({ part, at: raw.indexOf(part) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)[0];
  if (!first) return raw ? [{ text: raw, mended: false }] : [];
  const end = first.at + first.part.length;
  const before = raw.slice(0, first.at);
  return [
    ...(before ? [{ text: before, mended: false }] : []),
    { text: first.part, mended: true },
    ...pieces(raw.slice(end), marked),
  ];
}

export function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function callRepair(call: ToolCall, words: string): Repair {
  const used = call.broken ? `not run: ${call.broken}` : `${dotted(call.name)} ${call.arguments}`;
  return { id: `${call.id} ${words}`, words: sentence(words), raw: call.raw ?? "", used };
}
