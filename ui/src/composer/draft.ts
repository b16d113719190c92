/** What is being written, kept on this device for each conversation. */

import { useCallback, useSyncExternalStore } from "react";

const key = (conversationId: string) => `windlass.draft.${conversationId}`;

/** What is written in this window; another one may hold other words in the same box. */
const drafts = new Map<string, string>();
const watchers = new Set<() => void>();

export function useDraft(conversationId: string): [string, (text: string) => void] {
  const text = useSyncExternalStore(watch, () => readDraft(conversationId));
  const setText = useCallback((next: string) => writeDraft(conversationId, next), [conversationId]);
  return [text, setText];
}

export function readDraft(conversationId: string): string {
  return drafts.get(conversationId) ?? localStorage.getItem(key(conversationId)) ?? "";
}

export function writeDraft(conversationId: string, text: string): void {
  drafts.set(conversationId, text);
  if (text) localStorage.setItem(key(conversationId), text);
  else localStorage.removeItem(key(conversationId));
  watchers.forEach((changed) => changed());
}

/** Words that were not sent come back before those that were written meanwhile. */
export function giveBack(conversationId: string, words: string): void {
  const since = readDraft(conversationId);
  writeDraft(conversationId, since ? `${words}\n\n${since}` : words);
}

/** Words that were sent after all go from the box; what was written after them stays. */
export function takeAway(conversationId: string, words: string): void {
  const text = readDraft(conversationId);
  if (text.startsWith(words)) writeDraft(conversationId, text.slice(words.length).trimStart());
}

/** `?q=` in the address fills the box of a new conversation, and never sends. */
export function takeQuestion(): void {
  const url = new URL(location.href);
  const words = url.searchParams.get("q");
  if (words === null) return;
  writeDraft("new", words);
  url.searchParams.delete("q");
  history.replaceState(null, "", url.pathname + url.search);
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}
