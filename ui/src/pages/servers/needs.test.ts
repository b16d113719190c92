import { expect, test } from "vitest";

import type { Server, ServerTool } from "../../api";
import { sorted } from "./needs";

const server = (id: string, status: Server["status"]) => ({ id, status }) as Server;
const changed = { name: "git_commit", changed: true, hash: "44e0b7" } as ServerTool;

const SERVERS = [
  server("memory", "stopped"),
  server("tracker", "failed"),
  server("git", "running"),
  server("weather", "draft"),
];

test("drafts come first, then changed tools, then failures; the rest apart", () => {
  const { needy, others } = sorted(SERVERS, new Map([["git", [changed]]]), new Set());
  expect(needy.map(({ server: { id }, need }) => [id, need])).toEqual([
    ["weather", "draft"],
    ["git", "changed"],
    ["tracker", "failed"],
  ]);
  expect(others.map(({ id }) => id)).toEqual(["memory"]);
});

test("a change that was decided on needs nobody, until the tool changes again", () => {
  const tools = new Map([["git", [changed]]]);
  expect(sorted(SERVERS, tools, new Set(["44e0b7"])).others.map(({ id }) => id)).toContain("git");
  const again = new Map([["git", [{ ...changed, hash: "new" }]]]);
  expect(sorted(SERVERS, again, new Set(["44e0b7"])).needy.map((needy) => needy.server.id)).toContain("git");
});
