import { useEffect, useState } from "react";

import { giveBack } from "../composer/draft";
import type { Outcome } from "../state";

interface Queue {
  text: string;
  put: (text: string) => void;
  /** Take it back into the box, to be changed. */
  take: () => void;
}

/** The id is made when the words are: two windows that send them send one message. */
interface Next {
  id: string;
  text: string;
}

const key = (conversation: string) => `windlass.next.${conversation}`;

/** One message that waits for the turn to end. A turn that was stopped gives it back instead of sending it. */
export function useQueued(
  conversation: string,
  outcome: Outcome | undefined,
  deliver: (text: string, id: string) => Promise<void>,
): Queue {
  const [next, setNext] = useState(() => read(conversation));
  const keep = (text: string) => {
    const kept = text ? { id: crypto.randomUUID(), text } : null;
    setNext(kept);
    if (kept) localStorage.setItem(key(conversation), JSON.stringify(kept));
    else localStorage.removeItem(key(conversation));
  };
  useEffect(() => {
    const onChange = (event: StorageEvent) => {
      if (event.key === key(conversation)) setNext(read(conversation));
    };
    addEventListener("storage", onChange);
    return () => removeEventListener("storage", onChange);
  }, [conversation]);
  useEffect(() => {
    if (!next || !outcome) return;
    const timer = setTimeout(() => {
      keep("");
      if (outcome === "answered" || outcome === "limit") void deliver(next.text, next.id);
      else giveBack(conversation, next.text);
    });
    return () => clearTimeout(timer);
  });
  return {
    text: next?.text ?? "",
    put: (text) => keep(next ? `${next.text}\n\n${text}` : text),
    take: () => {
      if (next) giveBack(conversation, next.text);
      keep("");
    },
  };
}

function read(conversation: string): Next | null {
  return JSON.parse(localStorage.getItem(key(conversation)) ?? "null") as Next | null;
}
