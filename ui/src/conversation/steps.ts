/** The steps of a turn as its block shows them: one tick each, what it does now, and what was done in all. */

import { plural } from "../parts";
import {
  argumentsOf,
  callsOf,
  isFailure,
  isMoving,
  lookOf,
  needsPerson,
  tookMs,
  type Call,
  type Phase,
  type Turn,
} from "../state";
import { LOOKS, argumentLine, neededText } from "./labels";
import { nameCall, type Naming } from "./toolbox";

export type TickState = "done" | "failed" | "needs" | "moving" | "coming";

export interface Tick {
  /** The call's id; "" for one that is still being written. */
  id: string;
  state: TickState;
  /** How long it took, from 1 to 4. */
  size: number;
  label: string;
}

export function ticksOf(turn: Turn, naming: Naming): Tick[] {
  const made = callsOf(turn).map((call, index): Tick => {
    const look = lookOf(call);
    const words = (LOOKS[look].say || LOOKS[look].spoken.replace(/:\s*$/, "")).toLowerCase();
    return {
      id: call.id,
      state: tickState(call),
      size: sizeOf(tookMs(call, call.attempts.at(-1)?.from ?? 0) ?? 0),
      label: `Step ${index + 1}, ${nameCall(naming, call).title}, ${words}`,
    };
  });
  const coming = (turn.draft?.calls ?? []).map((call, index): Tick => {
    const title = call.name ? naming(call.name).title : "a call";
    return {
      id: "",
      state: "coming",
      size: 1,
      label: `Step ${made.length + index + 1}, ${title}, being written`,
    };
  });
  return [...made, ...coming];
}

function tickState(call: Call): TickState {
  const look = lookOf(call);
  if (isFailure(look)) return "failed";
  if (needsPerson(look)) return "needs";
  if (look === "queued") return "coming";
  return isMoving(look) ? "moving" : "done";
}

const SIZES_MS = [300, 1000, 4000];

function sizeOf(ms: number): number {
  return 1 + SIZES_MS.filter((limit) => ms >= limit).length;
}

export function failedSteps(turn: Turn): number {
  return callsOf(turn).filter((call) => isFailure(lookOf(call))).length;
}

/** "27 of 40 steps, 3 failed": what is said aloud now and then. */
export function stepsAloud(turn: Turn): string {
  const calls = callsOf(turn);
  const ended = calls.filter((call) => call.finished).length;
  const all = calls.length + (turn.draft?.calls.length ?? 0);
  const failed = failedSteps(turn);
  return `${ended < all ? `${ended} of ` : ""}${plural(all, "step")}${failed ? `, ${failed} failed` : ""}`;
}

/** What the turn does now, in a few words. */
export function nowText(turn: Turn, phase: Phase, naming: Naming): string {
  switch (phase.kind) {
    case "finished":
      return "";
    case "waiting":
      return neededText(phase.calls, phase.approvals);
    case "tools":
      return runningText(turn, naming);
    default:
      return PHASES[phase.kind];
  }
}

export const PHASES: Record<Exclude<Phase["kind"], "finished" | "waiting" | "tools">, string> = {
  queued: "Queued",
  writing: "Writing the answer",
  calling: "Writing a call",
  thinking: "Thinking",
  retrying: "Waiting for the model",
  stopping: "Stopping",
  asking: "Waiting for the model",
};

function runningText(turn: Turn, naming: Naming): string {
  const open = callsOf(turn).filter((call) => !call.finished);
  const [call] = open;
  if (!call) return PHASES.asking;
  const { title } = nameCall(naming, call);
  if (open.length > 1) return `Running ${title} and ${open.length - 1} more`;
  const { progress, total } = call.progress ?? {};
  return total ? `${title}, ${progress ?? 0} of ${total}` : `Running ${title}`;
}

/** The newest line: what a running call reports or was asked, else what the model thinks. */
export function newestLine(turn: Turn, naming: Naming): string {
  const call = callsOf(turn).findLast((one) => one.progress && !one.finished) ?? callsOf(turn).at(-1);
  const thought = turn.draft?.text || turn.draft?.reasoning;
  if (thought) return lastLine(thought);
  if (!call) return "";
  return `${nameCall(naming, call).title}: ${call.progress?.message ?? argumentLine(argumentsOf(call))}`;
}

const LINE_CHARACTERS = 300;

function lastLine(text: string): string {
  return text.slice(-LINE_CHARACTERS).trim().split("\n").at(-1) ?? "";
}

/** "List files, Read file ×9": each name once, in the order of their first call. */
export function namesOf(calls: readonly Call[], naming: Naming): string {
  const counts = new Map<string, number>();
  for (const call of calls) {
    const { title } = nameCall(naming, call);
    counts.set(title, (counts.get(title) ?? 0) + 1);
  }
  return [...counts].map(([title, n]) => (n > 1 ? `${title} ×${n}` : title)).join(", ");
}
