import { act, fireEvent, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, test, vi } from "vitest";

import type { Permission } from "../api";
import { serverList } from "../app/resources";
import { navigate, paths } from "../app/router";
import { Refusal, serve, type Answers, type Asked } from "../testing/server";
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
  uses: { allowed: 0, asked: 0, stopped: 0 },
  ...more,
});
const FILE = { id: "file:1", kind: "rule", effect: "deny", server: "*", tool: "*", source: "windlass.toml" };
const SERVER = entry({ kind: "server", tool: "*", source: "server" });
const LIST = [
  entry({ ...FILE, line: 18, by: "", at: null, arguments: { path: "/etc/*" } } as Partial<Permission>),
  entry({}),
  entry({
    id: "server:shop",
    kind: "server",
    effect: "ask",
    server: "shop",
    tool: "*",
    source: "server",
    last_used_at: "2026-11-12T14:31:00Z",
    uses: { allowed: 0, asked: 31, stopped: 0 },
  }),
];

beforeEach(() => {
  localStorage.clear();
  const wide = { matches: false, addEventListener: () => undefined, removeEventListener: () => undefined };
  vi.stubGlobal("matchMedia", () => wide);
  navigate(paths.permissions);
});

function open(answers: Answers = {}) {
  const asked = serve({ "GET /permissions": { permissions: LIST, count: 3, left_off: 0 }, ...answers });
  render(<Permissions />);
  return { asked, user: userEvent.setup() };
}

const row = (name: RegExp) => screen.findByRole("row", { name });

const advanced = () => localStorage.setItem("windlass.permissions.advanced", "open");
/** The list without what was revoked meanwhile. */
const keeping = (revoked: Set<string>) => ({
  "GET /permissions": () => {
    const left = LIST.filter(({ id }) => !revoked.has(id));
    return { permissions: left, count: left.length, left_off: 0 };
  },
});

test("it opens with one sentence and the grants; the rest is behind Advanced, which stays open", async () => {
  const { user } = open();
  expect(await screen.findByText("1 tool may act without asking.")).toBeTruthy();
  expect(screen.getAllByRole("rowheader").map((one) => one.textContent)).toEqual(["git.push"]);
  expect(screen.queryByRole("form")).toBeNull();
  await user.click(screen.getByRole("button", { name: /^Advanced/ }));
  expect(screen.getByText("shop: all tools")).toBeTruthy();
  expect(localStorage.getItem("windlass.permissions.advanced")).toBe("open");
});

test("d2 every layer that has something is listed in the order in which it is judged", async () => {
  advanced();
  open();
  const deny = await row(/^Deny \*\.\*/);
  expect(within(deny).getByText("windlass.toml, line 18")).toBeTruthy();
  expect(within(deny).queryByRole("button")).toBeNull();
  const titles = screen.getAllByRole("rowheader").map((one) => one.textContent);
  expect(titles.filter((text) => /^\d/.test(text))).toEqual([
    "1 Rules first match wins",
    "2 Grants what you allowed on a card",
    "4 Servers and tools the default of each server",
    "5 Otherwise tools that read run, tools that change or send ask",
  ]);
  const filters = within(screen.getByRole("tablist", { name: "Show" })).getAllByRole("tab");
  expect(filters.map((one) => one.textContent)).toEqual([
    "All 3",
    "Allow 1",
    "Ask 1",
    "Deny 1",
    "Never used 2",
    "Expires soon 0",
  ]);
  expect(within(await row(/shop: all tools/)).getByText("asked 31")).toBeTruthy();
});

test("d2 a grant is revoked by one press, and the same grant is back after Undo", async () => {
  const revoked = new Set<string>();
  const { asked, user } = open({
    ...keeping(revoked),
    "DELETE /permissions/grant-1": () => (revoked.add("grant-1"), {}),
    "POST /permissions/grant-1/restore": () => (revoked.delete("grant-1"), {}),
  });
  await user.click(within(await row(/git\.push/)).getByRole("button", { name: "Revoke git.push" }));
  expect(await screen.findByText(/Revoked. The next call asks again./)).toBeTruthy();
  expect(await screen.findByText(/^Nothing is granted yet/)).toBeTruthy();
  expect(screen.queryByText("git.push")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Undo" }));
  expect(await row(/git\.push/)).toBeTruthy();
  expect(
    asked.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`),
  ).toEqual(["DELETE /permissions/grant-1", "POST /permissions/grant-1/restore"]);
});

test("grants that were never used are revoked together, and nothing else is", async () => {
  advanced();
  const revoked = new Set<string>();
  const { asked, user } = open({
    ...keeping(revoked),
    "DELETE /permissions/grant-1": () => (revoked.add("grant-1"), {}),
  });
  await user.click(await screen.findByRole("tab", { name: "Never used 2" }));
  await user.click(screen.getByRole("button", { name: "Revoke 1 unused" }));
  expect(await screen.findByText(/Revoked. The next call asks again./)).toBeTruthy();
  expect(asked.filter(({ method }) => method === "DELETE")).toHaveLength(1);
});

test("d2 a setting takes one more press, and what the server refuses is said", async () => {
  advanced();
  const refusal = new Refusal(409, { code: "conflict", message: "Not now." });
  const { user } = open({ "DELETE /permissions/server%3Ashop": refusal });
  const shop = await row(/shop: all tools/);
  await user.click(within(shop).getByRole("button", { name: "Revoke…" }));
  await user.click(within(shop).getByRole("button", { name: "Revoke" }));
  expect((await screen.findByRole("alert")).textContent).toBe("Not now.");
});

describe("a rule", () => {
  const RULES = [
    { id: "rule-a", approval: "auto", server: "files", tool: "read_*", arguments: {}, hint: "", name: "" },
    {
      id: "rule-b",
      approval: "deny",
      server: "git",
      tool: "push",
      arguments: { force: "true" },
      hint: "",
      name: "",
    },
  ];
  const GIVEN = RULES.map((rule) => ({ ...rule, then: rule.approval })); // in both spellings
  const listed = RULES.map((rule) =>
    entry({
      id: rule.id,
      kind: "rule",
      effect: rule.approval as "auto",
      server: rule.server,
      tool: rule.tool,
      source: "policy",
    }),
  );
  const replayed = {
    calls: 412,
    matched: 9,
    would_run: 0,
    would_ask: 0,
    would_deny: 0,
    stopped: 3,
    asked: 0,
    freed: 1,
    approved: 1,
    examples: [
      {
        turn_id: "turn-1",
        call_id: "call-1",
        at: "2026-11-12T14:33:00Z",
        server: "git",
        tool: "push_tag",
        arguments: '{"remote":"mirror"}',
        was: "ask",
        would: "refuse",
        decision: "allowed",
      },
    ],
  };
  const edit = async (answers: Answers = {}) => {
    advanced();
    const opened = open({
      "GET /permissions": { permissions: listed, count: 2, left_off: 0 },
      "GET /policy": { rules: GIVEN, operator_rules: [], version: "v1" },
      "PUT /policy": { rules: GIVEN },
      "POST /permissions/replay": replayed,
      ...answers,
    });
    await opened.user.click(await screen.findByRole("button", { name: "Edit git.push" }));
    const form = within(await screen.findByRole("form", { name: "Rule 2" }));
    return { ...opened, form };
  };
  const saved = (asked: readonly Asked[]) => asked.find(({ method }) => method === "PUT")?.body;

  test("is edited in its place, with what it would have done to past calls below it", async () => {
    const { asked, user, form } = await edit();
    expect(form.getByLabelText<HTMLInputElement>("When").value).toBe("force = true");
    expect(
      await form.findByText(
        "Would have stopped 3 of your last 412 calls. 1 call you approved would have run without asking.",
      ),
    ).toBeTruthy();
    expect(form.getByRole("listitem").textContent).toContain("asked, allowed");
    expect(asked.find(({ path }) => path === "/permissions/replay")?.body).toMatchObject({
      rule: { approval: "deny", server: "git", arguments: { force: "true" } },
      position: 1,
      replaces: "rule-b",
    });
    await user.click(form.getByRole("radio", { name: "Ask" }));
    await user.click(form.getByRole("button", { name: "Save rule" }));
    expect(saved(asked)).toEqual({ rules: [RULES[0], { ...RULES[1], approval: "ask" }], version: "v1" });
  });

  test("is moved and deleted, and Escape leaves it as it was", async () => {
    const { asked, user, form } = await edit();
    await user.type(form.getByLabelText("Server"), "x{Escape}");
    expect(screen.queryByRole("form", { name: "Rule 2" })).toBeNull();
    expect(saved(asked)).toBeUndefined();
    await user.click(screen.getByRole("button", { name: "Edit git.push" }));
    await user.click(await screen.findByRole("button", { name: "Move up" }));
    expect(saved(asked)).toEqual({ rules: [RULES[1], RULES[0]], version: "v1" });
  });

  test("whose condition cannot be read is not saved, and a refusal keeps the changes", async () => {
    const { user, form } = await edit({
      "PUT /policy": new Refusal(409, { code: "policy_changed", message: "The rules have changed." }),
    });
    await user.clear(form.getByLabelText("When"));
    await user.type(form.getByLabelText("When"), "path");
    expect(form.getByText(/Write it as name = pattern/)).toBeTruthy();
    expect(form.getByRole<HTMLButtonElement>("button", { name: "Save rule" }).disabled).toBe(true);
    await user.type(form.getByLabelText("When"), " = /docs/*");
    await user.click(form.getByRole("button", { name: "Save rule" }));
    expect((await form.findByRole("alert")).textContent).toContain("The rules have changed.");
    expect(form.getByLabelText<HTMLInputElement>("When").value).toBe("path = /docs/*");
  });

  test("that is new comes last", async () => {
    const { asked, user } = await edit();
    await user.click(screen.getByRole("button", { name: "Add rule" }));
    const form = within(await screen.findByRole("form", { name: "New rule" }));
    await user.type(form.getByLabelText("Tool"), "{Backspace}x");
    await user.click(form.getByRole("button", { name: "Save rule" }));
    expect(saved(asked)).toMatchObject({ rules: [RULES[0], RULES[1], { server: "*", approval: "ask" }] });
  });
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
      outside: "",
      trace: [{ layer: "server", effect: "ask", why: "set for all tools", decides: true }],
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
  fireEvent.change(form.getByLabelText("Arguments"), { target: { value: '{"id": 9007199254740993}' } });
  await user.click(form.getByRole("button", { name: "Test" }));
  expect(asked.at(-1)?.text).toContain('"arguments":{"id": 9007199254740993}');
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
  [
    [
      SERVER,
      entry({ kind: "tool", tool: "push", effect: "ask" }),
      entry({ kind: "tool", tool: "tag", effect: "deny" }),
    ],
    "All but 2 of git’s tools may act without asking.",
  ],
  [[SERVER, entry({ kind: "tool", effect: "ask" }), entry({})], "All tools of git may act without asking."],
  [
    [entry({ tool: "*" }), entry({ kind: "tool", effect: "ask" })],
    "All tools of git may act without asking.",
  ],
  [[entry({ effect: "deny" })], /^Nothing is granted yet/],
])("the first sentence counts what may act unasked", (list, words) => {
  expect(summaryOf(list)).toMatch(words);
});
