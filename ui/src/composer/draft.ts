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
