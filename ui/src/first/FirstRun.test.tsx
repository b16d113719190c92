import { act, cleanup, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";

import type { AvailableTool } from "../api";
import { tool } from "../testing/open";
import { serve, type Asked } from "../testing/server";

const THREE = "Three tools at once";
const ASKS = "A call that asks first";
const SOURCES = "An answer with sources";
const DEMO_TOOLS = ["get_time", "calculate", "list_directory", "write_note", "search_docs"];

interface House {
  demo?: boolean;
  search?: object;
  /** The tools of servers that are on by default, by server. */
  defaults?: Record<string, string[]>;
  /** Those of an existing chat. */
  available?: AvailableTool[];
}

function serveHome({
  demo = false,
  search = { prefix: true, ready: false },
  defaults = {},
  available = [],
}: House) {
  const slugs = Object.keys(defaults);
  return serve({
    "GET /providers": { providers: [{ id: "p", default: true, demo, name: "P", base_url: "", model: "m" }] },
    "GET /search": search,
    "GET /servers": {
      servers: slugs.map((id) => ({ id, slug: id, status: "running", tools: "*", tool_count: 1 })),
    },
    ...Object.fromEntries(
      slugs.map((id) => [
        `GET /servers/${id}/tools`,
        { tools: defaults[id]?.map((name) => ({ name, tokens: 1, changed: false, problem: "" })) },
      ]),
    ),
    "GET /conversations/conv-1/tools/available": {
      available_tools: available,
      count: available.length,
      unavailable: [],
    },
  });
}

/** Draws it with everything loaded anew, and waits until all of that has come. */
async function expectStarters(asked: Asked[], expected: string[], conversationId = ""): Promise<void> {
  const { FirstRun } = await import("./FirstRun");
  render(<FirstRun conversationId={conversationId} onFill={() => undefined} />);
  const last = conversationId ? `/conversations/${conversationId}/tools/available` : "/servers";
  await vi.waitFor(() =>
    expect(asked.map(({ path }) => path)).toEqual(expect.arrayContaining(["/search", last])),
  );
  await vi.waitFor(() => expect(titles()).toEqual(expected));
  await act(() => new Promise((done) => setTimeout(done)));
  expect(titles()).toEqual(expected);
}

const titles = () =>
  screen
    .queryAllByRole("heading", { level: 3 })
    .flatMap((head) => (head.closest(".starter") ? head.textContent : []));

beforeEach(() => {
  cleanup();
  vi.resetModules();
});

describe("a starter", () => {
  test("that needs a tool is not offered where there is none", async () => {
    await expectStarters(serveHome({}), []);
    expect(screen.queryByRole("heading", { name: "Try it now" })).toBeNull();
  });

  test("is offered by the tools of a new chat", async () => {
    await expectStarters(serveHome({ demo: true, defaults: { demo: DEMO_TOOLS } }), [THREE, ASKS, SOURCES]);
  });

  test("needs every tool it names", async () => {
    await expectStarters(
      serveHome({ defaults: { clock: ["get_time", "calculate"], notes: ["write_note"] } }),
      [ASKS],
    );
  });

  test("of the demo model calls a tool by its name, which two servers must not share", async () => {
    await expectStarters(serveHome({ demo: true, defaults: { demo: DEMO_TOOLS, other: ["write_note"] } }), [
      THREE,
      SOURCES,
    ]);
  });

  test("that searches the web is offered when the web can be searched", async () => {
    await expectStarters(serveHome({ search: { prefix: true, ready: true, reason: "" } }), [SOURCES]);
  });

  test.each([
    ["is off", { prefix: false, ready: true }],
    ["does not work", { prefix: true, ready: false }],
  ])("that searches the web is not offered when the search %s", async (_, search) => {
    await expectStarters(serveHome({ search, defaults: { demo: DEMO_TOOLS } }), [THREE, ASKS]);
  });

  test("in a chat follows the tools that are on there", async () => {
    const on = ["get_time", "calculate", "list_directory"].map((name) => tool("demo", name, { name }));
    const off = tool("demo", "write_note", { name: "write_note", enabled: false });
    await expectStarters(
      serveHome({ demo: true, defaults: { demo: DEMO_TOOLS }, available: [...on, off] }),
      [THREE],
      "conv-1",
    );
  });
});
