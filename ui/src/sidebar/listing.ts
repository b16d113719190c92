/** The list of conversations, kept fresh: asked again after what happens here, and now and then for what does not. */

import { useEffect, useSyncExternalStore } from "react";

import { conversations, errorText, type ConversationInfo } from "../api";
import { serverList } from "../app/resources";

interface Listed {
  items: readonly ConversationInfo[];
  /** Deleted a moment ago and still to be had back. */
  deleted: ConversationInfo | null;
  more: boolean;
  error: string;
  loaded: boolean;
}

const BUSY_POLL_MS = 4000;
const IDLE_POLL_MS = 15_000;
const SOON_MS = 300;
const UNDO_MS = 10_000;
const PAGE = 100;

let listed: Listed = { items: [], deleted: null, more: false, error: "", loaded: false };
let pages = 1;
let asked = 0; // an answer is of no use when something newer was asked or done since
let timer: ReturnType<typeof setTimeout> | undefined;
let undoTimer: ReturnType<typeof setTimeout> | undefined;
const watchers = new Set<() => void>();

export function useListing(): Listed {
  return useSyncExternalStore(watch, () => listed);
}

/** Keep asking while the page is open. Once, at the root. */
export function useListingUpdates(): void {
  useEffect(() => {
    void refresh();
    addEventListener("focus", refreshSoon);
    addEventListener("pagehide", deleteNow);
    return () => {
      clearTimeout(timer);
      removeEventListener("focus", refreshSoon);
      removeEventListener("pagehide", deleteNow);
    };
  }, []);
}

export function refreshSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void refresh(), SOON_MS);
}

export function showMore(): void {
  pages += 1;
  void refresh();
}

/** Show a change at once; the next refresh brings the truth. */
export function changeListed(id: string, fields: Partial<ConversationInfo>): void {
  asked += 1;
  set({ items: listed.items.map((item) => (item.id === id ? { ...item, ...fields } : item)) });
}

export async function rename(id: string, title: string): Promise<void> {
  changeListed(id, { title });
  await conversations.change(id, { title }).catch(() => undefined);
  refreshSoon();
}

/** Gone from the list at once, from the server when the time to undo is over. */
export function deleteSoon(conversation: ConversationInfo): void {
  deleteNow();
  set({ deleted: conversation });
  undoTimer = setTimeout(deleteNow, UNDO_MS);
}

export function undoDelete(): void {
  clearTimeout(undoTimer);
  set({ deleted: null });
}

function deleteNow(): void {
  clearTimeout(undoTimer);
  const { deleted } = listed;
  if (!deleted) return;
  asked += 1;
  set({ deleted: null, items: listed.items.filter((item) => item.id !== deleted.id) });
  void conversations
    .delete(deleted.id, { keepalive: true })
    .catch(() => undefined)
    .then(refreshSoon);
}

async function refresh(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  const turn = ++asked;
  try {
    const { items, more } = await load();
    if (turn === asked) set({ items, more, error: "", loaded: true });
    await serverList.refresh();
  } catch (problem) {
    if (turn === asked) set({ error: errorText(problem), loaded: true });
  }
  const busy =
    listed.items.some((item) => item.state === "running") ||
    serverList.value?.some((server) => server.status === "starting");
  timer ??= setTimeout(() => void refresh(), busy ? BUSY_POLL_MS : IDLE_POLL_MS);
}

async function load(): Promise<{ items: ConversationInfo[]; more: boolean }> {
  const items: ConversationInfo[] = [];
  let cursor: string | null = "";
  for (let page = 0; page < pages && cursor !== null; page += 1) {
    const answer: Awaited<ReturnType<typeof conversations.list>> = await conversations.list(cursor, PAGE);
    items.push(...answer.conversations);
    cursor = answer.next_cursor;
  }
  return { items, more: cursor !== null };
}

function set(change: Partial<Listed>): void {
  listed = { ...listed, ...change };
  watchers.forEach((changed) => changed());
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}
