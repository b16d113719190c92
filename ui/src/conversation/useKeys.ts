/** The keys of the conversation. Escape goes back one step at a time; only pressed twice does it stop the turn. */

import { useCallback, useEffect, useRef, useState } from "react";

import { inspect } from "../app/router";
import type { Turn } from "../state";

interface Props {
  path: readonly Turn[];
  running: boolean;
  stop: () => void;
}

const TWICE_WITHIN_MS = 1000;

/** Whether one more Escape stops the turn. */
export function useKeys({ path, running, stop }: Props): boolean {
  const { asked, press } = useTwice(stop);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      if (event.key === "Escape") {
        if (!event.repeat && !stepBack() && running) press();
      } else if (event.altKey && event.key === "ArrowUp") move(event, -1);
      else if (event.altKey && event.key === "ArrowDown") move(event, 1);
      else if (event.altKey && event.code === "KeyI") {
        event.preventDefault();
        inspect(focusedTurn() ?? path.at(-1)?.id ?? "");
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [path, running, press]);
  return asked && running;
}

function useTwice(act: () => void): { asked: boolean; press: () => void } {
  const [asked, setAsked] = useState(false);
  const last = useRef(-Infinity);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const press = useCallback(() => {
    const twice = performance.now() - last.current <= TWICE_WITHIN_MS;
    last.current = twice ? -Infinity : performance.now();
    clearTimeout(timer.current);
    setAsked(!twice);
    if (twice) act();
    else timer.current = setTimeout(() => setAsked(false), TWICE_WITHIN_MS);
  }, [act]);
  return { asked, press };
}

/** What Escape does before it comes to the turn; false when there is nothing to go back from. */
function stepBack(): boolean {
  if (new URLSearchParams(location.search).has("inspect")) {
    inspect("");
    return true;
  }
  const selection = getSelection();
  if (selection && !selection.isCollapsed) {
    selection.removeAllRanges();
    return true;
  }
  const focused = document.activeElement;
  if (!(focused instanceof HTMLElement) || focused === document.body) return false;
  if (focused.closest(".scroll, .dock")) return false;
  focused.blur();
  return true;
}

function focusedTurn(): string | null {
  return document.activeElement?.closest("[data-turn]")?.id ?? null;
}

function move(event: KeyboardEvent, by: number): void {
  event.preventDefault();
  const turns = [...document.querySelectorAll<HTMLElement>("[data-turn]")];
  const focused = turns.findIndex((turn) => turn.id === focusedTurn());
  const index = focused < 0 ? (by < 0 ? turns.length - 1 : 0) : focused + by;
  const next = turns[Math.max(0, Math.min(turns.length - 1, index))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "start" });
}
