/** What is being written, kept on this device for each conversation. */

import { useCallback, useState } from "react";

const key = (conversationId: string) => `windlass.draft.${conversationId}`;

export function useDraft(conversationId: string): [string, (text: string) => void] {
  const [kept, setKept] = useState({ conversationId, text: read(conversationId) });
  const text = kept.conversationId === conversationId ? kept.text : read(conversationId);
  const setText = useCallback(
    (next: string) => {
      setKept({ conversationId, text: next });
      writeDraft(conversationId, next);
    },
    [conversationId],
  );
  return [text, setText];
}

export function writeDraft(conversationId: string, text: string): void {
  if (text) localStorage.setItem(key(conversationId), text);
  else localStorage.removeItem(key(conversationId));
}

function read(conversationId: string): string {
  return localStorage.getItem(key(conversationId)) ?? "";
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
