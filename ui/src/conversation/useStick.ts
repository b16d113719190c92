/** Keeps the end of the thread in view while it grows, until the person scrolls up or opens something. */

import { useCallback, useEffect, useRef, useState, type RefObject } from "react";

import { hasMoved, noteMove } from "./frames";

const NEAR_PX = 24;

interface Stick {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  atEnd: boolean;
  toEnd: () => void;
  /** Stay where it is while it grows: something above is shown. */
  letGo: () => void;
}

export function useStick(): Stick {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const [atEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    stuck.current = true;
    if (!scroller.current) return;
    scroller.current.scrollTo({ top: scroller.current.scrollHeight });
    noteMove(scroller.current);
  }, []);

  const letGo = useCallback(() => {
    stuck.current = false;
  }, []);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner) return;
    let lastTop = box.scrollTop;
    const onScroll = () => {
      const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
      if (near) stuck.current = true;
      else if (box.scrollTop < lastTop - 1) stuck.current = false;
      lastTop = box.scrollTop;
      setAtEnd(near);
    };
    let frame = 0;
    const onGrow = () => {
      cancelAnimationFrame(frame);
      if (stuck.current && inner.clientHeight > 0) {
        if (hasMoved(box)) {
          frame = requestAnimationFrame(onGrow);
          return;
        }
        const before = box.scrollTop;
        box.scrollTop = box.scrollHeight;
        if (box.scrollTop !== before) noteMove(box);
      }
      onScroll();
    };
    // What is opened or folded by hand must not run away from under the pointer.
    const onToggle = (event: Event) => {
      if (event.target instanceof Element && event.target.closest("[aria-expanded]")) stuck.current = false;
    };
    // A card that does not fit is read from its head, not from its foot.
    const onFocus = (event: FocusEvent) => {
      const card =
        event.target instanceof Element && event.target.matches("[data-waits]") ? event.target : null;
      if (!card || card.clientHeight < box.clientHeight) return;
      stuck.current = false;
      card.scrollIntoView({ block: "start" });
      noteMove(box);
    };
    const watcher = new ResizeObserver(onGrow);
    watcher.observe(inner);
    watcher.observe(box);
    if (box.lastElementChild) watcher.observe(box.lastElementChild); // the composer, which grows with what is typed
    box.addEventListener("scroll", onScroll, { passive: true });
    inner.addEventListener("click", onToggle, { capture: true });
    inner.addEventListener("focusin", onFocus);
    return () => {
      watcher.disconnect();
      cancelAnimationFrame(frame);
      box.removeEventListener("scroll", onScroll);
      inner.removeEventListener("click", onToggle, { capture: true });
      inner.removeEventListener("focusin", onFocus);
    };
  }, []);

  return { scroller, content, atEnd, toEnd, letGo };
}
