/** The list of chats: read once when a stream opens, then changed row by row as the server tells. */

import { useSyncExternalStore } from "react";

import { conversations, errorText, type ConversationChange, type ConversationInfo } from "../api";

interface Listed {
  items: readonly ConversationInfo[];
  /** Deleted a moment ago and still to be had back. */
  deleted: ConversationInfo | null;
  more: boolean;
  error: string;
  loaded: boolean;
}

const SOON_MS = 300;
const UNDO_MS = 10_000;
const PAGE = 100;

let listed: Listed = { items: [], deleted: null, more: false, error: "", loaded: false };
let pages = 1;
const meanwhile = new Map<string, ConversationChange>(); // what changed while the list was on its way
let loading = 0;
let asked = 0; // an answer is of no use when something newer was asked or done since
let timer: ReturnType<typeof setTimeout> | undefined;
let undoTimer: ReturnType<typeof setTimeout> | undefined;
const watchers = new Set<() => void>();

export function useListing(): Listed {
  return useSyncExternalStore(watch, () => listed);
}

export function refreshSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void refresh(), SOON_MS);
}

export function showMore(): void {
  pages += 1;
  void refresh();
}

/** A row as the server has it now. */
export function takeChange(change: ConversationChange): void {
  if (loading > 0) meanwhile.set(change.id, change);
  set({ items: withChange(listed.items, change, listed.more) });
}

/** Newest first. One that is older than all that are shown belongs to a page that is not shown yet. */
export function withChange(
  items: readonly ConversationInfo[],
  { id, conversation }: ConversationChange,
  more: boolean,
): readonly ConversationInfo[] {
  const others = items.filter((item) => item.id !== id);
  if (!conversation) return others;
  const at = others.findIndex((item) => item.updated_at < conversation.updated_at);
  if (at < 0) return more && others.length === items.length ? items : [...others, conversation];
  return others.toSpliced(at, 0, conversation);
}

/** Show a change at once; the server tells the truth in a moment. */
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

export function deleteNow(): void {
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

export async function refresh(): Promise<void> {
  clearTimeout(timer);
  const turn = ++asked;
  if (loading === 0) meanwhile.clear();
  loading += 1;
  try {
    const { items, more } = await load();
    const rows = [...meanwhile.values()].reduce((kept, change) => withChange(kept, change, more), items);
    if (turn === asked) set({ items: rows, more, error: "", loaded: true });
  } catch (problem) {
    if (turn === asked) set({ error: errorText(problem), loaded: true });
  } finally {
    loading -= 1;
  }
}

async function load(): Promise<{ items: readonly ConversationInfo[]; more: boolean }> {
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
