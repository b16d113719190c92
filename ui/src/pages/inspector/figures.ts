/** The six figures over the waterfall. */

import { duration, tokens } from "../../parts";
import { phaseOf, usageOf, type Outcome, type Turn } from "../../state";
import { covered } from "./scale";
import { endOf, type Span } from "./spans";

export interface Figure {
  name: string;
  value: string;
}

const OUTCOMES: Record<Outcome, string> = {
  answered: "Answered",
  limit: "Limit reached",
  stopped: "Stopped",
  failed: "Failed",
  handed_over: "Handed over",
  added: "Added manually",
};

export function figuresOf(turn: Turn, spans: readonly Span[], now: number): Figure[] {
  const usage = usageOf(turn);
  return [
    { name: "Outcome", value: outcomeLabel(turn) },
    { name: "Total", value: duration(endOf(turn, spans, now)) },
    { name: "Model", value: duration(timeOf(spans, "model")) },
    { name: "Tools", value: orNone(timeOf(spans, "tool")) },
    { name: "Waited for you", value: orNone(timeOf(spans, "wait")) },
    { name: "Tokens in, out", value: `${tokens(usage.prompt)}, ${tokens(usage.completion)}` },
  ];
}

/** Calls that ran side by side count once. */
export function timeOf(spans: readonly Span[], kind: Span["kind"]): number {
  return covered(spans.filter((span) => span.kind === kind).flatMap((span) => span.bars));
}

function orNone(ms: number): string {
  return ms > 0 ? duration(ms) : "–";
}

export function outcomeLabel(turn: Turn): string {
  if (turn.finished) return OUTCOMES[turn.finished.outcome];
  const { kind } = phaseOf(turn);
  if (kind === "waiting") return "Waits for you";
  if (kind === "queued") return "Queued";
  return kind === "stopping" ? "Stopping" : "Running";
}
