import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import { personaList } from "../app/resources";
import { Refusal, serve, type Answers } from "../testing/server";
import Settings from "./Settings";

const PERSONA = {
  id: "release",
  name: "Release",
  system_prompt: "Write notes.",
  model: "",
  temperature: null,
  web_search: "auto",
  tools: ["git.*"],
  builtin: false,
};

beforeEach(() => localStorage.clear());

async function open(answers: Answers = {}) {
  const asked = serve({
    "GET /personas": { personas: [PERSONA] },
    "GET /providers": { providers: [] },
    "GET /health": { status: "ok", version: "1.2.3" },
    "GET /limits": { limits: [] },
    ...answers,
  });
  await personaList.refresh();
  render(<Settings />);
  return { asked, user: userEvent.setup() };
}

test("rules are edited in Permissions, and Settings leads there", async () => {
  await open();
  const rules = within(screen.getByRole("region", { name: "Rules" }));
  expect(rules.getByRole("link", { name: "Permissions" }).getAttribute("href")).toBe("/ui/permissions");
  expect(rules.queryByRole("textbox")).toBeNull();
});

test("a persona is changed field by field", async () => {
  const { asked, user } = await open({ "PATCH /personas/release": { persona: PERSONA } });
  await user.click(screen.getByRole("button", { name: /^Release/ }));
  await user.type(screen.getByLabelText(/^Tools/), "\nfiles.*");
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(asked.find(({ method }) => method === "PATCH")?.body).toMatchObject({
    name: "Release",
    tools: ["git.*", "files.*"],
    temperature: null,
  });
});

const LIMIT_LIST = {
  limits: [
    { name: "rounds", value: 20, default: 10, source: "file", live: true },
    { name: "at_once", value: 32, default: 32, source: "default", live: false },
    { name: "silence_s", value: 240, default: 240, source: "default", live: true },
    { name: "keep_days", value: null, default: null, source: "default", live: true },
  ],
};

test("a limit is edited in words where it is read", async () => {
  const { asked, user } = await open({ "GET /limits": LIMIT_LIST, "PATCH /limits": LIMIT_LIST });
  await user.click(await screen.findByRole("button", { name: "Stall timeout: 4\u00a0min" }));
  await user.keyboard("soon{Enter}");
  expect((await screen.findByRole("alert")).textContent).toContain("such as 4 min or 240 s");
  await user.clear(screen.getByRole("textbox", { name: "Stall timeout" }));
  await user.keyboard("90 s{Enter}");
  expect(await screen.findByText("Saved")).toBeTruthy();
  expect(asked.find(({ method }) => method === "PATCH")?.body).toEqual({ limits: { silence_s: 90 } });
});

test("limits that cannot be changed here say where they can", async () => {
  await open({ "GET /limits": LIMIT_LIST });
  expect(await screen.findByText("Set in windlass.toml; edit it there")).toBeTruthy();
  expect(screen.getByText("Read at start; set at_once in windlass.toml and restart")).toBeTruthy();
  expect(screen.queryByRole("button", { name: /^(Max rounds|Concurrent)/ })).toBeNull();
});

test("limits that cannot be loaded can be asked for again", async () => {
  await open({ "GET /limits": new Refusal(503, { code: "x", message: "The store is closed." }) });
  expect((await screen.findByText("Couldn’t load limits.")).parentElement?.textContent).toContain("closed");
});

test("the version is shown", async () => {
  await open();
  expect(await screen.findByText("1.2.3")).toBeTruthy();
});
