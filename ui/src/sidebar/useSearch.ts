import { useEffect, useState } from "react";

import { conversations, errorText, type ConversationInfo } from "../api";

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
        .catch((problem: unknown) => ({ text, found: [], error: errorText(problem) }))
        .then((next) => {
          if (wanted) setAnswer(next);
        });
    }, TYPING_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [text]);
  // While the next answer is on its way the last finds stay; that nothing was found is true of its own words only.
  const shown = answer && (answer.text === text || answer.found.length > 0) ? answer : null;
  return {
    text: text.trim() ? text : "",
    setText,
    found: shown?.found ?? null,
    error: shown?.error ?? "",
    wantsFocus,
    intoList: () => setWantsFocus((n) => n + 1),
  };
}
