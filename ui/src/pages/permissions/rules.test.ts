import { describe, expect, test } from "vitest";

import { NEW_RULE, conditionText, conditionsOf, moved, oddness } from "./rules";

test("a rule moves and the others keep their order", () => {
  expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
  expect(moved(["a", "b", "c"], 0, 1)).toEqual(["b", "a", "c"]);
  expect(moved(["a", "b"], 0, -1)).toEqual(["a", "b"]);
  expect(moved(["a", "b"], 1, 2)).toEqual(["a", "b"]);
});

describe("conditions", () => {
  test.each([
    ["", {}],
    ["force = true", { force: "true" }],
    ["force = true and path = /docs/*", { force: "true", path: "/docs/*" }],
    ["query = salt and pepper", { query: "salt and pepper" }],
    ["expr = a=b", { expr: "a=b" }],
  ])("%s", (text, conditions) => {
    expect(conditionsOf(text)).toEqual(conditions);
    expect(conditionsOf(conditionText(conditions))).toEqual(conditions);
  });

  test.each(["force", "= x", "a = 1 and a = 2"])("%s cannot be read", (text) => {
    expect(conditionsOf(text)).toBeNull();
  });
});

describe("a rule that is never reached", () => {
  const all = { ...NEW_RULE, approval: "deny" as const };
  const git = { ...NEW_RULE, server: "git", tool: "push_*" };

  test("is told when one above fits everything it fits", () => {
    expect(oddness([all, git], 1)).toContain("rule 1");
    expect(oddness([git, { ...git, tool: "push_tag" }], 1)).toContain("rule 1");
  });

  test("is not told otherwise", () => {
    expect(oddness([git, all], 1)).toBe("");
    expect(oddness([{ ...all, arguments: { force: "true" } }, git], 1)).toBe("");
    expect(oddness([{ ...all, hint: "destructive" as const }, git], 1)).toBe("");
    expect(
      oddness(
        [
          { ...git, tool: "push_[ab]*" },
          { ...git, tool: "push_c" },
        ],
        1,
      ),
    ).toBe("");
  });
});
