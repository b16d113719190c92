import { describe, expect, test } from "vitest";

import { isDurable, replay, type DurableEvent, type Turn } from "../../state";
import { SCENES, scene } from "../../testing/scenes";
import { eventText, rowsOf } from "./rows";
import { figuresOf, timeOf } from "./figures";
import { scaleOf } from "./scale";
import { endOf, requestOf, spansOf, type Span } from "./spans";

interface Read {
  turn: Turn;
  log: DurableEvent[];
}

function read(name: string, turnId: string, until = Infinity): Read {
  const events = scene(name).slice(0, until);
  const turn = replay(events).turns.get(turnId)!;
  return { turn, log: events.filter(isDurable).filter((event) => event.turn_id === turnId) };
}

const LATE = Date.parse("2026-11-15T15:00:00Z");

function spans({ turn, log }: Read, now = LATE): Span[] {
  return spansOf(turn, log, now);
}

const kinds = (span: Span | undefined) => span?.bars.map((bar) => bar.kind);

describe("the waterfall of a finished turn", () => {
  const pool = read("pool-done", "turn-b");

  test("has a row for each round, each call and each wait, in order", () => {
    expect(spans(pool).map((span) => span.title)).toEqual([
      "Round 1",
      "files.read_file",
      "docs.search_docs",
      "web_search",
      "tracker.search_issues",
      "Round 2",
      "Approval",
      "bench.restart_benchmark",
      "Answer",
    ]);
  });

  test("tells the wait for the first token from the writing", () => {
    const [first] = spans(pool);
    expect(kinds(first)).toEqual(["first", "model"]);
    expect(first!.bars[0]!.until - first!.bars[0]!.from).toBe(800);
    expect(first?.took).toBe(5200);
  });

  test("shows a failed call in red and a wait as a wait", () => {
    const rows = spans(pool);
    expect(kinds(rows[4])).toEqual(["failed"]);
    expect(rows[4]?.look).toBe("failed");
    expect(kinds(rows[6])).toEqual(["wait"]);
    expect(rows[6]?.took).toBe(6100);
  });

  test("counts calls that ran side by side once", () => {
    expect(timeOf(spans(pool), "tool")).toBe(3200 + 19_000);
    expect(figuresOf(pool.turn, spans(pool), LATE).map((figure) => figure.name)).toEqual([
      "Outcome",
      "Total",
      "Model",
      "Tools",
      "Waited for you",
      "Tokens in, out",
    ]);
  });

  test("gives every row of the log to one round", () => {
    const models = spans(pool).filter((span) => span.kind === "model");
    const given = models.flatMap((span) => rowsOf(span, pool.turn, pool.log));
    expect(given.toSorted((a, b) => a.seq - b.seq)).toEqual(pool.log);
  });
});

test("calls that never ran have a row without a bar", () => {
  const rows = spans(read("states", "turn-s2"));
  const notSent = rows.find((span) => span.title === "files.read_file");
  expect(notSent).toMatchObject({ bars: [], took: null, look: "not_sent" });
  expect(rows.find((span) => span.title === "web_search")?.look).toBe("timed_out");
});

test("repairs are counted on the round and on the call", () => {
  const [round, , repaired] = spans(read("states", "turn-s1"));
  expect(round?.repairs).toBe(1);
  expect(repaired).toMatchObject({ title: "bench.restart_benchmark", repairs: 1 });
});

test("a call cut off by a restart is a failed attempt, and its doubt is a wait for you", () => {
  const rows = spans(read("unknown", "turn-i"), Date.parse("2026-11-15T14:02:31.700Z"));
  const invoice = rows.filter((span) => span.callId === "call_turn-i_2_0");
  expect(invoice.map((span) => span.title)).toEqual(["Outcome", "billing.create_invoice"]);
  expect(invoice[0]).toMatchObject({ kind: "wait", live: true, took: 20_000 });
  expect(kinds(invoice[1])).toEqual(["failed"]);
  const deploy = rows.find((span) => span.callId === "call_turn-i_2_1");
  expect(kinds(deploy)).toEqual(["failed", "tool"]);
});

test("attempts that came to nothing are a round of their own", () => {
  const [asking, ...rest] = spans(read("ends", "turn-e2"));
  expect(rest).toEqual([]);
  expect(asking).toMatchObject({ title: "No reply", live: false, look: "failed" });
  expect(kinds(asking)).toEqual(["failed"]);
});

test("failed attempts stand before the reply that followed", () => {
  const { turn, log } = read("ends", "turn-e3");
  const now = Date.parse(log.at(-1)!.at) + 60_000;
  const [asking] = spans({ turn, log }, now);
  expect(kinds(asking)?.slice(0, 2)).toEqual(["failed", "failed"]);
  expect(asking?.live).toBe(true);
});

test("a failed attempt is a request too", () => {
  const pool = read("pool-done", "turn-b");
  expect(pool.turn.rounds.map((round) => requestOf(pool.log, round))).toEqual([1, 2, 3]);
  const broken = read("ends", "turn-e3");
  expect(requestOf(broken.log, undefined)).toBe(3);
  const failed = read("ends", "turn-e2");
  expect(requestOf(failed.log, undefined)).toBe(1);
});

test("a request under way is hollow until the first words", () => {
  const events = scene("pool-done");
  const before = read(
    "pool-done",
    "turn-b",
    events.findIndex((event) => event.type === "reasoning_delta"),
  );
  expect(kinds(spans(before, before.turn.startedAt + 150).at(-1))).toEqual(["first"]);
  const after = read(
    "pool-done",
    "turn-b",
    events.findIndex((event) => event.type === "reasoning_delta") + 1,
  );
  expect(kinds(spans(after, before.turn.startedAt + 900).at(-1))).toEqual(["first", "model"]);
});

describe("every prefix of every log", () => {
  test.each(Object.keys(SCENES))("%s can be drawn", (name) => {
    const events = scene(name);
    for (let length = 1; length <= events.length; length += 1) {
      for (const turn of replay(events.slice(0, length)).turns.values()) {
        const log = events.slice(0, length).filter(isDurable);
        const own = log.filter((event) => event.turn_id === turn.id);
        const now = turn.lastAt + 1500;
        const rows = spansOf(turn, own, now);
        const end = endOf(turn, rows, now);
        const scale = scaleOf(rows, end);
        for (const bar of rows.flatMap((span) => span.bars)) {
          expect(bar.until).toBeGreaterThanOrEqual(bar.from);
          expect(scale.position(bar.from)).toBeGreaterThanOrEqual(0);
          expect(scale.position(bar.until)).toBeLessThanOrEqual(1);
        }
        expect(new Set(rows.map((span) => span.id)).size).toBe(rows.length);
        for (const row of own) expect(typeof eventText(row, turn)).toBe("string");
      }
    }
  });
});

describe("the scale", () => {
  const bar = (kind: Span["bars"][number]["kind"], from: number, until: number) =>
    ({ bars: [{ kind, from, until }] }) as unknown as Span;

  test("has between two and six ticks, at round times", () => {
    const { ticks } = scaleOf([bar("tool", 0, 41_800)], 41_800);
    expect(ticks.map((tick) => tick.label)).toEqual(["0 s", "10 s", "20 s", "30 s", "40 s"].map(spaced));
  });

  test("cuts a wait in which nothing went on, so that the work stays visible", () => {
    const hour = 3_600_000;
    const scale = scaleOf(
      [bar("model", 0, 3000), bar("wait", 3000, 3000 + hour), bar("tool", 3000 + hour, 6000 + hour)],
      6000 + hour,
    );
    expect(scale.cuts).toHaveLength(1);
    expect(scale.position(3000)).toBeGreaterThan(0.3);
    expect(scale.position(6000 + hour)).toBe(1);
  });

  test("does not cut a wait beside a call that runs", () => {
    const scale = scaleOf([bar("wait", 0, 600_000), bar("tool", 0, 600_000)], 600_000);
    expect(scale.cuts).toEqual([]);
  });
});

function spaced(label: string): string {
  return label.replace(" ", "\u00a0");
}
