import { useEffect, useState } from "react";

import type { Turn } from "../state";

interface Queue {
  text: string;
  put: (text: string) => void;
  /** Take it back, to be changed. */
  take: () => string;
}

const key = (id: string) => `windlass.queued.${id}`;

/** One message that waits for the turn to end. A turn that was stopped gives it back instead of sending it. */
export function useQueued(
  id: string,
  last: Turn | undefined,
  deliver: (text: string) => Promise<boolean>,
  giveBack: (text: string) => void,
): Queue {
  const [text, setText] = useState(() => localStorage.getItem(key(id)) ?? "");
  const keep = (next: string) => {
    setText(next);
    if (next) localStorage.setItem(key(id), next);
    else localStorage.removeItem(key(id));
  };
  const outcome = last?.finished?.outcome;
  useEffect(() => {
    if (!text || !outcome) return;
    const timer = setTimeout(() => {
      keep("");
      if (outcome === "answered" || outcome === "limit") void deliver(text);
      else giveBack(text);
    });
    return () => clearTimeout(timer);
  });
  return {
    text,
    put: (next) => keep(text ? `${text}\n\n${next}` : next),
    take: () => {
      keep("");
      return text;
    },
  };
}
