/** The one mark of a conversation in the list: what is most urgent wins. */

import type { ConversationInfo } from "../api";

export type Mark =
  | { kind: "unknown" }
  | { kind: "waiting"; count: number; words: string }
  | { kind: "failed" }
  | { kind: "running" }
  | { kind: "unread" }
  | { kind: "time" };

export function markOf(conversation: ConversationInfo, unread: boolean): Mark {
  const { state, outcome, unknowns } = conversation;
  const count = waitingIn(conversation);
  if (unknowns > 0 && unknowns === count) return { kind: "unknown" };
  if (count > 0) return { kind: "waiting", count, words: needsText(conversation) };
  if (state === "finished" && outcome === "failed") return { kind: "failed" };
  if (state === "running") return { kind: "running" };
  return { kind: unread ? "unread" : "time" };
}

/** How many questions to a person are open in it, of whatever kind. */
export function waitingIn({ state, approvals, unknowns, questions, waiting }: ConversationInfo): number {
  const asks = state === "awaiting_person" || waiting?.for === "sign_in" || waiting?.for === "budget";
  return Math.max(approvals + unknowns + questions, asks ? 1 : 0);
}

/** What it needs a person for: "3 need approval, has a question". */
export function needsText({ approvals, unknowns, questions, waiting }: ConversationInfo): string {
  const needs = [
    approvals > 0 && (approvals === 1 ? "1 needs approval" : `${approvals} need approval`),
    questions > 0 && (questions === 1 ? "has a question" : `has ${questions} questions`),
    unknowns > 0 && (unknowns === 1 ? "1 outcome unknown" : `${unknowns} outcomes unknown`),
    waiting?.for === "sign_in" && "needs you to sign in",
    waiting?.for === "budget" && "stopped at your budget",
  ].filter((need) => need !== false);
  const text = needs.join(", ") || "needs attention";
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const KEY = "windlass.seen";

function seenTimes(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}

/** Answers that came while another conversation was open. Those from before this browser's first visit are read. */
export function isUnread({ id, updated_at, state }: ConversationInfo): boolean {
  const seen = seenTimes();
  const since = seen[id] ?? seen[""];
  return state === "finished" && since !== undefined && updated_at > since;
}

export function noteSeen({ id, updated_at }: ConversationInfo): void {
  const seen = seenTimes();
  localStorage.setItem(KEY, JSON.stringify({ "": new Date().toISOString(), ...seen, [id]: updated_at }));
}
