import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import type { Provider } from "../api";
import { providerList } from "../app/resources";
import { Refusal, serve, type Answers } from "../testing/server";
import Models from "./Models";

const ZAI: Provider = {
  id: "zai",
  name: "Z.AI",
  base_url: "https://api.z.ai/api/coding/paas/v4",
  model: "glm-4.7",
  temperature: null,
  has_key: true,
  default: true,
  demo: false,
  from_config: false,
  fallback: [],
};
const DEMO = { ...ZAI, id: "demo", name: "Demo", demo: true, has_key: false };

const TEST = {
  ok: true,
  took_ms: 900,
  model: "glm-4.7",
  message: "one",
  hint: "",
  findings: [
    { question: "answers", answer: "yes", detail: "" },
    { question: "calls a tool", answer: "no", detail: "wrote it as text" },
  ],
};

async function open(list: Provider[], answers: Answers = {}) {
  const asked = serve({
    "GET /providers": { providers: list },
    "GET /local-models": { servers: [] },
    ...answers,
  });
  await providerList.refresh();
  render(<Models />);
  return { asked, user: userEvent.setup() };
}

test("a kept key is never shown, and stays when the field is left empty", async () => {
  const { asked, user } = await open([ZAI], { "PATCH /providers/zai": { provider: ZAI } });
  expect(screen.getByText("Saved. Hidden for security.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Edit" }));
  const key = screen.getByLabelText<HTMLInputElement>(/^Key/);
  expect([key.value, key.type]).toEqual(["", "password"]);
  await user.click(screen.getByRole("button", { name: "Save" }));
  const change = asked.find(({ method }) => method === "PATCH");
  expect(change?.body).not.toHaveProperty("api_key");
});

test("a test shows what the model does and does not do, in words", async () => {
  const { user } = await open([ZAI], { "POST /providers/zai/test": TEST });
  await user.click(screen.getByRole("button", { name: "Test" }));
  const table = within(await screen.findByRole("table"));
  const rows = table.getAllByRole("row").slice(1);
  expect(rows.map((row) => row.textContent)).toEqual([
    "RespondsYes",
    "Calls one tool with the right argumentsNowrote it as text",
  ]);
});

test("a model that does not answer says why and what to do", async () => {
  const { user } = await open([ZAI], {
    "POST /providers/zai/test": {
      ...TEST,
      ok: false,
      findings: [],
      message: "401",
      hint: "Is the key right?",
    },
  });
  await user.click(screen.getByRole("button", { name: "Test" }));
  expect((await screen.findByRole("alert")).textContent).toContain("Is the key right?");
});

test("in demo mode a model is connected in two steps, and the test follows by itself", async () => {
  const { asked, user } = await open([DEMO], {
    "POST /providers": { provider: ZAI },
    "POST /providers/zai/test": TEST,
    "PATCH /providers/zai": { provider: ZAI },
  });
  expect(screen.getByText("No model yet.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Enter key" }));
  await user.click(screen.getByRole("button", { name: "Save and test" }));
  expect(screen.getByText("Enter the key.")).toBeTruthy();
  await user.type(screen.getByLabelText(/^Key/), "secret");
  await user.click(screen.getByRole("button", { name: "Save and test" }));
  expect(await screen.findByText("Z.AI is connected.")).toBeTruthy();
  const posts = asked.filter(({ method }) => method === "POST");
  expect(posts.map(({ path }) => path)).toEqual(["/providers", "/providers/zai/test"]);
  expect(posts[0]?.body).toMatchObject({ api_key: "secret", default: false });
  expect(asked.findLast(({ method }) => method === "PATCH")?.body).toEqual({ default: true });
});

test("a local server that answers can be added as it is", async () => {
  const { user } = await open([ZAI], {
    "GET /local-models": {
      servers: [{ name: "Ollama", base_url: "http://127.0.0.1:11434/v1", models: ["qwen3:8b"] }],
    },
  });
  await user.click(await screen.findByRole("button", { name: "Add" }));
  expect(screen.getByLabelText<HTMLInputElement>(/^Address/).value).toBe("http://127.0.0.1:11434/v1");
});

test("deleting the key asks once more", async () => {
  const { asked, user } = await open([ZAI], { "PATCH /providers/zai": { provider: ZAI } });
  await user.click(screen.getByRole("button", { name: "Delete key…" }));
  expect(asked.some(({ method }) => method === "PATCH")).toBe(false);
  await user.click(screen.getByRole("button", { name: "Delete" }));
  expect(asked.find(({ method }) => method === "PATCH")?.body).toEqual({ api_key: "" });
});

test("a list that cannot be read says so and can be asked for again", async () => {
  await open([], { "GET /providers": new Refusal(503, { code: "x", message: "The store is closed." }) });
  expect((await screen.findByRole("alert")).textContent).toContain("The store is closed.");
});

test("a model that fails its first test is not made the default", async () => {
  const { asked, user } = await open([DEMO], {
    "POST /providers": { provider: { ...ZAI, default: false } },
    "POST /providers/zai/test": {
      ...TEST,
      ok: false,
      findings: [],
      message: "api.z.ai rejected the API key.",
    },
  });
  await user.click(screen.getByRole("button", { name: "Enter key" }));
  await user.type(screen.getByLabelText(/^Key/), "wrong");
  await user.click(screen.getByRole("button", { name: "Save and test" }));
  const alert = await screen.findByText("New chats don’t use Z.AI yet.");
  expect(alert.parentElement?.textContent).toContain("api.z.ai rejected the API key.");
  expect(asked.some(({ method }) => method === "PATCH")).toBe(false);
});

test("a provider without a model cannot be made the default", async () => {
  const { user } = await open([ZAI, { ...ZAI, id: "two", name: "Two", model: "", default: false }]);
  const two = within(screen.getByRole("region", { name: "Two" }));
  const choose = two.getByRole<HTMLButtonElement>("button", { name: "Choose a model first" });
  expect(choose.disabled).toBe(true);
  await user.click(two.getByRole("button", { name: "Edit" }));
  expect(two.getByRole<HTMLInputElement>("checkbox").disabled).toBe(true);
  expect(two.getByText("Choose a model first")).toBeTruthy();
});

test("a rejected key is named on the row, with the way to a new one", async () => {
  const error = { code: "auth", message: "api.z.ai rejected the API key.", hint: "Check the key." };
  const { user } = await open([ZAI], { "GET /providers/zai/models": { models: [], error } });
  expect(await screen.findByText("api.z.ai rejected the API key.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Update key" }));
  expect(document.activeElement).toBe(screen.getByLabelText(/^Key/));
});

test("the temperature is edited where it is read", async () => {
  const { asked, user } = await open([ZAI], { "PATCH /providers/zai": { provider: ZAI } });
  await user.click(screen.getByRole("button", { name: "Temperature: provider’s own" }));
  await user.keyboard("9{Enter}");
  expect((await screen.findByRole("alert")).textContent).toContain("0 to 2");
  expect(asked.some(({ method }) => method === "PATCH")).toBe(false);
  await user.keyboard("{Backspace}0.4{Enter}");
  expect(await screen.findByText("Saved")).toBeTruthy();
  expect(asked.find(({ method }) => method === "PATCH")?.body).toEqual({ temperature: 0.4 });
});
