/** The keys of the conversation. Escape closes what is on top first; only then does it stop the turn. */

import { useEffect } from "react";

import { inspect } from "../app/router";
import type { Turn } from "../state";
import type { ConversationStore } from "./store";

interface Props {
  store: ConversationStore;
  path: readonly Turn[];
  stop: () => void;
}

export function useKeys({ path, stop }: Props): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      if (event.key === "Escape") onEscape(stop);
      else if (event.altKey && event.key === "ArrowUp") move(event, -1);
      else if (event.altKey && event.key === "ArrowDown") move(event, 1);
      else if (event.altKey && event.code === "KeyI") {
        event.preventDefault();
        inspect(focusedTurn() ?? path.at(-1)?.id ?? "");
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [path, stop]);
}

function onEscape(stop: () => void): void {
  if (new URLSearchParams(location.search).has("inspect")) inspect("");
  else stop();
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
