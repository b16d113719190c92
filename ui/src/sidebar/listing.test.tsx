import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { ConversationInfo } from "../api";
import { refresh, refreshSoon, rename, showMore, takeChange, useListing, withChange } from "./listing";
import { useSearch } from "./useSearch";

type Reply = () => Response | Promise<Response>;

let list: Reply;
let search: Reply;

beforeEach(() => {
  vi.useFakeTimers();
  list = () => titled("Old");
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    if (path.startsWith("/conversations/search")) return Promise.resolve(search());
    if (init.method !== "GET" || path === "/servers") return Promise.resolve(Response.json({ servers: [] }));
    return Promise.resolve(list());
  });
});

afterEach(() => vi.useRealTimers());

function titled(title: string): Response {
  return Response.json({ conversations: [{ id: "c1", title, state: "finished" }], next_cursor: null });
}

const row = (id: string, title: string, hour: number) =>
  ({ id, title, state: "finished", updated_at: `2026-11-18T0${hour}:00:00Z` }) as ConversationInfo;

/** An answer that comes when it is told to. */
function held(): { answer: () => Promise<Response>; give: (response: Response) => Promise<void> } {
  let resolve: (response: Response) => void = () => undefined;
  const promise = new Promise<Response>((done) => (resolve = done));
  return {
    answer: () => promise,
    give: (response) =>
      act(async () => {
        resolve(response);
        await vi.advanceTimersByTimeAsync(0);
      }),
  };
}

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

async function opened() {
  const { result } = renderHook(() => useListing());
  await act(refresh);
  return () => result.current.items.map((item) => item.title);
}

test("a list that was asked for before a rename does not bring back the old name", async () => {
  const titles = await opened();
  const { answer, give } = held();
  list = answer;
  showMore();
  list = () => titled("New");
  await act(() => rename("c1", "New"));
  await give(titled("Old"));
  expect(titles()).toEqual(["New"]);
});

test("what happens while the list is under way has it asked for again soon after", async () => {
  const titles = await opened();
  const { answer, give } = held();
  list = answer;
  showMore();
  refreshSoon();
  await give(titled("Old"));
  list = () => titled("New");
  await pass(300);
  expect(titles()).toEqual(["New"]);
});

test("a row that changes while the list is under way is not put back by it", async () => {
  const titles = await opened();
  const { answer, give } = held();
  list = answer;
  showMore();
  act(() => takeChange({ id: "c1", conversation: row("c1", "New", 1) }));
  await give(titled("Old"));
  expect(titles()).toEqual(["New"]);
  act(() => takeChange({ id: "c1", conversation: null }));
  expect(titles()).toEqual([]);
});

test("a changed row stands where its time puts it, unless that is on a page that is not shown", () => {
  const items = [row("a", "A", 5), row("b", "B", 3)];
  const ids = (change: ConversationInfo, more = false) =>
    withChange(items, { id: change.id, conversation: change }, more).map((item) => item.id);
  expect(ids(row("b", "B", 6))).toEqual(["b", "a"]);
  expect(ids(row("c", "C", 4))).toEqual(["a", "c", "b"]);
  expect(ids(row("c", "C", 1))).toEqual(["a", "b", "c"]);
  expect(ids(row("c", "C", 1), true)).toEqual(["a", "b"]);
  expect(ids(row("b", "B", 1), true)).toEqual(["a", "b"]);
});

test("that nothing was found is not said of words that are still being searched for", async () => {
  const { result } = renderHook(() => useSearch());
  search = () => Response.json({ conversations: [] });
  act(() => result.current.setText("nowhere"));
  await pass(200);
  expect(result.current.found).toEqual([]);
  act(() => result.current.setText("somewhere"));
  expect(result.current.found).toBeNull();
});
