/** Whether the server can be reached. One stream tells at a time: that of the open chat, else that of the list. */

import { useSyncExternalStore } from "react";

import type { Link } from "../api";

export interface Connection {
  state: "connecting" | "open" | "lost" | "signed_out";
  /** When the connection was lost, by this clock; 0 while it is there. */
  since: number;
  /** How many streams were opened so far: what changed before the newest one must be read from the list. */
  opened: number;
}

let connection: Connection = { state: "connecting", since: 0, opened: 0 };
let chatListens = false;
const watchers = new Set<() => void>();
const waitingForBack = new Set<() => void>();

export function useConnection(): Connection {
  return useSyncExternalStore(watch, () => connection);
}

/** Whether the open chat's stream brings the changes of the list too. */
export function useChatListens(): boolean {
  return useSyncExternalStore(watch, doesChatListen);
}

export function doesChatListen(): boolean {
  return chatListens;
}

/** Told by the open chat; null when it is closed. A chat that is not there has no stream. */
export function noteChatLink(link: Link | null): void {
  chatListens = link !== null && link.state !== "refused";
  if (link) noteLink(link);
  else changed();
}

export function noteLink(link: Link): void {
  const before = connection;
  connection = connectionAfter(before, link, Date.now());
  changed();
  if (before.state === "lost" && connection.state === "open")
    waitingForBack.forEach((listener) => listener());
}

/** Called when the server is there again. */
export function onBack(listener: () => void): () => void {
  waitingForBack.add(listener);
  return () => waitingForBack.delete(listener);
}

/** A stream that only begins says nothing new; any answer but 401 shows that the server is there. */
function connectionAfter(before: Connection, link: Link, now: number): Connection {
  const { opened } = before;
  switch (link.state) {
    case "connecting":
      return before;
    case "lost":
      return before.state === "lost" ? before : { state: "lost", since: now, opened };
    case "refused":
      return { state: link.status === 401 ? "signed_out" : "open", since: 0, opened };
    case "open":
      return { state: "open", since: 0, opened: opened + 1 };
  }
}

function changed(): void {
  watchers.forEach((watcher) => watcher());
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
