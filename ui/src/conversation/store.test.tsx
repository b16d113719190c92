import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { callsOf, waitingCalls, type Event } from "../state";
import { golden } from "../testing/golden";
import { CallRow } from "./CallRow";
import { OpenConversation } from "./context";
import { ConversationStore } from "./store";
import { namingFrom } from "./toolbox";

const TURN = "turn-n";
const CALL = "call_turn-n_2_0";

function waiting(openedAt = 0): ConversationStore {
  const store = new ConversationStore("conv-notes", openedAt);
  golden("approval").forEach((event) => store.put(event));
  return store;
}

function decided(store: ConversationStore, allow: boolean): Event {
  const seq = (store.state().turns.get(TURN)?.lastSeq ?? 0) + 1;
  return {
    type: "call_decided",
    turn_id: TURN,
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
    <OpenConversation value={{ store, naming: namingFrom([]) }}>
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
