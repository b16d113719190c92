import { useEffect, useState } from "react";

import { conversations, wordsFor, type ConversationInfo } from "../api";

export interface Search {
  text: string;
  setText: (text: string) => void;
  found: ConversationInfo[] | null;
  error: string;
  /** Down in the search box moves into the list. */
  wantsFocus: number;
  intoList: () => void;
}

const TYPING_MS = 200;

export function useSearch(): Search {
  const [text, setText] = useState("");
  const [answer, setAnswer] = useState<{ text: string; found: ConversationInfo[]; error: string } | null>(
    null,
  );
  const [wantsFocus, setWantsFocus] = useState(0);
  useEffect(() => {
    const words = text.trim();
    if (!words) return;
    let wanted = true;
    const timer = setTimeout(() => {
      void conversations
        .search(words)
        .then(({ conversations: found }) => ({ text, found, error: "" }))
        .catch((problem: unknown) => ({ text, found: [], error: wordsFor(problem) }))
        .then((next) => {
          if (wanted) setAnswer(next);
        });
    }, TYPING_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [text]);
  return {
    text: text.trim() ? text : "",
    setText,
    found: answer?.found ?? null,
    error: answer?.error ?? "",
    wantsFocus,
    intoList: () => setWantsFocus((n) => n + 1),
  };
}
