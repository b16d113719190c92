import { expect, test } from "vitest";

import { limitOf, limitText } from "./limitLabels";

test.each([
  ["4 min", 240],
  ["4min", 240],
  ["240 s", 240],
  ["240", 240],
  ["1 h 30 min", 5400],
  ["1.5 h", 5400],
  ["2 minutes", 120],
])("%s is a time", (text, seconds) => {
  expect(limitOf(text, "seconds", false)).toBe(seconds);
});

test.each([
  ["10", 10],
  ["1,000", 1000],
  ["1 000 000", 1_000_000],
  ["200k", 200_000],
  ["5M", 5_000_000],
  ["none", null],
])("%s is a number of tokens", (text, count) => {
  expect(limitOf(text, "tokens", true)).toBe(count);
});

test.each(["soon", "", "-3", "4 parsecs", "min 4", "0", "4 min soon"])(
  "“%s” is no time, and says what would be",
  (text) => {
    expect(() => limitOf(text, "seconds", false)).toThrow("such as 4 min or 240 s");
  },
);

test("a limit that must be there cannot be none", () => {
  expect(() => limitOf("none", "count", false)).toThrow("needs a number");
});

test.each([
  [240, "4 min"],
  [7200, "2 h"],
  [90, "90 s"],
  [7.5, "7.5 s"],
])("%s s is written as a person does, and read back", (seconds, text) => {
  const shown = limitText(seconds, "seconds");
  expect(shown.replace("\u00a0", " ")).toBe(text);
  expect(limitOf(shown, "seconds", false)).toBe(seconds);
});
