import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { refreshSoon, rename, showMore, useListing, useListingUpdates } from "./listing";
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
  const { result } = renderHook(() => (useListingUpdates(), useListing()));
  await pass(0);
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

test("that nothing was found is not said of words that are still being searched for", async () => {
  const { result } = renderHook(() => useSearch());
  search = () => Response.json({ conversations: [] });
  act(() => result.current.setText("nowhere"));
  await pass(200);
  expect(result.current.found).toEqual([]);
  act(() => result.current.setText("somewhere"));
  expect(result.current.found).toBeNull();
});
