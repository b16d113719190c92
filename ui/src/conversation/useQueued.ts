import { useEffect, useState } from "react";

import { readAttached, together, writeAttached, type Attached } from "../composer/attached";
import { giveBack } from "../composer/draft";
import type { Turn } from "../state";

/** A message that waits for the turn to end. Its id is made when it is queued: two windows that send it send one message. */
export interface QueuedMessage {
  id: string;
  text: string;
  attached?: readonly Attached[] | undefined;
  /** The turn did not end in an answer: now it is sent only by hand. */
  held?: boolean;
}

interface Queue {
  messages: readonly QueuedMessage[];
  put: (text: string, attached: readonly Attached[]) => void;
  /** Take one back into the box, to be changed. */
  take: (id: string) => void;
  /** Send one that is held. */
  release: (id: string) => void;
}

interface Kept {
  messages: readonly QueuedMessage[];
  /** The turn whose end has sent or held one already; another window reads it here too. */
  after: string;
}

const NONE: Kept = { messages: [], after: "" };
const key = (conversation: string) => `windlass.next.${conversation}`;

/** Messages that wait, each a turn of its own, in their order. `last` is undefined while another is on its way. */
export function useQueued(
  conversation: string,
  last: Turn | undefined,
  deliver: (message: QueuedMessage) => Promise<void>,
): Queue {
  const [kept, setKept] = useState(() => read(conversation));
  const keep = (next: Kept) => {
    setKept(next);
    write(conversation, next);
  };
  const without = (id: string) => kept.messages.filter((one) => one.id !== id);
  useEffect(() => {
    const onChange = (event: StorageEvent) => {
      if (event.key === key(conversation)) setKept(read(conversation));
    };
    addEventListener("storage", onChange);
    return () => removeEventListener("storage", onChange);
  }, [conversation]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const step = stepAfter(kept, last);
      if (!step) return;
      keep(step.kept);
      if (step.next) void deliver(step.next);
    });
    return () => clearTimeout(timer);
  });
  return {
    messages: kept.messages,
    put: (text, attached) =>
      keep({ ...kept, messages: [...kept.messages, { id: crypto.randomUUID(), text, attached }] }),
    take: (id) => {
      const taken = kept.messages.find((one) => one.id === id);
      giveBack(conversation, taken?.text ?? "");
      writeAttached(conversation, together(taken?.attached ?? [], readAttached(conversation)));
      keep({ ...kept, messages: without(id) });
    },
    release: (id) => {
      const message = kept.messages.find((one) => one.id === id);
      if (!message) return;
      const rest = without(id).map(free);
      if (last && !last.finished) keep({ ...kept, messages: [free(message), ...rest] });
      else {
        keep({ messages: rest, after: last?.id ?? "" });
        void deliver(message);
      }
    },
  };
}

/** What the end of a turn does with the queue: one message is sent after an answer, all are held after a stop. */
export function stepAfter(
  kept: Kept,
  last: Turn | undefined,
): { kept: Kept; next: QueuedMessage | null } | null {
  const [next, ...rest] = kept.messages;
  if (!next || next.held || !last?.finished || kept.after === last.id) return null;
  const { outcome } = last.finished;
  if (outcome === "answered" || outcome === "limit")
    return { kept: { messages: rest, after: last.id }, next };
  return {
    kept: { messages: kept.messages.map((one) => ({ ...one, held: true })), after: last.id },
    next: null,
  };
}

/** No longer held. */
function free({ id, text, attached }: QueuedMessage): QueuedMessage {
  return { id, text, attached };
}

function read(conversation: string): Kept {
  const value = JSON.parse(localStorage.getItem(key(conversation)) ?? "null") as Kept | QueuedMessage | null;
  if (!value) return NONE;
  return "messages" in value ? value : { messages: [value], after: "" }; // before, there was one at most
}

function write(conversation: string, kept: Kept): void {
  if (kept.messages.length > 0) localStorage.setItem(key(conversation), JSON.stringify(kept));
  else localStorage.removeItem(key(conversation));
}
