import { expect, test } from "vitest";

import { factsOf, sourceOf } from "./facts";

const NONE = {
  context: null,
  input_price: null,
  output_price: null,
  images: null,
  audio: null,
  tools: null,
  source: "" as const,
  from_table: [],
  as_of: "",
};

test("a model's facts are one line, and what nobody knows is left out", () => {
  const known = { ...NONE, context: 204800, input_price: 0.6, output_price: 2.2, images: false, tools: true };
  expect(factsOf(known)).toBe("204,800 tokens · $0.6 in, $2.2 out · tools");
  expect(factsOf({ ...NONE, tools: false })).toBe("no tools");
  expect(factsOf(NONE)).toBe("");
});

test("where the facts are from is said with the table's date", () => {
  expect(sourceOf({ ...NONE, source: "table", as_of: "2026-11-18" })).toContain("2026-11-18");
  expect(sourceOf({ ...NONE, source: "provider" })).toBe("From the provider");
  expect(sourceOf(NONE)).toBe("");
});
