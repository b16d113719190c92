/** Where things stand on the waterfall: long waits are cut, so that the work stays visible. */

import { decimal, minutes } from "../../parts/format";
import type { Span } from "./spans";

export interface Stretch {
  from: number;
  until: number;
}

export interface Tick {
  /** Share of the whole, 0 to 1. */
  at: number;
  label: string;
}

export interface Scale {
  ticks: readonly Tick[];
  /** The distance of two ticks, as a share. */
  step: number;
  /** Parts of the time that are left out. */
  cuts: readonly Stretch[];
  /** A moment as a share of the whole. */
  position: (ms: number) => number;
}

const SHORTEST_CUT_MS = 2000;
const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];
const MOST_TICKS = 6;
const NBSP = "\u00a0";

export function scaleOf(spans: readonly Span[], end: number): Scale {
  const cuts = cutsOf(spans, end);
  const shown = (ms: number) => ms - cuts.reduce((sum, cut) => sum + overlap(cut, { from: 0, until: ms }), 0);
  const length = shown(end);
  const step =
    STEPS_S.find((seconds) => length / (seconds * 1000) < MOST_TICKS) ?? length / MOST_TICKS / 1000;
  const count = Math.floor(length / (step * 1000)) + 1;
  const ticks = Array.from({ length: count }, (_, n) => ({
    at: (n * step * 1000) / length,
    label: tickLabel(n * step),
  }));
  return { ticks, step: (step * 1000) / length, cuts, position: (ms) => shown(ms) / length };
}

/** Time covered by at least one of the stretches. */
export function covered(stretches: readonly Stretch[]): number {
  return union(stretches).reduce((sum, stretch) => sum + stretch.until - stretch.from, 0);
}

/** Waits in which nothing else went on, less what is left of each so that it can be seen. */
function cutsOf(spans: readonly Span[], end: number): Stretch[] {
  const bars = spans.flatMap((span) => span.bars);
  const work = union(bars.filter((bar) => bar.kind !== "wait"));
  const idle = union(bars.filter((bar) => bar.kind === "wait")).flatMap((wait) => without(wait, work));
  const busy = end - covered(idle);
  const kept = Math.max(SHORTEST_CUT_MS, busy / 3);
  return idle
    .filter((wait) => wait.until - wait.from > kept * 1.5)
    .map((wait) => ({ from: wait.from + kept / 2, until: wait.until - kept / 2 }));
}

function union(stretches: readonly Stretch[]): Stretch[] {
  const sorted = stretches.toSorted((a, b) => a.from - b.from);
  const joined: Stretch[] = [];
  for (const { from, until } of sorted) {
    const last = joined.at(-1);
    if (last && from <= last.until) last.until = Math.max(last.until, until);
    else joined.push({ from, until });
  }
  return joined;
}

function without(stretch: Stretch, taken: readonly Stretch[]): Stretch[] {
  const left: Stretch[] = [];
  let { from } = stretch;
  for (const other of taken) {
    if (other.until <= from || other.from >= stretch.until) continue;
    if (other.from > from) left.push({ from, until: other.from });
    from = other.until;
  }
  return from < stretch.until ? [...left, { from, until: stretch.until }] : left;
}

function overlap(a: Stretch, b: Stretch): number {
  return Math.max(0, Math.min(a.until, b.until) - Math.max(a.from, b.from));
}

function tickLabel(seconds: number): string {
  return seconds < 60 ? `${decimal(seconds)}${NBSP}s` : minutes(Math.round(seconds) * 1000);
}
