/** What is worth telling between two states of the list of chats. No arguments of a call are ever in it. */

import type { ConversationInfo } from "../api";
import { counting } from "../parts";
import { needsText, waitingIn } from "../sidebar/marks";
import type { Kind } from "./preferences";

export interface News {
  /** The same event has the same key in every window. */
  key: string;
  kind: Kind;
  conversationId: string;
  title: string;
  text: string;
}

export const LONG_MS = 30_000;

/** A list that was not loaded before tells nothing: what it holds happened before anyone looked. */
export function newsBetween(
  before: readonly ConversationInfo[],
  after: readonly ConversationInfo[],
  now: number,
): News[] {
  const old = new Map(before.map((one) => [one.id, one]));
  return after.flatMap((one) => {
    const was = old.get(one.id);
    return was === one ? [] : (newsOf(was, one, now) ?? []);
  });
}

function newsOf(was: ConversationInfo | undefined, is: ConversationInfo, now: number): News | null {
  const head = is.head_turn_id ?? "";
  const about = { conversationId: is.id, title: is.title || "Untitled" };
  const needs = waitingIn(is);
  if (needs > (was?.head_turn_id === is.head_turn_id ? waitingIn(was) : 0)) {
    const call = is.waiting?.call_id ?? "";
    return { ...about, kind: "needs", key: `needs ${head} ${call || needs}`, text: `${needsText(is)}.` };
  }
  if (is.state !== "finished" || !was || (was.state === "finished" && was.head_turn_id === head)) return null;
  if (is.outcome === "failed") return { ...about, kind: "failed", key: `failed ${head}`, text: "Failed." };
  const took = now - Date.parse(is.updated_at); // the list dates a chat by the start of its newest turn
  if (took < LONG_MS || is.outcome === "stopped") return null;
  return { ...about, kind: "finished", key: `finished ${head}`, text: `Done after ${counting(took)}.` };
}
