import { describe, expect, test } from "vitest";

import { GOLDEN } from "../testing/golden";
import { SCENES, scene } from "../testing/scenes";
import {
  EMPTY,
  answersBeside,
  apply,
  applyAll,
  callsOf,
  decode,
  isDurable,
  lookOf,
  messageId,
  pathOf,
  phaseOf,
  replay,
  sourcesOf,
  timesRepeated,
  usageOf,
  waitingCalls,
  wordingsBeside,
  workedMs,
  type Conversation,
  type Event,
  type Turn,
} from ".";

const LOGS = [
  ...Object.entries(GOLDEN).map(([name, { events }]) => [`golden/${name}`, events] as const),
  ...Object.entries(SCENES),
];

describe.each(LOGS)("the log %s", (_name, events) => {
  test("gives the same state one by one and at once, at every prefix", () => {
    let state = EMPTY;
    events.forEach((event, n) => {
      state = apply(state, event);
      expect(state).toEqual(replay(events.slice(0, n + 1)));
      pathOf(state).forEach(readEverything);
    });
  });

  test("is unchanged by durable events that come twice", () => {
    let state = EMPTY;
    for (const event of events) {
      state = apply(state, event);
      if (isDurable(event)) expect(apply(state, event)).toBe(state);
    }
    expect(applyAll(state, events.filter(isDurable))).toBe(state);
  });

  test("is never changed in place", () => {
    const frozen = events.map(deepFreeze);
    frozen.reduce<Conversation>((state, event) => deepFreeze(apply(state, event)), EMPTY);
  });

  test("is the same after a reconnect at any moment", () => {
    const whole = replay(events);
    events.forEach((_, cut) => {
      const before = replay(events.slice(0, cut));
      const missed = events.slice(cut).filter(isDurable);
      expect(settled(applyAll(before, [...missed, ...soFar(whole)]))).toEqual(settled(whole));
    });
  });
});

describe("calls", () => {
  const turnAt = (name: string, id: string) => replay(scene(name)).turns.get(id)!;
  const looks = (turn: Turn) => callsOf(turn).map(lookOf);

  test("end in the states the log gives them", () => {
    expect(looks(turnAt("states", "turn-s1"))).toEqual(["done", "done"]);
    expect(looks(turnAt("states", "turn-s2"))).toEqual([
      "failed",
      "not_sent",
      "timed_out",
      "denied",
      "denied",
      "left_unknown",
    ]);
    expect(looks(turnAt("states", "turn-s3"))).toEqual(["done", "done", "done", "done", "stopped"]);
  });

  test("wait for approval until decided", () => {
    const turn = turnAt("approval", "turn-n");
    expect(waitingCalls(turn).map((call) => call.spec.name)).toEqual([
      "tracker__create_issue",
      "git__push_tag",
    ]);
    expect(phaseOf(turn)).toEqual({ kind: "waiting", calls: 2, approvals: 2 });
  });

  test("interrupted by a restart ask when unsafe and run again when safe", () => {
    const turn = turnAt("unknown", "turn-i");
    expect(looks(turn).slice(2)).toEqual(["unknown", "asked"]);
    expect(turn.resumedAt).toBeGreaterThan(0);
  });

  test("that a person resolved are no longer waiting", () => {
    const resolved = apply(replay(scene("unknown")), {
      type: "call_resolved",
      turn_id: "turn-i",
      conversation_id: "conv-invoices",
      seq: 99,
      at: "2026-11-15T14:05:00Z",
      call_id: "call_turn-i_2_0",
      how: "retry",
    });
    expect(lookOf(callsOf(resolved.turns.get("turn-i")!)[2]!)).toBe("again");
  });

  test("that ask a second thing keep asking when the first is known to be answered", () => {
    const asked = replay(scene("unknown"));
    const call = (state: Conversation) => callsOf(state.turns.get("turn-i")!)[3]!;
    const first = call(asked).input!;
    const second = { ...first, message: "And when?", at: "2026-11-15T14:06:00Z" };
    const sent = { type: "input_sent", turn_id: "turn-i", call_id: first.call_id } as const;
    const both = applyAll(asked, [second, { ...sent, asked_at: first.at }]);
    expect([lookOf(call(both)), call(both).input?.message]).toEqual(["asked", "And when?"]);
    expect(lookOf(call(apply(both, { ...sent, asked_at: second.at })))).toBe("again");
  });

  test("interrupted by a restart go on asking when their question was kept, and then run again", () => {
    const interrupted = replay(scene("unknown"));
    const call = (state: Conversation) => callsOf(state.turns.get("turn-i")!)[2]!;
    const header = { turn_id: "turn-i", call_id: call(interrupted).id };
    const at = "2026-11-15T14:06:00Z";
    const question = { type: "input_needed", seq: 20, at, message: "Who?", schema: "{}", ...header } as const;
    const asked = apply(interrupted, question);
    expect([lookOf(call(interrupted)), lookOf(call(asked))]).toEqual(["unknown", "asked"]);
    expect(lookOf(call(apply(asked, { type: "input_sent", asked_at: at, ...header })))).toBe("again");
  });

  test("count how often the same call gave the same result", () => {
    const turn = turnAt("states", "turn-s3");
    expect(callsOf(turn).map((call) => timesRepeated(turn, call))).toEqual([1, 1, 2, 3, 1]);
  });

  test("show that they are being stopped before the server says so, and take it back when that fails", () => {
    const running = replay(scene("pool-running"));
    const target = { turn_id: "turn-b", call_id: "call_turn-b_2_0" };
    const stopping = apply(running, { type: "stop_sent", ...target });
    expect(looks(stopping.turns.get("turn-b")!).at(-1)).toBe("stopping");
    const back = apply(stopping, { type: "stop_unsent", ...target });
    expect(looks(back.turns.get("turn-b")!).at(-1)).toBe("running");
  });
});

describe("turns", () => {
  test("do not count the time a person takes", () => {
    const turn = replay(scene("pool-done")).turns.get("turn-b")!;
    expect(turn.waitedMs).toBe(6100);
    expect(workedMs(turn, 0)).toBe(turn.finishedAt - turn.startedAt - 6100);
  });

  test("number their sources as the model was told them", () => {
    const sources = sourcesOf(replay(scene("pool-done")).turns.get("turn-b")!);
    expect(sources).toHaveLength(13);
    expect(sources.slice(0, 3).map((source) => [source.n, source.title])).toEqual([
      [1, "config/pool.toml"],
      [2, "Addressing Cascading Failures"],
      [3, "Exponential Backoff and Jitter"],
    ]);
  });

  test("sum their tokens over rounds", () => {
    expect(usageOf(replay(scene("pool-done")).turns.get("turn-b")!)).toMatchObject({
      prompt: 22399,
      completion: 612,
    });
  });

  test("keep the words of a broken reply apart from the next attempt's", () => {
    const events = scene("ends");
    const late = events.findIndex((event) => event.type === "text_delta" && event.text.startsWith("late"));
    const reset = replay(events.slice(0, late + 1)).turns.get("turn-e3")!;
    expect(reset.draft).toMatchObject({ attempt: 2, text: "", lost: "The first try at an ans" });
    const second = replay(events.slice(0, late + 2)).turns.get("turn-e3")!;
    expect(second.draft).toMatchObject({ attempt: 2, text: "The ", lost: "" });
    expect(phaseOf(replay(events).turns.get("turn-e3")!)).toEqual({ kind: "retrying" });
  });

  test.each(["stopped", "failed"] as const)("keep what was said before a turn that %s", (outcome) => {
    const events = scene("ends");
    const index = events.findIndex((event) => event.type === "text_delta" && event.turn_id === "turn-e3");
    const end = {
      type: "turn_finished",
      id: 99,
      turn_id: "turn-e3",
      conversation_id: "conv-ends",
      seq: 9,
    } as const;
    const log = [...events.slice(0, index + 3), { ...end, at: "2026-11-15T12:00:19.000Z", outcome }];
    expect(replay(log).turns.get("turn-e3")!.draft).toMatchObject({ text: "", lost: "The first try " });
  });
});

describe("branches", () => {
  const ids = (state: Conversation) => pathOf(state).map((turn) => turn.id);

  test("show the path to the newest turn", () => {
    expect(ids(replay(scene("branches")))).toEqual(["turn-r4", "turn-r5"]);
  });

  test("can be picked by hand, and a new turn is shown all the same", () => {
    const picked = apply(replay(scene("branches")), { type: "branch_picked", turn_id: "turn-r2" });
    expect(ids(picked)).toEqual(["turn-r2", "turn-r3"]);
    const started = apply(picked, {
      type: "turn_started",
      turn_id: "turn-r6",
      conversation_id: "conv-branches",
      parent_turn_id: "turn-r5",
      seq: 0,
      at: "2026-11-15T11:30:00Z",
      opening: [{ role: "user", content: "And then?" }],
    });
    expect(ids(started)).toEqual(["turn-r4", "turn-r5", "turn-r6"]);
  });

  test("tell other answers from other wordings", () => {
    const state = replay(scene("branches"));
    const second = state.turns.get("turn-r2")!;
    expect(answersBeside(state, second)).toEqual({ index: 1, ids: ["turn-r1", "turn-r2"] });
    expect(wordingsBeside(state, second)).toEqual({ index: 0, ids: ["turn-r2", "turn-r4"] });
  });
});

test("a message that was deleted in another window is gone in this one", () => {
  const before = replay(scene("pool-done"));
  const turn = before.turns.get("turn-b")!;
  const ids = [messageId(turn, turn.firstSeq)];
  const gone = apply(before, decode("messages_deleted", { turn_id: "turn-b", seq: 9, ids }, 0)!);
  expect(gone.turns.get("turn-b")!.blanked).toEqual([0]);
  expect(gone.turns.get("turn-b")!.opening[0]!.content).toBe("");
});

test("a result that was added by hand elsewhere is shown here too", () => {
  const before = replay(scene("pool-done"));
  const told = decode("result_added", { turn_id: "turn-b", seq: 9, part: 0, content: "seven" }, 0)!;
  expect(apply(before, told).turns.get("turn-b")!.opening[0]!.content).toBe("seven");
});

test("events this page does not know are left out", () => {
  expect(decode("turn_painted", { turn_id: "turn-x" }, 0)).toBeNull();
  expect(decode("ping", {}, 0)).toBeNull();
  expect(decode("text_delta", { turn_id: "turn-x", attempt: 1, text: "a" }, 0)).toMatchObject({
    type: "text_delta",
    at: "1970-01-01T00:00:00.000Z",
  });
});

/** What the server sends after the missed events: each reply in flight, and each question still open. */
function soFar(whole: Conversation): Event[] {
  const at = "2026-11-15T15:00:00Z";
  return [...whole.turns.values()].flatMap((turn): Event[] => {
    const { id: turn_id, draft } = turn;
    const reply: Event[] =
      draft?.text || draft?.reasoning || draft?.calls.length
        ? [
            {
              type: "reply_so_far",
              turn_id,
              at,
              ...draft,
              calls: draft.calls.map((call) => ({ ...call, attempt: draft.attempt })),
            },
          ]
        : [];
    const inputs = callsOf(turn).flatMap((call) => (call.input ? [call.input] : []));
    return [...reply, ...inputs, ...(turn.waiting ? [turn.waiting] : [])];
  });
}

/** A state without what only live watchers can know: when words came, and progress that will be reported again. */
function settled(state: Conversation): Turn[] {
  return [...state.turns.values()].map((turn) => ({
    ...turn,
    draft: turn.draft && { ...turn.draft, since: 0, textSince: 0, lost: "", attempt: 0 },
    rounds: turn.rounds.map((round) => ({
      ...round,
      calls: round.calls.map((call) => ({ ...call, progress: null })),
    })),
  }));
}

function readEverything(turn: Turn): void {
  phaseOf(turn);
  sourcesOf(turn);
  usageOf(turn);
  expect(workedMs(turn, turn.lastAt)).toBeGreaterThanOrEqual(0);
  callsOf(turn).forEach(lookOf);
}

function deepFreeze<T>(value: T): T {
  if (value instanceof Map) [...value.values()].forEach(deepFreeze);
  else if (typeof value === "object" && value !== null && !Object.isFrozen(value))
    Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
