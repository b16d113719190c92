import { expect, test } from "vitest";

import { EMPTY_FORM, fieldsOf, problemsOf, spread } from "./fields";

const form = { ...EMPTY_FORM, name: "Files", command: "npx", args: "-y\nfiles\n/my docs" };

test("arguments go out one per line, spaces and all", () => {
  expect(fieldsOf(form)).toMatchObject({ command: "npx", args: ["-y", "files", "/my docs"], approval: null });
});

test("values that are kept are left alone unless new ones are written", () => {
  expect(fieldsOf(form)).not.toHaveProperty("env");
  expect(fieldsOf({ ...form, env: "KEY=a=b\nOTHER=" }).env).toEqual({ KEY: "a=b", OTHER: "" });
});

test("an address needs no command", () => {
  const remote = { ...EMPTY_FORM, name: "Docs", transport: "http" as const, url: "https://example.com/mcp" };
  expect(problemsOf(remote)).toEqual({});
  expect(fieldsOf({ ...remote, headers: "Authorization: Bearer x:y" })).toMatchObject({
    url: "https://example.com/mcp",
    headers: { Authorization: "Bearer x:y" },
  });
  expect(fieldsOf(remote)).not.toHaveProperty("command");
});

test("what is wrong is said at its field", () => {
  const wrong = { ...EMPTY_FORM, env: "no sign", timeout_s: "0", retries: "1.5", parallel: "" };
  expect(Object.keys(problemsOf(wrong))).toEqual([
    "name",
    "command",
    "env",
    "timeout_s",
    "retries",
    "parallel",
  ]);
  expect(problemsOf(form)).toEqual({});
});

test("a whole command line becomes command and arguments", () => {
  expect(spread({ ...form, command: "uvx mcp 'a b'", args: "" })).toMatchObject({
    command: "uvx",
    args: "mcp\na b",
  });
  expect(spread(form)).toBe(form);
});
