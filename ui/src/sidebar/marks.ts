/** The one mark of a conversation in the list: what is most urgent wins. */

import type { ConversationInfo } from "../api";

export type Mark =
  | { kind: "unknown" }
  | { kind: "waiting"; count: number; approvals: number }
  | { kind: "failed" }
  | { kind: "running" }
  | { kind: "unread" }
  | { kind: "time" };

export function markOf(conversation: ConversationInfo, unread: boolean): Mark {
  const { state, outcome, approvals, unknowns } = conversation;
  if (unknowns > 0) return { kind: "unknown" };
  const count = waitingIn(conversation);
  if (count > 0) return { kind: "waiting", count, approvals };
  if (state === "finished" && outcome === "failed") return { kind: "failed" };
  if (state === "running") return { kind: "running" };
  return { kind: unread ? "unread" : "time" };
}

/** How many things in it wait for a person. */
export function waitingIn({ state, approvals, unknowns, questions }: ConversationInfo): number {
  return Math.max(approvals + unknowns + questions, state === "awaiting_person" ? 1 : 0);
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
