import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import { personaList } from "../app/resources";
import { Refusal, serve, type Answers } from "../testing/server";
import Settings from "./Settings";

const RULES = [
  { approval: "auto", server: "files", tool: "read_*", arguments: {}, hint: "", name: "" },
  { approval: "deny", server: "git", tool: "push", arguments: { force: "true" }, hint: "", name: "" },
];
const GIVEN = RULES.map((rule) => ({ ...rule, then: rule.approval })); // in both spellings
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
    "GET /policy": { rules: GIVEN, operator_rules: [] },
    "PUT /policy": { rules: GIVEN },
    "GET /personas": { personas: [PERSONA] },
    "GET /providers": { providers: [] },
    "GET /health": { status: "ok", version: "1.2.3" },
    "GET /sessions": { sessions: [] },
    "GET /tokens": { tokens: [] },
    ...answers,
  });
  await personaList.refresh();
  render(<Settings />);
  await screen.findByLabelText("Server of rule 1");
  return { asked, user: userEvent.setup() };
}

const value = (label: string) => screen.getByLabelText<HTMLInputElement>(label).value;

test("rules are read in order and saved in the order they were put", async () => {
  const { asked, user } = await open();
  expect(value("Conditions of rule 2")).toBe("force = true");
  expect(screen.queryByRole("button", { name: "Save rules" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Move rule 2 up" }));
  expect(value("Server of rule 1")).toBe("git");
  await user.click(screen.getByRole("button", { name: "Save rules" }));
  expect(asked.find(({ method }) => method === "PUT")?.body).toEqual({ rules: [RULES[1], RULES[0]] });
});

test("a rule whose verdict is changed is sent in one spelling, as two that differ are refused", async () => {
  const { asked, user } = await open();
  const verdicts = within(screen.getByRole("radiogroup", { name: "Verdict of rule 1" }));
  await user.click(verdicts.getByRole("radio", { name: "Ask" }));
  await user.click(screen.getByRole("button", { name: "Save rules" }));
  const sent = [{ ...RULES[0], approval: "ask" }, RULES[1]];
  expect(asked.find(({ method }) => method === "PUT")?.body).toEqual({ rules: sent });
});

test("a condition that cannot be read is said at its rule and not saved", async () => {
  const { user } = await open();
  await user.type(screen.getByLabelText("Conditions of rule 1"), "path");
  expect(screen.getByText(/Write it as name = pattern/)).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Save rules" }).disabled).toBe(true);
  await user.type(screen.getByLabelText("Conditions of rule 1"), " = /docs/*");
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Save rules" }).disabled).toBe(false);
});

test("what the server refuses is shown, and the changes are kept", async () => {
  const { user } = await open({
    "PUT /policy": new Refusal(422, { code: "bad_input", message: "Too many rules." }),
  });
  await user.click(screen.getByRole("button", { name: "Remove rule 1" }));
  await user.click(screen.getByRole("button", { name: "Save rules" }));
  expect((await screen.findByRole("alert")).textContent).toContain("Too many rules.");
  expect(value("Server of rule 1")).toBe("git");
});

test("the operator's rules come first, keep their numbers and cannot be changed", async () => {
  serve({
    "GET /policy": { rules: [RULES[0]], operator_rules: [RULES[1]] },
    "GET /personas": { personas: [] },
    "GET /health": { status: "ok", version: "1" },
  });
  render(<Settings />);
  expect(await screen.findByLabelText("Server of rule 2")).toBeTruthy();
  expect(screen.getByText("git.push where force = true → deny")).toBeTruthy();
  expect(screen.queryByLabelText("Server of rule 1")).toBeNull();
});

test("the theme is kept on this device and shown at once", async () => {
  const { user } = await open();
  await user.click(screen.getByRole("radio", { name: "Dark" }));
  expect(document.documentElement.dataset.theme).toBe("dark");
  expect(localStorage.getItem("windlass.theme")).toBe("dark");
  await user.click(screen.getByRole("radio", { name: "System" }));
  expect(document.documentElement.dataset.theme).toBeUndefined();
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

test("limits are the defaults until the server says what is in force", async () => {
  await open();
  expect(screen.getByText(/These are the defaults/)).toBeTruthy();
});

test("limits in force say who set them", async () => {
  await open({ "GET /limits": { limits: [{ name: "rounds", value: 20, default: 10, source: "file" }] } });
  expect(await screen.findByRole("row", { name: /rounds 20 windlass\.toml/ })).toBeTruthy();
});

test("the version is shown", async () => {
  await open();
  expect(await screen.findByText("1.2.3")).toBeTruthy();
});
