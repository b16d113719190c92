import { expect, test } from "vitest";

import { readImport } from "./importFile";

const FILES = { command: "npx", args: ["-y", "files"] };

test.each([
  ["mcpServers", JSON.stringify({ mcpServers: { files: FILES } })],
  [
    "servers, with comments",
    `{ // mine\n "servers": { "files": { "command": "npx", "args": ["-y", "files",], }, } /* end */ }`,
  ],
  ["mcp.servers", JSON.stringify({ mcp: { servers: { files: FILES } } })],
  ["the bare map", JSON.stringify({ files: FILES })],
])("reads %s", (_, text) => {
  const read = readImport(text);
  expect(read.problem).toBe("");
  expect(read.candidates).toEqual([{ name: "files", what: "npx -y files" }]);
  expect(read.servers).toEqual({ files: FILES });
});

test("reads the settings of Zed, as they are and as they were", () => {
  const old = { command: { path: "npx", args: ["-y", "old"] } };
  const read = readImport(JSON.stringify({ theme: "One", context_servers: { files: FILES, old } }));
  expect(read.candidates).toEqual([
    { name: "files", what: "npx -y files" },
    { name: "old", what: "npx -y old" },
  ]);
  expect(read.servers).toEqual({ files: FILES, old });
});

test("keeps what looks like a comment inside a string", () => {
  const read = readImport(`{"mcpServers": {"docs": {"url": "https://example.com/mcp"}}}`);
  expect(read.candidates[0]?.what).toBe("https://example.com/mcp");
});

test.each([
  ["{", "This is not JSON"],
  ["[]", "No servers are named"],
  ["{}", "No servers are named"],
  ['"x"', "No servers are named"],
])("says what is wrong with %s", (text, words) => {
  expect(readImport(text).problem).toContain(words);
});

test("nothing is no mistake", () => {
  expect(readImport("  ").problem).toBe("");
});
