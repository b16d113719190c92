import { navigate, paths } from "../app/router";

const CARD = "[data-waits]";
const PATIENCE_MS = 10_000;

/** Open a chat at the card that waits there; at its end, as ever, where none does. */
export function land(conversationId: string): void {
  navigate(paths.conversation(conversationId));
  const look = () => {
    const card = document.querySelector<HTMLElement>(CARD);
    if (!card || !location.pathname.endsWith(encodeURIComponent(conversationId))) return false;
    card.scrollIntoView({ block: "nearest" });
    card.focus({ preventScroll: true });
    return true;
  };
  const watcher = new MutationObserver(() => look() && watcher.disconnect());
  watcher.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => watcher.disconnect(), PATIENCE_MS);
}
