import { afterEach, expect, test, vi } from "vitest";

import { belowBase } from "./base";

afterEach(() => {
  document.head.innerHTML = "";
  vi.resetModules();
});

async function servedBelow(content: string) {
  document.head.innerHTML = `<meta name="windlass-base" content="${content}">`;
  vi.resetModules();
  return { api: await import("./base"), router: await import("../app/router") };
}

test("without a proxy's path every address is the server's own", async () => {
  const { api, router } = await servedBelow("/");
  expect(api.inBase("/conversations")).toBe("/conversations");
  expect(router.paths.conversation("a b")).toBe("/ui/c/a%20b");
});

test("below a proxy's path every address has it", async () => {
  const { api, router } = await servedBelow("/tools/windlass/");
  expect(api.inBase("/conversations")).toBe("/tools/windlass/conversations");
  expect(router.paths.home).toBe("/tools/windlass/ui/");
  expect(router.parse("/tools/windlass/ui/c/1", "").conversationId).toBe("1");
  expect(router.parse("/ui/c/1", "").conversationId).toBe("1");
  expect(router.parse("/tools/windlass/", "").page).toBe("new");
});

test("the path is taken off whole or not at all", () => {
  expect(belowBase("/windlass/ui/", "/windlass")).toBe("/ui/");
  expect(belowBase("/windlass", "/windlass")).toBe("/");
  expect(belowBase("/windlassen/ui/", "/windlass")).toBe("/windlassen/ui/");
  expect(belowBase("/ui/", "")).toBe("/ui/");
});
