/** What was told, newest first: one list for all windows of this browser, so that each thing is told once. */

import { useSyncExternalStore } from "react";

import { base } from "../api";
import type { News } from "./news";

export interface Told extends News {
  at: number;
  read: boolean;
  /** Told otherwise than in the page: kept only so that no window tells it again. */
  hidden: boolean;
}

const KEY = `windlass.notifications${base}`;
const MOST = 50;

let read: { text: string; value: readonly Told[] } | null = null;
const watchers = new Set<() => void>();

export function useTold(): readonly Told[] {
  return useSyncExternalStore(watch, told);
}

export function told(): readonly Told[] {
  const text = localStorage.getItem(KEY) ?? "[]";
  if (read?.text !== text) read = { text, value: parsed(text) };
  return read.value;
}

export function unread(list: readonly Told[]): number {
  return list.filter((one) => !one.read && !one.hidden).length;
}

/** True for the one window that is to tell it. */
export async function claim(
  news: News,
  how: { read: boolean; hidden: boolean },
  at: number,
): Promise<boolean> {
  return locked(() => {
    const list = told();
    if (list.some((one) => one.key === news.key)) return false;
    keep([{ ...news, ...how, at }, ...list].slice(0, MOST));
    return true;
  });
}

export function markRead(key: string): void {
  keep(told().map((one) => (one.key === key ? { ...one, read: true } : one)));
}

export function markAllRead(): void {
  keep(told().map((one) => ({ ...one, read: true })));
}

/** Of what is looked at now nothing is news any more. */
export function markSeen(conversationId: string): void {
  const list = told();
  if (list.some((one) => one.conversationId === conversationId && !one.read))
    keep(list.map((one) => (one.conversationId === conversationId ? { ...one, read: true } : one)));
}

/** Without locks, which only secure pages have, two windows may in a rare moment both tell. */
async function locked(work: () => boolean): Promise<boolean> {
  const locks = navigator.locks as LockManager | undefined;
  return locks ? locks.request(KEY, work) : work();
}

function parsed(text: string): readonly Told[] {
  try {
    return JSON.parse(text) as Told[];
  } catch {
    return [];
  }
}

function keep(list: readonly Told[]): void {
  localStorage.setItem(KEY, JSON.stringify(list));
  watchers.forEach((watcher) => watcher());
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  addEventListener("storage", watcher);
  return () => {
    watchers.delete(watcher);
    removeEventListener("storage", watcher);
  };
}
