import { describe, expect, test } from "vitest";

import type { Event } from "../state";
import { turnOf } from "../testing/open";
import { namingFrom } from "./toolbox";
import { ALL, blockRound, foldable, foldOf, piecesOf, type Folds } from "./folding";
import { namesOf, nowText, stepsAloud, ticksOf } from "./steps";

const AT = { turn_id: "turn-1", conversation_id: "conv-1", at: "2026-11-15T14:00:00Z" };
const NONE: Folds = { folded: new Set(), opened: new Set() };
const naming = namingFrom([]);

interface Reply {
  text?: string;
  calls?: number;
  failed?: number;
}

/** A turn of these replies; every call has ended. */
function turn(replies: readonly Reply[], ...rest: Event[]) {
  let seq = 1;
  const events = replies.flatMap(({ text = "", calls = 0, failed = 0 }, n): Event[] => {
    const ids = Array.from({ length: calls }, (_, k) => `call-${n + 1}-${k}`);
    const made = ids.map((id) => ({ id, name: "read_file", arguments: "{}" }));
    return [
      { ...AT, type: "model_replied", seq: ++seq, text, calls: made },
      ...ids.flatMap((call_id, k): Event[] => [
        { ...AT, type: "tool_started", seq: ++seq, call_id },
        {
          ...AT,
          type: "tool_finished",
          seq: ++seq,
          call_id,
          state: k < failed ? "error" : "ok",
          output: { text: "x" },
        },
      ]),
    ];
  });
  return turnOf(
    [
      { ...AT, type: "turn_started", parent_turn_id: null, seq: 0, opening: [] },
      { ...AT, type: "turn_claimed", seq: 1, driver: "one" },
      ...events,
      ...rest.map((event) => ("seq" in event ? { ...event, seq: ++seq } : event)),
    ],
    "turn-1",
  );
}

const END: Event = { ...AT, type: "turn_finished", seq: 0, outcome: "answered" };

/** One word for each piece. */
function shape(one: ReturnType<typeof turn>, folds: Folds = NONE): string[] {
  return piecesOf(one, folds).map((piece) => {
    if (piece.kind === "block") return "block";
    if (piece.kind === "run") return `run ${piece.run.from}-${piece.run.to} ${piece.line}`;
    return `${piece.part} ${piece.n}${piece.calls === "rows" ? "" : ` ${piece.calls}`}`;
  });
}

describe("where the block of steps stands", () => {
  test.each([
    [[{ calls: 5 }], 0],
    [[{ calls: 2 }, { calls: 3 }], 0],
    [[{ calls: 6 }], 1],
    [[{ calls: 4 }, { calls: 2 }], 2],
    [[{ calls: 1 }, { calls: 1 }, { calls: 1 }], 3],
    [[{ calls: 1 }, { calls: 1 }, { text: "Done." }], 0],
  ])("%j: before the calls of reply %i", (replies, n) => {
    expect(blockRound(turn(replies))).toBe(n);
  });
});

describe("what is drawn", () => {
  test("a short turn is its rounds, and one that is folded stays a line", () => {
    const one = turn([{ calls: 3 }, { calls: 1 }, { text: "Done." }], END);
    expect(shape(one)).toEqual(["all 1", "all 2", "all 3"]);
    expect(shape(one, { ...NONE, folded: new Set([1]) })).toEqual(["all 1 folded", "all 2", "all 3"]);
  });

  test("rounds before the block stay as they are, its own text stands above it, and its calls are in it", () => {
    const one = turn([{ calls: 1 }, { calls: 1 }, { text: "Now all.", calls: 1 }, { calls: 9 }]);
    expect(shape(one)).toEqual(["all 1", "all 2", "text 3", "block", "run 3-4 none"]);
  });

  test("forty steps without a text are one run and take no more room than one", () => {
    const one = turn([...Array.from({ length: 40 }, () => ({ calls: 1 })), { text: "Done." }], END);
    const folds = { ...NONE, folded: new Set(foldable(one)) };
    expect(shape(one, folds)).toEqual(["all 1 kept", "all 2 kept", "block", "run 3-40 none", "all 41"]);
  });

  test("a text begins a run of its own, with a line that opens", () => {
    const one = turn([{ calls: 6 }, { text: "Next.", calls: 2 }, { calls: 1 }, { text: "Done." }], END);
    const below = ["block", "run 1-1 none"];
    expect(shape(one)).toEqual([...below, "text 2", "run 2-3 folded", "all 4"]);
    const opened = { ...NONE, opened: new Set([2]) };
    expect(shape(one, opened)).toEqual([...below, "text 2", "run 2-3 open", "calls 2", "all 3", "all 4"]);
  });

  test("a run that has folded leaves what failed, in one box with that of the run before", () => {
    const one = turn(
      [{ calls: 6, failed: 1 }, { text: "Next.", calls: 2, failed: 1 }, { text: "Done." }],
      END,
    );
    expect(shape(one, { ...NONE, folded: new Set([2]) })).toEqual(["block", "run 1-2 none", "all 3"]);
  });

  test("opened as a whole, every round stands below the block", () => {
    const one = turn([{ text: "So.", calls: 6 }, { text: "Next.", calls: 2 }, { text: "Done." }], END);
    const opened = { folded: new Set([1, 2]), opened: new Set([ALL]) };
    expect(shape(one, opened)).toEqual(["text 1", "block", "calls 1", "all 2", "all 3"]);
  });

  test("while the next reply is thought about or makes calls, the block says so and nothing is drawn below", () => {
    const thinks: Event = { ...AT, type: "reasoning_delta", attempt: 1, text: "Hm" };
    const writes: Event = { ...AT, type: "text_delta", attempt: 1, text: "So" };
    expect(shape(turn([{ calls: 6 }], thinks))).toEqual(["block", "run 1-1 none"]);
    expect(shape(turn([{ calls: 6 }], thinks, writes))).toEqual(["block", "run 1-1 none", "all 2"]);
  });
});

describe("what may fold once it is out of view", () => {
  const thinks: Event = { ...AT, type: "reasoning_delta", attempt: 1, text: "Hm" };
  test("a round that the next reply has followed", () => {
    expect(foldable(turn([{ calls: 2 }]))).toEqual([]);
    expect(foldable(turn([{ calls: 2 }], thinks))).toEqual([1]);
    expect(foldable(turn([{ calls: 2 }, { calls: 1 }]))).toEqual([1]);
    expect(foldable(turn([{ calls: 2 }, { calls: 1 }], END))).toEqual([1, 2]);
  });

  test("from the block on a whole run, by its first reply", () => {
    const one = turn([{ calls: 6 }, { calls: 1 }, { text: "Next.", calls: 1 }, { text: "Done." }]);
    expect(foldable(one)).toEqual([1, 3]);
    expect([1, 2, 3].map((n) => foldOf(one, n))).toEqual([1, 1, 3]);
  });
});

describe("the steps of a turn", () => {
  const writes: Event = { ...AT, type: "call_delta", attempt: 1, index: 0, name: "push", arguments: "{" };

  test("each has a tick that says its number, name and state; one that is being written is known to come", () => {
    const ticks = ticksOf(turn([{ calls: 2, failed: 1 }], writes), naming);
    expect(ticks.map(({ state }) => state)).toEqual(["failed", "done", "coming"]);
    expect(ticks[0]?.label).toBe("Step 1, Read file, failed");
  });

  test("are told in one sentence, and their names once each", () => {
    const one = turn([{ calls: 3, failed: 1 }], writes);
    expect(stepsAloud(one)).toBe("3 of 4 steps, 1 failed");
    expect(namesOf(one.rounds[0]?.calls ?? [], naming)).toBe("Read file ×3");
  });

  test("the running one is named, with how far it is", () => {
    const runs: Event[] = [
      { ...AT, type: "model_replied", seq: 0, text: "", calls: [{ id: "c", name: "read_links" }] },
      { ...AT, type: "tool_started", seq: 0, call_id: "c" },
    ];
    expect(nowText(turn([], ...runs), { kind: "tools", calls: 1 }, naming)).toBe("Running Read links");
    const progress: Event = { ...AT, type: "tool_progress", call_id: "c", progress: 27, total: 40 };
    expect(nowText(turn([], ...runs, progress), { kind: "tools", calls: 1 }, naming)).toBe(
      "Read links, 27 of 40",
    );
  });
});
