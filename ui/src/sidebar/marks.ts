/** The one mark of a conversation in the list: what is most urgent wins. */

import type { ConversationInfo } from "../api";

export type Mark =
  | { kind: "unknown" }
  | { kind: "waiting"; count: number }
  | { kind: "failed" }
  | { kind: "running" }
  | { kind: "unread" }
  | { kind: "time" };

export function markOf(conversation: ConversationInfo, unread: boolean): Mark {
  const { state, outcome, approvals, unknowns } = conversation;
  if (unknowns > 0) return { kind: "unknown" };
  if (waitingIn(conversation) > 0) return { kind: "waiting", count: Math.max(1, approvals) };
  if (state === "finished" && outcome === "failed") return { kind: "failed" };
  if (state === "running") return { kind: "running" };
  return { kind: unread ? "unread" : "time" };
}

/** How many things in it wait for a person. A question of a tool is not counted by the list, but it waits. */
export function waitingIn({ state, approvals, unknowns }: ConversationInfo): number {
  return Math.max(approvals + unknowns, state === "awaiting_person" ? 1 : 0);
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
