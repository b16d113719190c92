/** A turn's log as rows of a waterfall. All times are milliseconds since the turn began. */

import {
  isOpen,
  isRunning,
  lookOf,
  roundNumber,
  type Call,
  type DurableEvent,
  type Look,
  type ModelFailed,
  type Round,
  type Turn,
} from "../../state";

export type BarKind = "first" | "model" | "tool" | "failed" | "wait";

export interface Bar {
  kind: BarKind;
  from: number;
  until: number;
}

export interface Span {
  id: string;
  kind: "model" | "tool" | "wait";
  round: number;
  title: string;
  /** "" for a model's span. */
  callId: string;
  bars: readonly Bar[];
  /** Null for what never ran. */
  took: number | null;
  live: boolean;
  repairs: number;
  look: Look;
}

/** Every request to the model, every call and every wait, in the order a person reads them. */
export function spansOf(turn: Turn, log: readonly DurableEvent[], now: number): Span[] {
  const clock = new Clock(turn, log, now);
  const spans = turn.rounds.flatMap((round) => [
    replySpan(clock, turn, round),
    ...round.calls.flatMap((call) => callSpans(clock, round, call)),
  ]);
  const asking = askingSpan(clock, turn);
  return asking ? [...spans, asking] : spans;
}

/** The last moment that is drawn. */
export function endOf(turn: Turn, spans: readonly Span[], now: number): number {
  const ends = spans.flatMap((span) => span.bars.map((bar) => bar.until));
  return Math.max(1, (turn.finished ? turn.finishedAt : now) - turn.startedAt, ...ends);
}

/** `files__read_file` as people write it: `files.read_file`. */
export function dotted(name: string): string {
  return name.replace("__", ".");
}

/**
 * Which request of the turn the round's reply answers: attempts that failed were requests too. Without a reply it is
 * the request under way, or the last that was sent.
 */
export function requestOf(log: readonly DurableEvent[], round: Round | undefined): number {
  const until = round?.reply.seq ?? Infinity;
  const before = log.filter((row) => row.seq < until && isAnswer(row)).length;
  const ended = !round && log.at(-1)?.type === "turn_finished";
  return ended ? Math.max(1, before) : before + 1;
}

function isAnswer(row: DurableEvent): boolean {
  return row.type === "model_replied" || row.type === "model_failed";
}

export function repairsOf(round: Round): number {
  const inCalls = round.calls.reduce((sum, call) => sum + (call.spec.repairs?.length ?? 0), 0);
  return (round.reply.repairs?.length ?? 0) + inCalls;
}

class Clock {
  readonly now: number;
  readonly log: readonly DurableEvent[];
  readonly #start: number;

  constructor(turn: Turn, log: readonly DurableEvent[], now: number) {
    this.#start = turn.startedAt;
    this.now = this.since(turn.finished ? turn.finishedAt : Math.max(now, turn.lastAt)); // clocks differ
    this.log = log;
  }

  since(at: number): number {
    return Math.max(0, at - this.#start);
  }

  of(event: DurableEvent): number {
    return this.since(Date.parse(event.at));
  }

  /** When this first happened to the call, or null. */
  when(callId: string, type: DurableEvent["type"]): number | null {
    const event = this.log.find((row) => row.type === type && "call_id" in row && row.call_id === callId);
    return event ? this.of(event) : null;
  }

  /** Attempts that failed before this reply, and after the one before. */
  failuresBefore(seq: number): ModelFailed[] {
    const earlier = this.log.filter((row) => row.seq < seq);
    const from = earlier.findLastIndex((row) => row.type === "model_replied") + 1;
    return earlier.slice(from).filter((row) => row.type === "model_failed");
  }
}

function replySpan(clock: Clock, turn: Turn, round: Round): Span {
  const { reply } = round;
  const until = clock.of(reply);
  const from = Math.max(0, until - (reply.took_ms ?? 0));
  const first = Math.min(until, from + (reply.first_ms ?? 0));
  const failed = clock.failuresBefore(reply.seq).map((failure) => failedBar(clock, failure));
  const bars = [...failed, ...writing(from, first, until)];
  return {
    ...model(turn, round.n),
    bars,
    took: until - (bars[0]?.from ?? from),
    repairs: repairsOf(round),
    look: "done",
  };
}

/** The request under way, or the attempts that came to nothing. */
function askingSpan(clock: Clock, turn: Turn): Span | null {
  const failures = clock.failuresBefore(Infinity);
  const failed = failures.map((failure) => failedBar(clock, failure));
  const asking = isAsking(turn);
  if (!asking && failed.length === 0) return null;
  const bars = asking ? [...failed, ...underWay(clock, turn, failures.at(-1))] : failed;
  const from = bars[0]?.from ?? clock.now;
  const until = asking ? clock.now : (bars.at(-1)?.until ?? clock.now);
  return {
    ...model(turn, turn.rounds.length + 1),
    bars,
    took: until - from,
    live: asking,
    look: asking ? "running" : "failed",
  };
}

function isAsking(turn: Turn): boolean {
  const calls = turn.rounds.at(-1)?.calls ?? [];
  return !turn.finished && turn.claims > 0 && !calls.some(isOpen);
}

function underWay(clock: Clock, turn: Turn, failure: ModelFailed | undefined): Bar[] {
  const pause = failure ? (failure.wait_s ?? 0) * 1000 : 0;
  const from = clock.since(turn.lastAt) + pause;
  if (from >= clock.now) return [];
  const hasStarted = turn.draft && (turn.draft.text || turn.draft.reasoning || turn.draft.calls.length > 0);
  const first = turn.draft && hasStarted ? Math.max(from, clock.since(turn.draft.since)) : clock.now;
  return writing(from, first, clock.now);
}

function writing(from: number, first: number, until: number): Bar[] {
  const bars: Bar[] = [
    { kind: "first", from, until: first },
    { kind: "model", from: first, until },
  ];
  return bars.filter((bar) => bar.until > bar.from);
}

function failedBar(clock: Clock, failure: ModelFailed): Bar {
  const until = clock.of(failure);
  return { kind: "failed", from: Math.max(0, until - (failure.took_ms ?? 0)), until };
}

function model(turn: Turn, round: number) {
  const kind = "model" as const;
  const number = roundNumber(turn, round);
  const title = number ? `Round ${number}` : turn.finished && !turn.rounds[round - 1] ? "No reply" : "Answer";
  return { id: `model-${round}`, kind, round, title, callId: "", live: false, repairs: 0 };
}

function callSpans(clock: Clock, round: Round, call: Call): Span[] {
  const waits = [approval(clock, round, call), doubt(clock, round, call)].filter((span) => span !== null);
  return [...waits, toolSpan(clock, round, call)];
}

function toolSpan(clock: Clock, round: Round, call: Call): Span {
  const look = lookOf(call);
  const bars = call.attempts.map((attempt, n): Bar => {
    const failed = attempt.interrupted || n < call.attempts.length - 1 || call.finished?.state === "error";
    const until = attempt.until === null ? clock.now : clock.since(attempt.until);
    return { kind: failed ? "failed" : "tool", from: clock.since(attempt.from), until };
  });
  return {
    id: `call-${call.id}`,
    kind: "tool",
    round: round.n,
    title: dotted(call.spec.name),
    callId: call.id,
    bars,
    took: bars.length > 0 ? bars.reduce((sum, bar) => sum + bar.until - bar.from, 0) : null,
    live: isRunning(call),
    repairs: call.spec.repairs?.length ?? 0,
    look,
  };
}

function approval(clock: Clock, round: Round, call: Call): Span | null {
  if (call.judged?.verdict !== "ask") return null;
  const until = clock.when(call.id, "call_decided") ?? clock.when(call.id, "tool_finished");
  return waitSpan(clock, round, call, "Approval", clock.of(call.judged), until);
}

/** Between the program's end and a person's word on what became of the call. */
function doubt(clock: Clock, round: Round, call: Call): Span | null {
  const resolvedAt = clock.when(call.id, "call_resolved");
  const open = lookOf(call) === "unknown";
  if (resolvedAt === null && !open) return null;
  const interrupted = call.attempts.findLast((attempt) => attempt.interrupted);
  if (!interrupted) return null;
  return waitSpan(
    clock,
    round,
    call,
    "Outcome",
    clock.since(interrupted.until ?? interrupted.from),
    resolvedAt,
  );
}

function waitSpan(
  clock: Clock,
  round: Round,
  call: Call,
  what: string,
  from: number,
  endedAt: number | null,
): Span {
  const until = endedAt ?? clock.now;
  const alone = round.calls.filter((other) => other.judged?.verdict === "ask").length < 2;
  return {
    id: `wait-${what.toLowerCase()}-${call.id}`,
    kind: "wait",
    round: round.n,
    title: alone ? what : `${what}, ${dotted(call.spec.name)}`,
    callId: call.id,
    bars: [{ kind: "wait", from, until }],
    took: until - from,
    live: endedAt === null && !call.finished,
    repairs: 0,
    look: "waiting",
  };
}
