import { expect, test } from "vitest";

import { copyBySelection, randomId } from "./insecure";

test("ids are version 4 UUIDs, each its own", () => {
  const ids = Array.from({ length: 100 }, randomId);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(100);
});

test("text is copied by selecting it, and nothing of it stays on the page", async () => {
  const selected: string[] = [];
  whenCopying(() => {
    selected.push(document.querySelector("textarea")?.value ?? "");
    return true;
  });
  await copyBySelection("two\nlines");
  expect(selected).toEqual(["two\nlines"]);
  expect(document.querySelector("textarea")).toBeNull();
});

test("a browser that refuses to copy is not taken at its silence", async () => {
  whenCopying(() => false);
  await expect(copyBySelection("text")).rejects.toThrow("refused");
});

function whenCopying(answer: () => boolean): void {
  Object.defineProperty(document, "execCommand", { value: answer, configurable: true });
}
