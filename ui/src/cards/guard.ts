import { useLayoutEffect, useRef } from "react";

const GUARD_MS = 400;

/**
 * Whether what is shown is too new to be decided: a click or a key in its first moments was meant for what stood there
 * before. `moment` names what is shown.
 */
export function useGuard(moment: string): () => boolean {
  const shownAt = useRef(Infinity);
  useLayoutEffect(() => {
    shownAt.current = performance.now();
  }, [moment]);
  return () => performance.now() - shownAt.current < GUARD_MS;
}
