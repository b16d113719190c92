/** Resources that go with the next message, kept on this device for each conversation, as the words are. */

import { useCallback, useSyncExternalStore } from "react";

import type { AttachedResource } from "../api";

export type Attached = Pick<AttachedResource, "server" | "uri">;

const NONE: readonly Attached[] = [];
const key = (conversationId: string) => `windlass.attached.${conversationId}`;
const known = new Map<string, readonly Attached[]>();
const watchers = new Set<() => void>();

export function useAttached(
  conversationId: string,
): [readonly Attached[], (next: readonly Attached[]) => void] {
  const attached = useSyncExternalStore(watch, () => readAttached(conversationId));
  const set = useCallback(
    (next: readonly Attached[]) => writeAttached(conversationId, next),
    [conversationId],
  );
  return [attached, set];
}

export function readAttached(conversationId: string): readonly Attached[] {
  const here = known.get(conversationId);
  if (here) return here;
  const kept = JSON.parse(localStorage.getItem(key(conversationId)) ?? "null") as readonly Attached[] | null;
  known.set(conversationId, kept ?? NONE);
  return kept ?? NONE;
}

export function writeAttached(conversationId: string, attached: readonly Attached[]): void {
  known.set(conversationId, attached);
  if (attached.length > 0) localStorage.setItem(key(conversationId), JSON.stringify(attached));
  else localStorage.removeItem(key(conversationId));
  watchers.forEach((changed) => changed());
}

/** Each once: what was not sent comes back before what was attached meanwhile. */
export function together(before: readonly Attached[], since: readonly Attached[]): readonly Attached[] {
  const isNew = (one: Attached) =>
    !before.some((other) => other.uri === one.uri && other.server === one.server);
  return [...before, ...since.filter(isNew)];
}

/** The end of an address, which tells most of it. */
export function shortUri(uri: string): string {
  const end = uri.replace(/\/+$/, "").split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(end) || uri;
  } catch {
    return end || uri;
  }
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}
