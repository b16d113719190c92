import { useEffect, useRef, useState, type FocusEvent } from "react";

const SETTLED_MS = 250;

interface Awake {
  awake: boolean;
  onFocus: () => void;
  onBlur: (event: FocusEvent<HTMLElement>) => void;
}

/**
 * Whether the box shows its second row on a phone. Losing the focus does not fold it in the same moment: the thread
 * would move between the press and the release, and the click would land on another button.
 */
export function useAwake(): Awake {
  const [awake, setAwake] = useState(false);
  const folding = useRef<() => void>(() => undefined);
  useEffect(() => () => folding.current(), []);
  const onFocus = () => {
    folding.current();
    setAwake(true);
  };
  const onBlur = (event: FocusEvent<HTMLElement>) => {
    if (event.currentTarget.contains(event.relatedTarget)) return;
    folding.current = afterTheClick(() => setAwake(false));
  };
  return { awake, onFocus, onBlur };
}

let pressed = false;
addEventListener("pointerdown", () => (pressed = true), { capture: true, passive: true });
for (const end of ["pointerup", "pointercancel"])
  addEventListener(end, () => (pressed = false), { capture: true, passive: true });

/** Once no button is held any more and the click is over; what comes back calls it off. */
function afterTheClick(act: () => void): () => void {
  const released = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settle = () => {
    timer = setTimeout(act, SETTLED_MS);
  };
  if (pressed) addEventListener("pointerup", settle, { once: true, signal: released.signal });
  else settle();
  return () => {
    clearTimeout(timer);
    released.abort();
  };
}
