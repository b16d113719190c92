import { expect, test } from "vitest";

import { expanded } from "./template";
import { replaced, triggerAt } from "./trigger";

test.each([
  ["/", 1, "/ "],
  ["/gre", 4, "/ gre"],
  ["/ledger.greet", 13, "/ ledger.greet"],
  ["//web", 5, null],
  ["/calculate expression=6*7", 25, null],
  ["/calculate expression=6*7", 4, null],
  ["see /gre", 8, null],
  ["@", 1, "@ "],
  ["look at @doc", 12, "@ doc"],
  ["mail me@home", 12, null],
  ["@doc and", 8, null],
])("%s at %d looks for %s", (text, caret, wanted) => {
  const found = triggerAt(text, caret);
  expect(found && `${found.kind} ${found.query}`).toBe(wanted);
});

test("a pick takes the place of what was typed, and no more", () => {
  const trigger = triggerAt("look at @do now", 11);
  expect(trigger && replaced("look at @do now", trigger, "@ledger.echo")).toEqual({
    text: "look at @ledger.echo now",
    caret: 20,
  });
  const first = triggerAt("@do", 3);
  expect(first && replaced("@do", first, "")).toEqual({ text: "", caret: 0 });
});

test.each([
  ["doc://{name}", { name: "a b/ü" }, "doc://a%20b%2F%C3%BC"],
  ["file:///{+path}", { path: "docs/a b.md" }, "file:///docs/a%20b.md"],
  ["x://{host}{/a,b}{?page,size*}", { host: "h", a: "1", b: "2", size: "9" }, "x://h/1/2?size=9"],
  ["x://{a:3}{#part}", { a: "abc" }, "x://abc"],
])("%s is filled in", (template, values, wanted) => {
  expect(expanded(template, values as unknown as Record<string, string>)).toBe(wanted);
});
