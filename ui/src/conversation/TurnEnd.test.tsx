import { screen } from "@testing-library/react";
import { expect, test } from "vitest";

import type { Event } from "../state";
import { drawOpen, turnOf } from "../testing/open";
import { TurnEnd } from "./TurnEnd";

const AT = { turn_id: "turn-1", at: "2026-11-15T14:00:00Z" };

/** A turn of ten rounds at most that makes a call in each, and has no word left but its answer. */
function atTheLimit(): Event[] {
  const rounds = Array.from({ length: 10 }, (_, n): Event[] => {
    const call_id = `call-${n}`;
    const seq = 2 + n * 3;
    const calls = [{ id: call_id, name: "echo", arguments: "{}" }];
    return [
      { ...AT, type: "model_replied", seq, text: "", calls },
      { ...AT, type: "tool_started", seq: seq + 1, call_id },
      { ...AT, type: "tool_finished", seq: seq + 2, call_id, state: "ok", output: { text: "x" } },
    ];
  });
  return [
    { ...AT, type: "turn_started", seq: 0, opening: [{ role: "user", content: "Go on and on" }] },
    { ...AT, type: "turn_claimed", seq: 1, driver: "one" },
    ...rounds.flat(),
  ];
}

function draw(events: Event[]) {
  const answers = { index: 0, ids: ["turn-1"] };
  drawOpen(<TurnEnd turn={turnOf(events, "turn-1")} answers={answers} inspected={false} />);
}

test("an answer that the limit forced is no round of its own", () => {
  const answer: Event = { ...AT, type: "model_replied", seq: 32, text: "This far." };
  const end: Event = { ...AT, type: "turn_finished", seq: 33, outcome: "limit", cause: "rounds" };
  draw([...atTheLimit(), answer, end]);
  expect(screen.getByText("10 rounds")).not.toBeNull();
});

test("while that answer is written, no round beyond the last is counted", () => {
  draw([...atTheLimit(), { ...AT, type: "text_delta", attempt: 1, text: "This" }]);
  expect(screen.getByText("Round 10 of 10")).not.toBeNull();
});
