import { act, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import type { Permission } from "../api";
import { serverList } from "../app/resources";
import { navigate, paths } from "../app/router";
import { Refusal, serve, type Answers } from "../testing/server";
import Permissions from "./Permissions";
import { summaryOf } from "./permissions/words";

const entry = (more: Partial<Permission>): Permission => ({
  id: "grant-1",
  kind: "grant",
  effect: "auto",
  server: "git",
  tool: "push",
  scope: "always",
  by: "default",
  at: "2026-11-12T14:31:00Z",
  last_used_at: null,
  source: "decision",
  covers: "tool",
  ...more,
});
const FILE = { id: "file:1", kind: "rule", effect: "deny", server: "*", tool: "*", source: "windlass.toml" };
const LIST = [
  entry({ ...FILE, line: 18, by: "", at: null, arguments: { path: "/etc/*" } } as Partial<Permission>),
  entry({}),
  entry({ id: "server:shop", kind: "server", effect: "ask", server: "shop", tool: "*", source: "server" }),
];

beforeEach(() => {
  localStorage.clear();
  navigate(paths.permissions);
});

function open(answers: Answers = {}) {
  const asked = serve({ "GET /permissions": { permissions: LIST, count: 3, left_off: 0 }, ...answers });
  render(<Permissions />);
  return { asked, user: userEvent.setup() };
}

const row = (name: RegExp) => screen.findByRole("row", { name });

test("d2 every layer that has something is listed in the order in which it is judged", async () => {
  open();
  const deny = await row(/^Deny \*\.\*/);
  expect(within(deny).getByText("windlass.toml, line 18")).toBeTruthy();
  expect(within(deny).queryByRole("button")).toBeNull();
  const titles = screen.getAllByRole("rowheader").map((one) => one.textContent);
  expect(titles.filter((text) => /^(Rules|Grants|Chats|Servers|Otherwise)/.test(text))).toEqual([
    "Rules the first match wins",
    "Grants what you allowed on a card",
    "Servers and tools set for a server",
    "Otherwise tools that read run, tools that change or send ask",
  ]);
  expect(screen.getByText("1 tool may act without asking.")).toBeTruthy();
});

test("d2 a grant is revoked by one press and is gone from the list", async () => {
  const { asked, user } = open({ "DELETE /permissions/grant-1": {} });
  await user.click(within(await row(/git\.push/)).getByRole("button", { name: "Revoke git.push" }));
  expect(await screen.findByText("Revoked. The next call asks again.")).toBeTruthy();
  expect(screen.queryByText("git.push")).toBeNull();
  expect(screen.getByText(/^Nothing is granted yet/)).toBeTruthy();
  expect(asked.at(-1)).toMatchObject({ method: "DELETE", path: "/permissions/grant-1" });
});

test("d2 a setting takes one more press, and what the server refuses is said at its line", async () => {
  const refusal = new Refusal(409, { code: "conflict", message: "Not now." });
  const { user } = open({ "DELETE /permissions/server%3Ashop": refusal });
  const shop = await row(/shop: all tools/);
  await user.click(within(shop).getByRole("button", { name: "Revoke…" }));
  await user.click(within(shop).getByRole("button", { name: "Revoke" }));
  expect((await within(shop).findByRole("alert")).textContent).toBe("Not now.");
});

test("the line that the address names is marked, also when one arrives there later", async () => {
  open();
  expect((await row(/git\.push/)).className).toBe("");
  act(() => navigate(paths.permission("grant-1")));
  expect((await row(/git\.push/)).className).toBe("hit");
  act(() => navigate(paths.permission("grant-gone")));
  expect(screen.getByText("That permission is no longer there.")).toBeTruthy();
});

test("a list that cannot be had says that calls are still checked", async () => {
  open({ "GET /permissions": new Refusal(503, { code: "internal", message: "No." }) });
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain(
    "Permissions couldn’t be loaded. Calls are still checked on the server.",
  );
});

test("the tester says what a call would do and why", async () => {
  const { asked, user } = open({
    "GET /servers": { servers: [{ id: "srv-1", slug: "git", status: "running" }] },
    "GET /servers/srv-1/tools": { tools: [{ name: "push" }, { name: "log" }] },
    "POST /permissions/test": {
      verdict: "ask",
      why: "the server's setting",
      step: 4,
      kind: "server",
      tool_class: "changes",
      enabled: true,
      permission_id: "server:git",
    },
  });
  await act(() => serverList.refresh());
  await user.click(await screen.findByRole("button", { name: /^Advanced/ }));
  const form = within(screen.getByRole("form", { name: "Why would this call ask?" }));
  await form.findByRole("option", { name: "log" });
  await user.selectOptions(form.getByLabelText("Tool"), "log");
  await user.click(form.getByRole("button", { name: "Test" }));
  expect((await form.findByRole("status")).textContent).toContain("This call asks. The server's setting.");
  expect(asked.at(-1)?.body).toMatchObject({ server: "srv-1", tool: "log", arguments: {} });
});

test.each([
  [[], /^Nothing is granted yet/],
  [[entry({})], "1 tool may act without asking."],
  [[entry({}), entry({ tool: "tag" }), entry({ tool: "push" })], "2 tools may act without asking."],
  [[entry({ tool: "*" }), entry({ tool: "push" })], "All tools of git may act without asking."],
  [
    [entry({ tool: "*" }), entry({ server: "shop" })],
    "All tools of git and 1 other tool may act without asking.",
  ],
  [[entry({ effect: "deny" })], /^Nothing is granted yet/],
])("the first sentence counts what may act unasked", (list, words) => {
  expect(summaryOf(list)).toMatch(words);
});
