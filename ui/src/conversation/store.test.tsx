import { render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import { callsOf, waitingCalls, type Event } from "../state";
import { scene } from "../testing/scenes";
import { CallRow } from "./CallRow";
import { OpenConversation } from "./context";
import { ConversationStore } from "./store";
import { namingFrom } from "./toolbox";

const TURN = "turn-n";
const CALL = "call_turn-n_2_0";

function waiting(openedAt = 0): ConversationStore {
  const store = new ConversationStore("conv-notes", openedAt);
  scene("approval").forEach((event) => store.put(event));
  return store;
}

function decided(store: ConversationStore, allow: boolean): Event {
  const seq = (store.state().turns.get(TURN)?.lastSeq ?? 0) + 1;
  return {
    type: "call_decided",
    turn_id: TURN,
    conversation_id: "conv-notes",
    call_id: CALL,
    seq,
    at: "2026-11-15T14:31:00Z",
    allow,
    scope: "once",
  };
}

function draw(store: ConversationStore): void {
  const turn = store.state().turns.get(TURN);
  const call = turn && callsOf(turn).find((one) => one.id === CALL);
  if (!turn || !call) throw new Error("no call");
  render(
    <OpenConversation value={{ store, naming: namingFrom([]), toolsKnown: true }}>
      <CallRow call={call} turn={turn} />
    </OpenConversation>,
  );
}

test.each([
  [true, "Decided in another window: allowed once."],
  [false, "Decided in another window: denied."],
])("a word given elsewhere is told as such (%s)", (allow, words) => {
  const store = waiting();
  expect(waitingCalls(store.state().turns.get(TURN) ?? fail())[0]?.id).toBe(CALL);
  store.put(decided(store, allow));
  draw(store);
  expect(screen.getByText(words)).toBeTruthy();
});

test("a word given here is not", () => {
  const store = waiting();
  store.own(CALL);
  store.put(decided(store, true));
  draw(store);
  expect(screen.queryByText(/another window/)).toBeNull();
});

test("nor is one that was given before the page was opened", () => {
  const store = waiting(Date.parse("2026-11-15T15:00:00Z"));
  store.put(decided(store, true));
  draw(store);
  expect(screen.queryByText(/another window/)).toBeNull();
});

function fail(): never {
  throw new Error("no turn");
}

test("a long history that comes in many chunks is drawn once", async () => {
  vi.useFakeTimers();
  const at = "2026-11-15T14:00:00Z";
  const frame = (n: number) =>
    `id: ${n}\nevent: turn_started\ndata: ${JSON.stringify({ turn_id: `turn-${n}`, parent_turn_id: n ? `turn-${n - 1}` : null, seq: 0, at, opening: [] })}\n\n`;
  let pass: (chunk: string) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      pass = (chunk) => controller.enqueue(new TextEncoder().encode(chunk));
    },
  });
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(body)));
  const store = new ConversationStore("conv-long");
  const close = store.open();
  let draws = 0;
  store.onDurable(() => (draws += 1));
  for (let chunk = 0; chunk < 10; chunk += 1) {
    pass(Array.from({ length: 100 }, (_, n) => frame(chunk * 100 + n)).join(""));
    await vi.advanceTimersByTimeAsync(20);
  }
  expect(draws).toBe(0);
  await vi.advanceTimersByTimeAsync(100);
  expect(draws).toBe(1);
  expect(store.state().turns.size).toBe(1000);
  close();
});

test("words of a reply that is being written do not hold the history back", async () => {
  vi.useFakeTimers();
  const at = "2026-11-15T14:00:00Z";
  let pass: (event: string, data: object) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      pass = (event, data) =>
        controller.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
    },
  });
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(body)));
  const store = new ConversationStore("conv-live");
  const close = store.open();
  pass("turn_started", { turn_id: "turn-1", seq: 0, at, opening: [] });
  for (let n = 0; n < 20; n += 1) {
    pass("text_delta", { turn_id: "turn-1", attempt: 1, text: "word " });
    await vi.advanceTimersByTimeAsync(5);
  }
  expect(store.state().turns.get("turn-1")?.draft?.text).toContain("word");
  close();
});
