import { useEffect } from "react";

import { useListing } from "../sidebar/listing";
import { waitingIn } from "../sidebar/marks";
import { navigate, paths, useRoute } from "./router";

/** Keys that work on every page: search, and the next thing that waits. */
export function useAppKeys(openSidebar: () => void): void {
  const { items } = useListing();
  const { conversationId } = useRoute();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.code === "KeyK") {
        event.preventDefault();
        openSidebar();
        dispatchEvent(new Event("windlass:search"));
        requestAnimationFrame(() => dispatchEvent(new Event("windlass:search"))); // a drawer is there only now
      } else if (event.altKey && event.code === "KeyW") {
        event.preventDefault();
        if (nextCard()) return;
        const others = items.filter((item) => item.id !== conversationId && waitingIn(item) > 0);
        if (others[0]) navigate(paths.conversation(others[0].id));
        else firstCard()?.focus();
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [items, conversationId, openSidebar]);
}

function cards(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-waits]")];
}

function firstCard(): HTMLElement | undefined {
  return cards()[0];
}

/** Focus the card after the focused one; false when there is none. */
function nextCard(): boolean {
  const all = cards();
  const here = all.findIndex((card) => card.contains(document.activeElement));
  const next = all[here + 1];
  next?.scrollIntoView({ block: "start" });
  next?.focus({ preventScroll: true });
  return next !== undefined;
}
