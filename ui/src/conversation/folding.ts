/**
 * What of a turn is drawn in full, and what is folded.
 *
 * A short turn is its rounds, as rows. A turn that grows longer gets a block of its steps at its end; from there on the
 * steps are ticks in that block, and under it stand texts, failures and what waits for a person. A round that is out of
 * view folds as soon as the next one has begun. Nothing folds in view.
 */

import { isFailure, lookOf, needsPerson, type Call, type Round, type Turn } from "../state";

const SHORT_ROUNDS = 2;
const SHORT_CALLS = 5;

/** What was folded because nobody saw it, and what was opened by hand. Rounds by their number, runs by that of their first. */
export interface Folds {
  folded: ReadonlySet<number>;
  opened: ReadonlySet<number>;
}

/** In `opened`: every step of the turn. */
export const ALL = 0;

/** Rounds in a row without a text between them; the first may begin with one. */
export interface Run {
  from: number;
  to: number;
}

export type Piece =
  | {
      kind: "round";
      n: number;
      part: "all" | "text" | "calls";
      calls: "rows" | "folded" | "kept";
      fold: number;
    }
  | { kind: "block" }
  | { kind: "run"; run: Run; line: "open" | "folded" | "none" };

/** The reply with which the turn became a long one: the block stands before its calls. 0 while the turn is short. */
export function blockRound({ rounds }: Pick<Turn, "rounds">): number {
  let made = 0;
  let calls = 0;
  for (const round of rounds) {
    if (round.calls.length === 0) continue;
    made += 1;
    calls += round.calls.length;
    if (made > SHORT_ROUNDS || calls > SHORT_CALLS) return round.n;
  }
  return 0;
}

/** The runs from the block on, each as long as no reply begins with a text. */
export function runsOf({ rounds }: Pick<Turn, "rounds">, block: number): Run[] {
  const runs: Run[] = [];
  for (const round of rounds.slice(block - 1)) {
    if (round.calls.length === 0) continue;
    const run = runs.at(-1);
    if (run && !round.reply.text) run.to = round.n;
    else runs.push({ from: round.n, to: round.n });
  }
  return runs;
}

/** From top to bottom. */
export function piecesOf(turn: Turn, folds: Folds): Piece[] {
  const block = blockRound(turn);
  return block === 0 ? shortTurn(turn, folds) : longTurn(turn, block, folds);
}

function shortTurn(turn: Turn, { folded }: Folds): Piece[] {
  const last = turn.rounds.length + (isWriting(turn) ? 1 : 0);
  return numbers(1, last).map((n) => whole(n, folded.has(n) ? "folded" : "rows"));
}

function longTurn(turn: Turn, block: number, folds: Folds): Piece[] {
  const all = folds.opened.has(ALL);
  const lead = numbers(1, block - 1).map((n) => whole(n, all || !folds.folded.has(n) ? "rows" : "kept"));
  const last = turn.rounds.at(-1);
  const answer =
    last?.calls.length === 0 ? last.n : turn.draft?.text || turn.draft?.lost ? turn.rounds.length + 1 : 0;
  return [
    ...lead,
    ...textOf(turn, block, block),
    { kind: "block" },
    ...joined(runsOf(turn, block).flatMap((run) => piecesOfRun(turn, run, block, folds))),
    ...(answer ? [whole(answer, "rows")] : []),
  ];
}

/** Runs without a line that follow each other are one: their failures share a box. */
function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    const before = all.at(-1);
    if (isBare(piece) && before && isBare(before))
      all[all.length - 1] = { ...before, run: { from: before.run.from, to: piece.run.to } };
    else all.push(piece);
  }
  return all;
}

function isBare(piece: Piece): piece is Extract<Piece, { kind: "run" }> {
  return piece.kind === "run" && piece.line === "none";
}

function piecesOfRun(turn: Turn, run: Run, block: number, { folded, opened }: Folds): Piece[] {
  const { from, to } = run;
  const first = from === block; // its text stands above the block, and the block is its line
  const rest = numbers(from + 1, to).map((n) => whole(n, "rows"));
  if (opened.has(ALL) || (first && opened.has(from)))
    return [first ? callsOnly(from) : whole(from, "rows"), ...rest];
  if (first) return [{ kind: "run", run, line: "none" }];
  const text = textOf(turn, from, from);
  if (opened.has(from)) return [...text, { kind: "run", run, line: "open" }, callsOnly(from), ...rest];
  return folded.has(from)
    ? [{ kind: "run", run, line: "none" }]
    : [...text, { kind: "run", run, line: "folded" }];
}

function whole(n: number, calls: "rows" | "folded" | "kept"): Piece {
  return { kind: "round", n, part: "all", calls, fold: n };
}

function callsOnly(n: number): Piece {
  return { kind: "round", n, part: "calls", calls: "rows", fold: n };
}

function textOf({ rounds }: Turn, n: number, fold: number): Piece[] {
  const { text, reasoning, blanked } = rounds[n - 1]?.reply ?? {};
  return text || reasoning || blanked ? [{ kind: "round", n, part: "text", calls: "rows", fold }] : [];
}

/** What may fold once it is out of view: all that another reply has followed, or the end. */
export function foldable(turn: Turn): number[] {
  const block = blockRound(turn);
  const over = turn.finished !== null || turn.draft !== null;
  const made = turn.rounds.filter((round) => round.calls.length > 0);
  const starts = [
    ...made.filter(({ n }) => block === 0 || n < block).map(({ n }) => n),
    ...(block > 0 ? runsOf(turn, block).map(({ from }) => from) : []),
  ];
  const begun = turn.rounds.at(-1)?.calls.length === 0 || over;
  return begun ? starts : starts.slice(0, -1);
}

/** As a turn stands when it is opened: what had passed by then was never in view. */
export function foldsAtFirst(turn: Turn): Folds {
  return { folded: new Set(foldable(turn)), opened: new Set() };
}

/** What stays to be seen of calls that are folded: those that did not work, and those that wait for a person. */
export function keptCalls(turn: Turn, calls: readonly Call[]): { failed: Call[]; waiting: Call[] } {
  return {
    failed: calls.filter((call) => isFailure(lookOf(call))),
    waiting: turn.finished ? [] : calls.filter((call) => needsPerson(lookOf(call))),
  };
}

/** The run or the round whose opening shows this reply. */
export function foldOf(turn: Turn, n: number): number {
  const block = blockRound(turn);
  if (block === 0 || n < block) return n;
  return runsOf(turn, block).find(({ from, to }) => from <= n && n <= to)?.from ?? n;
}

export function roundsOf({ rounds }: Turn, { from, to }: Run): Round[] {
  return rounds.slice(from - 1, to);
}

/** Whether the reply in flight has anything to show. */
export function isWriting({ draft }: Turn): boolean {
  return Boolean(draft && (draft.text || draft.reasoning || draft.calls.length || draft.lost));
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
