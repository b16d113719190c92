import { useState } from "react";

import { Fold, counting, duration, useNow } from "../parts";

interface Props {
  text: string;
  /** How long it took; null while it goes on. */
  ms: number | null;
  since?: number;
}

/** The model's private reasoning: folded, plain text, never markdown. */
export function Reasoning({ text, ms, since = 0 }: Props) {
  const [open, setOpen] = useState(false);
  const now = useNow(ms === null);
  const title = ms === null ? `Thinking, ${counting(now - since)}` : `Thought for ${duration(ms)}`;
  const first = text.trim().split("\n", 1)[0] ?? "";
  return (
    <div className="think" aria-live="off">
      <Fold icon="thought" title={title} first={first} open={open} onToggle={() => setOpen(!open)} />
      {open && (
        <p className="thought" dir="auto">
          {text.trim()}
        </p>
      )}
    </div>
  );
}
