import { afterEach, beforeEach, expect, test } from "vitest";

import {
  bytes,
  clockTime,
  counting,
  dayOf,
  duration,
  grouped,
  humanised,
  plural,
  setLocale,
  stamp,
  tokens,
  waited,
} from "./format";

const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, " ");

beforeEach(() => setLocale("en-GB"));
afterEach(() => setLocale("en-US"));

test("numbers, dates and the clock of 12 or 24 hours are the reader's own", () => {
  const now = new Date(2026, 10, 15, 9).getTime();
  const at = new Date(2026, 10, 14, 20, 5).getTime();
  const shown = () => [bytes(1_240_000), grouped(12_345), plural(1204, "row"), clockTime(at), stamp(at, now)];
  expect(shown().map(plain)).toEqual(["1.2 MB", "12,345", "1,204 rows", "20:05", "14 Nov, 20:05"]);
  setLocale("en-US");
  expect(shown().map(plain)).toEqual(["1.2 MB", "12,345", "1,204 rows", "8:05 PM", "Nov 14, 8:05 PM"]);
  setLocale("de-DE");
  expect(shown().map(plain)).toEqual(["1,2 MB", "12.345", "1.204 rows", "20:05", "14. Nov., 20:05"]);
  expect([4, 40, 3200].map((ms) => plain(duration(ms)))).toEqual(["4 ms", "0,04 s", "3,2 s"]);
});

test("a size just below the next unit is written in it", () => {
  expect(plain(bytes(999_700))).toBe("1 MB");
});

test("ended times have tenths, short ones hundredths, long ones minutes", () => {
  expect([4, 40, 3200, 41_800, 72_000].map((ms) => plain(duration(ms)))).toEqual([
    "4 ms",
    "0.04 s",
    "3.2 s",
    "41.8 s",
    "1:12",
  ]);
});

test("counting times have tenths to ten seconds, then seconds, then minutes", () => {
  expect([1340, 12_400, 72_000].map((ms) => plain(counting(ms)))).toEqual(["1.3 s", "12 s", "1:12"]);
});

test("waits are minutes, then hours, then days", () => {
  expect([24_000, 7_200_000, 259_200_000].map((ms) => plain(waited(ms)))).toEqual(["0:24", "2 h", "3 days"]);
});

test("tokens and sizes are short", () => {
  expect([96, 4200, 128_000, 1_200_000].map(tokens)).toEqual(["96", "4.2k", "128k", "1.2M"]);
  expect([63, 1200, 212_480].map((n) => plain(bytes(n)))).toEqual(["63 B", "1.2 kB", "212 kB"]);
});

test("names read as words", () => {
  expect(["read_file", "searchIssues", "web-search"].map(humanised)).toEqual([
    "Read file",
    "Search issues",
    "Web search",
  ]);
});

test("days change at midnight", () => {
  const now = new Date(2026, 10, 15, 9).getTime();
  expect(dayOf(new Date(2026, 10, 15, 0, 1).getTime(), now)).toBe("Today");
  expect(dayOf(new Date(2026, 10, 14, 23, 59).getTime(), now)).toBe("Yesterday");
  expect(dayOf(new Date(2026, 10, 13, 23, 59).getTime(), now)).toBe("Earlier");
});

test("what was said today has its hour, what was said earlier its day too", () => {
  const now = new Date(2026, 10, 15, 9).getTime();
  const times = [new Date(2026, 10, 15, 8, 5), new Date(2026, 10, 14, 8, 5), new Date(2023, 2, 1, 14, 5)];
  expect(times.map((at) => stamp(at.getTime(), now))).toEqual([
    "08:05",
    "14 Nov, 08:05",
    "1 Mar 2023, 14:05",
  ]);
});
