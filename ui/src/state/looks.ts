/** What a call looks like now. One name per state of the table in the visual language. */

import { needsDecision } from "./applyTurn";
import { callsOf, isInterrupted, isOpen, isRunning, type Call, type Turn } from "./turn";

export type Look =
  | "queued"
  | "waiting"
  | "asked"
  | "running"
  | "again"
  | "stopping"
  | "done"
  | "failed"
  | "not_sent"
  | "timed_out"
  | "denied"
  | "stopped"
  | "stopped_sent"
  | "unknown"
  | "left_unknown";

const NEVER_SENT = new Set(["bad_arguments", "unknown_tool", "changed", "over_limit"]);

export function lookOf(call: Call): Look {
  if (call.finished) return endOf(call);
  if (call.stopping) return "stopping";
  if (call.input && !call.inputSent) return "asked";
  if (needsDecision(call) && !call.input) return isInterrupted(call) ? "unknown" : "waiting";
  if (isInterrupted(call)) return "again";
  if (isRunning(call)) return call.attempts.length > 1 ? "again" : "running";
  return "queued";
}

function endOf(call: Call): Look {
  const { state, cause = "" } = call.finished ?? { state: "error" };
  switch (state) {
    case "ok":
      return "done";
    case "denied":
      return "denied";
    case "cancelled":
      return "stopped";
    case "unknown":
      return cause === "stopped" && call.stoppedByPerson ? "stopped_sent" : "left_unknown";
    case "error":
      if (cause === "timeout") return "timed_out";
      return NEVER_SENT.has(cause) ? "not_sent" : "failed";
  }
}

export const isMoving = (look: Look): boolean => ["queued", "running", "again", "stopping"].includes(look);
export const isFailure = (look: Look): boolean => ["failed", "not_sent", "timed_out"].includes(look);
export const needsPerson = (look: Look): boolean => ["waiting", "asked", "unknown"].includes(look);

/** The calls of a turn that wait for a person, in the order they were asked. */
export function waitingCalls(turn: Turn): Call[] {
  if (turn.finished) return [];
  return callsOf(turn).filter((call) => needsPerson(lookOf(call)));
}

/** How often this very call had given this very result when it ended; 1 for a new one. */
export function timesRepeated(turn: Turn, call: Call): number {
  const digest = call.finished?.output.digest;
  if (!digest || call.finished?.state !== "ok") return 1;
  const same = callsOf(turn).filter(
    (other) =>
      other.finished?.state === "ok" &&
      other.finished.output.digest === digest &&
      other.spec.name === call.spec.name &&
      other.spec.arguments === call.spec.arguments,
  );
  return same.indexOf(call) + 1 || 1;
}

/** Arguments as they were, or will be, sent: a person's changes win. */
export function argumentsOf(call: Call): string {
  return call.decided?.arguments || call.spec.arguments;
}

export function wasRepaired(call: Call): boolean {
  return (call.spec.repairs?.length ?? 0) > 0;
}

/** Time the call took or has taken, in ms; null when it never ran. */
export function tookMs(call: Call, now: number): number | null {
  const first = call.attempts[0];
  const last = call.attempts.at(-1);
  if (!first || !last) return null;
  if (call.finished?.took_ms && call.attempts.length === 1) return call.finished.took_ms;
  return Math.max(0, (isOpen(call) ? (last.until ?? now) : call.finishedAt) - first.from);
}

/** The span of a group's calls: all their bars share it. */
export function spanOf(calls: readonly Call[], now: number): { from: number; until: number } | null {
  const attempts = calls.flatMap((call) => call.attempts);
  if (attempts.length === 0) return null;
  return {
    from: Math.min(...attempts.map((attempt) => attempt.from)),
    until: Math.max(...attempts.map((attempt) => attempt.until ?? now)),
  };
}
