import { expect, test } from "vitest";

import { abilitiesOf } from "./grades";

const TEST = {
  ok: true,
  took_ms: 900,
  model: "glm-4.7",
  message: "Hello",
  hint: "",
  findings: [],
  missing: [],
  success: true,
};

test("before a test every question stands open", () => {
  expect(abilitiesOf(null, false).every((ability) => ability.grade === "waiting")).toBe(true);
  expect(abilitiesOf(null, true).every((ability) => ability.grade === "asking")).toBe(true);
});

test("a server that only says whether it answered gives one row", () => {
  expect(abilitiesOf(TEST, false)).toEqual([{ words: "Responds", grade: "yes", detail: "Hello" }]);
  expect(abilitiesOf({ ...TEST, ok: false }, false)[0]?.grade).toBe("failed");
});

test("repeating ids is bad, so the words turn the answer round", () => {
  const findings = [
    { question: "calls a tool", answer: "no" as const, detail: "" },
    { question: "repeats call ids", answer: "yes" as const, detail: "" },
    { question: "repeats call ids", answer: "no" as const, detail: "" },
    { question: "something new", answer: "yes" as const, detail: "x" },
  ];
  expect(abilitiesOf({ ...TEST, findings }, false)).toEqual([
    { words: "Calls one tool with the right arguments", grade: "no", detail: "" },
    { words: "Gives each call its own id", grade: "no", detail: "" },
    { words: "Gives each call its own id", grade: "yes", detail: "" },
    { words: "something new", grade: "yes", detail: "x" },
  ]);
});
