/** One event on one turn. */

import type {
  DurableEvent,
  ModelFailed,
  ModelReplied,
  StopRequested,
  TransientEvent,
  TurnClaimed,
  TurnFinished,
  TurnStarted,
  RequestSent,
} from "./events";
import { onCall, stopAsked } from "./applyCall";
import { onDelta } from "./applyDraft";
import {
  callsOf,
  isInterrupted,
  isOpen,
  isRunning,
  type Call,
  type Draft,
  type Round,
  type Turn,
} from "./turn";

export function onDurable(turn: Turn, event: Exclude<DurableEvent, TurnStarted>, at: number): Turn {
  switch (event.type) {
    case "turn_claimed":
      return claimed(turn, event, at);
    case "model_replied":
      return replied(turn, event, at);
    case "model_failed":
      return failed(turn, event, at);
    case "history_trimmed":
      return { ...turn, trimmed: event.reason ?? "" };
    case "turn_finished":
      return { ...turn, finished: event, finishedAt: at, draft: brokenOff(turn, event), stopping: false };
    case "stop_requested":
      return event.call_id
        ? withCall(turn, event.call_id, (call) => onCall(call, event, at))
        : { ...turn, stopping: true, rounds: turn.rounds.map((round) => stopRound(round, event)) };
    case "call_decided":
    case "call_resolved":
    case "tool_finished":
      return withCall({ ...turn, failures: [] }, event.call_id, (call) => onCall(call, event, at));
    default:
      return withCall(turn, event.call_id, (call) => onCall(call, event, at));
  }
}

export function onTransient(turn: Turn, event: TransientEvent): Turn {
  switch (event.type) {
    case "waiting":
      return { ...turn, waiting: event };
    case "tool_progress":
    case "input_needed":
      return withCall(turn, event.call_id, (call) => onCall(call, event, Date.parse(event.at)));
    default:
      return { ...turn, draft: onDelta(turn.draft, event, turn) };
  }
}

export function onLocal(turn: Turn, event: RequestSent): Turn {
  if (event.call_id) return withCall(turn, event.call_id, (call) => onCall(call, event, 0));
  return { ...turn, stopping: event.type === "stop_sent" };
}

/** Nothing goes on until a person speaks. */
export function isPaused(turn: Turn): boolean {
  if (turn.finished || turn.stopping) return false;
  const open = callsOf(turn).filter(isOpen);
  return open.length > 0 && !open.some(isRunning) && open.some(needsDecision);
}

/** An approval that was not given, or an outcome only a person can know. */
export function needsDecision(call: Call): boolean {
  if (!isOpen(call) || call.stopping) return false;
  if (isInterrupted(call)) return !call.judged?.safe && call.resolved === "";
  return call.judged?.verdict === "ask" && call.decided === null && call.attempts.length === 0;
}

function claimed(turn: Turn, event: TurnClaimed, at: number): Turn {
  const { driver = "" } = event;
  const restarted = turn.claims > 0 && (driver !== turn.driver || callsOf(turn).some(isRunning));
  return {
    ...turn,
    claims: turn.claims + 1,
    driver,
    resumedAt: restarted ? at : turn.resumedAt,
    draft: null,
    rounds: turn.rounds.map((round) =>
      round.calls.some(isRunning)
        ? { ...round, calls: round.calls.map((call) => interrupt(call, at)) }
        : round,
    ),
  };
}

function stopRound(round: Round, event: StopRequested): Round {
  return round.calls.some(isOpen)
    ? { ...round, calls: round.calls.map((call) => stopAsked(call, event)) }
    : round;
}

function interrupt(call: Call, at: number): Call {
  if (!isRunning(call)) return call;
  const attempts = call.attempts.map((attempt) =>
    attempt.until === null ? { ...attempt, until: at, interrupted: true } : attempt,
  );
  return { ...call, attempts, input: null, progress: null };
}

function replied(turn: Turn, event: ModelReplied, at: number): Turn {
  const calls = (event.calls ?? []).map((spec): Call => ({
    id: spec.id,
    turnId: turn.id,
    spec: { ...spec, arguments: spec.arguments ?? "{}" },
    judged: null,
    decided: null,
    resolved: "",
    attempts: [],
    stopping: false,
    stoppedByPerson: false,
    progress: null,
    input: null,
    inputSent: false,
    finished: null,
    askedAt: at,
    finishedAt: 0,
  }));
  const round = { n: turn.rounds.length + 1, reply: event, calls, at };
  return { ...turn, rounds: [...turn.rounds, round], draft: null, failures: [] };
}

function failed(turn: Turn, event: ModelFailed, at: number): Turn {
  const lost = event.partial || turn.draft?.text || turn.draft?.lost || "";
  const attempt = (turn.draft?.attempt ?? turn.failures.length + 1) + 1;
  const draft = { attempt, text: "", reasoning: "", calls: [], lost, since: at, textSince: 0 };
  return { ...turn, failures: [...turn.failures, event], draft };
}

/** What was said before a turn was stopped or failed stays to be read. */
function brokenOff({ draft }: Turn, end: TurnFinished): Draft | null {
  const lost = draft?.text || draft?.lost || "";
  const kept = end.outcome === "stopped" || end.outcome === "failed";
  return draft && lost && kept ? { ...draft, text: "", reasoning: "", calls: [], lost } : null;
}

function withCall(turn: Turn, id: string, change: (call: Call) => Call): Turn {
  const index = turn.rounds.findIndex((round) => round.calls.some((call) => call.id === id));
  const round = turn.rounds[index];
  if (!round) return turn;
  const calls = round.calls.map((call) => (call.id === id ? change(call) : call));
  return { ...turn, rounds: turn.rounds.with(index, { ...round, calls }) };
}
