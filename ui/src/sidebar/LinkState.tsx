import { useSyncExternalStore } from "react";

import type { Link } from "../api";

let current: Link = { state: "open" };
const watchers = new Set<() => void>();

/** Told by whoever holds the stream. */
export function noteLink(link: Link): void {
  current = link;
  watchers.forEach((changed) => changed());
}

const WORDS: Record<Link["state"], string> = {
  connecting: "Connecting",
  open: "Connected",
  lost: "Not connected",
  refused: "Signed out",
};

export function LinkState() {
  const link = useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => current,
  );
  const state = isAnswered(link) ? "open" : link.state;
  return (
    <div className="link-state">
      <span className={state === "open" ? "dot" : "dot hollow"} />
      <span className="grow">{WORDS[state]}</span>
      <span className="num">{location.host}</span>
    </div>
  );
}

/** A server that says "there is no such conversation" is there, and knows this person. */
function isAnswered(link: Link): boolean {
  return link.state === "refused" && link.status !== 401;
}
