/** How a person wants to be told of what; kept on this device. */

import { useSyncExternalStore } from "react";

export const KINDS = ["needs", "finished", "failed"] as const;
export const WAYS = ["page", "desktop", "sound"] as const;
export type Kind = (typeof KINDS)[number];
export type Way = (typeof WAYS)[number];

export interface Preferences {
  /** Whether the one question was answered, and how. */
  asked: "" | "on" | "off";
  ways: Record<Kind, Record<Way, boolean>>;
}

const KEY = "windlass.notify";
const DEFAULT: Preferences = {
  asked: "",
  ways: {
    needs: { page: true, desktop: true, sound: true },
    finished: { page: true, desktop: true, sound: false },
    failed: { page: true, desktop: true, sound: false },
  },
};

let read: { text: string; value: Preferences } | null = null;
const watchers = new Set<() => void>();

export function usePreferences(): Preferences {
  return useSyncExternalStore(watch, preferences);
}

export function preferences(): Preferences {
  const text = localStorage.getItem(KEY) ?? "";
  if (read?.text !== text) read = { text, value: parsed(text) };
  return read.value;
}

export function setWay(kind: Kind, way: Way, on: boolean): void {
  const { ways, ...rest } = preferences();
  keep({ ...rest, ways: { ...ways, [kind]: { ...ways[kind], [way]: on } } });
}

export function noteAsked(asked: "on" | "off"): void {
  keep({ ...preferences(), asked });
}

/** What the browser lets this page do; "unsupported" where it shows no notifications at all. */
export function permission(): NotificationPermission | "unsupported" {
  return "Notification" in window && window.isSecureContext ? Notification.permission : "unsupported";
}

function parsed(text: string): Preferences {
  try {
    const kept = JSON.parse(text || "{}") as Partial<Preferences>;
    const ways = Object.fromEntries(
      KINDS.map((kind) => [kind, { ...DEFAULT.ways[kind], ...kept.ways?.[kind] }]),
    );
    return { asked: kept.asked ?? "", ways: ways as Preferences["ways"] };
  } catch {
    return DEFAULT;
  }
}

function keep(next: Preferences): void {
  localStorage.setItem(KEY, JSON.stringify(next));
  watchers.forEach((watcher) => watcher());
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  addEventListener("storage", watcher); // another window changed them
  return () => {
    watchers.delete(watcher);
    removeEventListener("storage", watcher);
  };
}
