import { act, cleanup, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { searchState } from "../app/resources";
import type { Event } from "../state";
import { drawOpen, turnOf } from "../testing/open";
import { serve } from "../testing/server";
import { TurnEnd } from "./TurnEnd";
import { TurnView } from "./TurnView";

const AT = { turn_id: "turn-1", conversation_id: "conv-1", at: "2026-11-15T14:00:00Z" };

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
    {
      ...AT,
      type: "turn_started",
      parent_turn_id: null,
      seq: 0,
      opening: [{ role: "user", content: "Go on and on" }],
    },
    { ...AT, type: "turn_claimed", seq: 1, driver: "one" },
    ...rounds.flat(),
  ];
}

const HELLO: Event[] = [
  {
    ...AT,
    type: "turn_started",
    parent_turn_id: null,
    seq: 0,
    opening: [{ role: "user", content: "Hello" }],
  },
  { ...AT, type: "turn_claimed", seq: 1, driver: "one" },
];

function answeredBy(provider: string): Event[] {
  const [begun, ...rest] = HELLO as [Event, ...Event[]];
  const settings = { provider: "zai", model: "glm-4.7" };
  return [
    { ...begun, settings } as Event,
    ...rest,
    { ...AT, type: "model_replied", seq: 2, text: "Hi.", provider, model: "m2" },
    { ...AT, type: "turn_finished", seq: 3, outcome: "answered" },
  ];
}

function draw(events: Event[]) {
  const answers = { index: 0, ids: ["turn-1"] };
  drawOpen(<TurnEnd turn={turnOf(events, "turn-1")} answers={answers} inspected={false} />);
}

test("the search of an answer is offered, or says that no search runs", async () => {
  serve({ "GET /search": { backend: "auto", prefix: false, ready: true, reason: "" } });
  draw(answeredBy("zai"));
  await act(() => searchState.refresh());
  expect(screen.getByRole("button", { name: "Search the web for this" })).toHaveProperty("disabled", false);
  serve({
    "GET /search": { backend: "off", prefix: true, ready: false, reason: "It is off in windlass.toml." },
  });
  await act(() => searchState.refresh());
  const off = screen.getByRole("button", { name: "No search runs. It is off in windlass.toml." });
  expect(off).toHaveProperty("disabled", true);
});

test("an answer of a fallback says whose it is", () => {
  draw(answeredBy("other"));
  expect(screen.getByText("Answered by other/m2")).not.toBeNull();
  cleanup();
  draw(answeredBy("zai"));
  expect(screen.queryByText(/Answered by/)).toBeNull();
});

test("an answer that the limit forced is no round of its own", () => {
  const answer: Event = { ...AT, type: "model_replied", seq: 32, text: "This far." };
  const end: Event = { ...AT, type: "turn_finished", seq: 33, outcome: "limit", cause: "rounds" };
  draw([...atTheLimit(), answer, end]);
  expect(screen.getByText("10 rounds")).not.toBeNull();
});

test("a turn counts the rounds that are numbered beside it, whatever was allowed in them", () => {
  const calls = [{ id: "call-1", name: "echo", arguments: "{}" }];
  const denied: Event[] = [
    { ...AT, type: "model_replied", seq: 2, text: "", calls },
    { ...AT, type: "tool_finished", seq: 3, call_id: "call-1", state: "denied", output: { text: "no" } },
  ];
  const end: Event[] = [
    { ...AT, type: "model_replied", seq: 4, text: "Then not." },
    { ...AT, type: "turn_finished", seq: 5, outcome: "answered" },
  ];
  const turn = turnOf([...HELLO, ...denied, ...end], "turn-1");
  drawOpen(
    <TurnView turn={turn} answers="0,turn-1" wordings="0,turn-1" inspected={false} inspectedRound={0} />,
  );
  const groups = screen.getAllByRole("group").map((group) => group.getAttribute("aria-label"));
  expect(groups.filter((name) => name === "Answer" || name?.startsWith("Round"))).toEqual([
    "Round 1",
    "Answer",
  ]);
  expect(screen.getByText("1 round")).not.toBeNull();
});

test("the footer comes with the end; until then one line says what is waited for, and none while words come", () => {
  const view = (events: Event[]) => (
    <TurnView turn={turnOf(events, "turn-1")} answers="0" wordings="0" inspected={false} inspectedRound={0} />
  );
  drawOpen(view(HELLO));
  expect(screen.getByText("Waiting for the model")).not.toBeNull();
  cleanup();
  const { container } = drawOpen(view([...HELLO, { ...AT, type: "text_delta", attempt: 1, text: "Hel" }]));
  expect(container.querySelector(".turn-status, footer")).toBeNull();
});

test("what was imported shows when it was said and answered", () => {
  const imported = { ...AT, at: "2023-03-01T14:05:00Z" };
  const opening = [
    { role: "user" as const, content: "Ahoy" },
    { role: "assistant" as const, content: "Ahoy yourself." },
  ];
  const turn = turnOf(
    [
      { ...imported, type: "turn_started", parent_turn_id: null, seq: 0, origin: "added", opening },
      { ...imported, at: "2023-03-01T14:09:00Z", type: "turn_finished", seq: 1, outcome: "added" },
    ],
    "turn-1",
  );
  drawOpen(
    <TurnView turn={turn} answers="0,turn-1" wordings="0,turn-1" inspected={false} inspectedRound={0} />,
  );
  const times = screen.getAllByRole("time").map((time) => time.getAttribute("datetime"));
  expect(times).toEqual(["2023-03-01T14:05:00.000Z", "2023-03-01T14:09:00.000Z"]);
});
