import { useRef, useState } from "react";

import { conversations, errorText, type ConversationInfo } from "../api";
import type { Choice } from "../composer/Controls";

interface Choosing {
  choice: Choice;
  choose: (fields: Partial<Choice>) => void;
  /** Settles when the server has all that was chosen, or has not got it. */
  kept: () => Promise<unknown>;
  error: string;
}

/**
 * The conversation's own choice, until the person makes another. Choices reach the server one after the other; when
 * one does not, those after it are not tried, and what is shown is what the server has.
 */
export function useChoice(id: string, conversation: ConversationInfo | null): Choosing {
  const [made, setMade] = useState<Partial<Choice>>({});
  const [error, setError] = useState("");
  const sure = useRef<Partial<Choice>>({});
  const keeping = useRef<Promise<unknown>>(Promise.resolve());
  const choose = (fields: Partial<Choice>) => {
    setMade((before) => ({ ...before, ...fields }));
    setError("");
    const kept = keeping.current.then(async () => {
      await conversations.change(id, fields);
      sure.current = { ...sure.current, ...fields };
    });
    keeping.current = kept;
    kept.catch((problem: unknown) => {
      if (keeping.current !== kept) return;
      keeping.current = Promise.resolve();
      setMade(sure.current);
      setError(errorText(problem));
    });
  };
  const { persona = "", provider = "", model = "" } = conversation ?? {};
  return { choice: { persona, provider, model, ...made }, choose, kept: () => keeping.current, error };
}
