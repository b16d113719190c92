import { useSyncExternalStore } from "react";

import type { Link } from "../api";
import { useListing } from "./listing";

let current: Link | null = null;
const watchers = new Set<() => void>();

/** Told by whoever holds a stream; null when nobody does. */
export function noteLink(link: Link | null): void {
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
  const { error } = useListing(); // without a stream, the list tells whether the server is there
  const state = link === null ? (error ? "lost" : "open") : isAnswered(link) ? "open" : link.state;
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
