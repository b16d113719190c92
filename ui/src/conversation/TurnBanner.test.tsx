import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";

import { Refusal, serve } from "../testing/server";
import type { Event } from "../state";
import { OpenConversation } from "./context";
import { ConversationStore } from "./store";
import { namingFrom } from "./toolbox";
import { TurnBanner } from "./TurnBanner";

const at = "2026-01-02T03:04:05Z";
const EVENTS = [
  { type: "turn_started", turn_id: "t1", seq: 0, at, opening: [{ role: "user", content: "Hello" }] },
  { type: "turn_claimed", turn_id: "t1", seq: 1, at, driver: "d", epoch: 1 },
  { type: "model_failed", turn_id: "t1", seq: 2, at, cause: "busy", message: "Busy", wait_s: 60 },
] as unknown as Event[];

const FAILED = "The web search failed. SearXNG cannot be reached. Do not make up results: say so.";

test.each([
  ["due", "error", "The web search failed. SearXNG cannot be reached."],
  ["offered", "error", "The web search failed. SearXNG cannot be reached."],
  ["off", "none", "Web search is off, so no search was made."],
  ["due", "ok", ""],
])("an answer whose search (%s) ended as %s says so", (search, state, words) => {
  const call = { id: "c1", name: "web_search", arguments: "{}" };
  const calls: object[] = [
    { type: "model_replied", turn_id: "t1", seq: 2, at, text: "", calls: [call] },
    { type: "tool_started", turn_id: "t1", seq: 3, at, call_id: "c1" },
    { type: "tool_finished", turn_id: "t1", seq: 4, at, call_id: "c1", state, output: { text: FAILED } },
  ];
  const events = [
    { ...EVENTS[0], settings: { search, query: "weather" } },
    EVENTS[1],
    ...(state === "none" ? [] : calls),
    { type: "model_replied", turn_id: "t1", seq: 5, at, text: "I could not search." },
    { type: "turn_finished", turn_id: "t1", seq: 6, at, outcome: "answered" },
  ] as unknown as Event[];
  const store = new ConversationStore("conv-1");
  events.forEach((event) => store.put(event));
  const turn = store.state().turns.get("t1");
  if (!turn) throw new Error("no turn");
  render(<TurnBanner turn={turn} />);
  expect(screen.queryByRole("status")?.textContent ?? "").toBe(words);
});

test("a stop between two tries that did not get through is not shown as under way", async () => {
  const asked = serve({ "POST /turns/t1/stop": new Refusal(503, { code: "busy", message: "Not now." }) });
  const store = new ConversationStore("conv-1");
  EVENTS.forEach((event) => store.put(event));
  const stopping = () => store.state().turns.get("t1")?.stopping;
  const turn = store.state().turns.get("t1");
  if (!turn) throw new Error("no turn");
  render(
    <OpenConversation value={{ store, naming: namingFrom([]), toolsKnown: true }}>
      <TurnBanner turn={turn} />
    </OpenConversation>,
  );
  fireEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(stopping()).toBe(true);
  await waitFor(() => expect(stopping()).toBe(false));
  expect(asked).toHaveLength(1);
});

test("a model that gave up is not retried: another is asked, and its attempts are counted anew", () => {
  const settings = { provider: "zai", fallback: [["other", "m2"]] };
  const refused = { cause: "auth", message: "The key was refused.", retryable: false, model: "glm-4.7" };
  const busy = { cause: "busy", message: "Busy.", retryable: true, wait_s: 0, model: "m2" };
  const store = new ConversationStore("conv-1");
  const put = (...events: object[]) =>
    events.forEach((event) => store.put({ turn_id: "t1", at, ...event } as unknown as Event));
  const draw = () => {
    const turn = store.state().turns.get("t1");
    if (!turn) throw new Error("no turn");
    cleanup();
    render(
      <OpenConversation value={{ store, naming: namingFrom([]), toolsKnown: true }}>
        <TurnBanner turn={turn} />
      </OpenConversation>,
    );
  };
  put({ type: "turn_started", seq: 0, opening: [], settings }, { type: "model_failed", seq: 1, ...refused });
  draw();
  expect(screen.getByText(/Asking another model instead/)).not.toBeNull();
  put({ type: "model_failed", seq: 2, ...busy });
  draw();
  expect(screen.getByText(/Retrying \(1 of 3\)/)).not.toBeNull();
});
