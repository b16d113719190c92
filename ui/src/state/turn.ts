/** A turn as its events leave it: plain values, replaced rather than changed. */

import type {
  CallDecided,
  CallJudged,
  CallResolved,
  DraftCall,
  InputNeeded,
  Limits,
  ChatMessage,
  ModelFailed,
  ModelReplied,
  Origin,
  Settings,
  ToolCall,
  ToolFinished,
  ToolOutput,
  ToolProgress,
  TurnFinished,
  Waiting,
} from "./events";

/** One sending of a call. `until` is null while it runs. */
export interface Attempt {
  from: number;
  until: number | null;
  interrupted: boolean;
}

export type CallSpec = ToolCall & { arguments: string };
export type CallFinished = ToolFinished & { output: ToolOutput };

export interface Call {
  id: string;
  turnId: string;
  spec: CallSpec;
  judged: CallJudged | null;
  decided: CallDecided | null;
  resolved: CallResolved["how"] | "";
  attempts: readonly Attempt[];
  stopping: boolean;
  /** Whether a person stopped it, or its turn while it was open. */
  stoppedByPerson: boolean;
  progress: ToolProgress | null;
  input: InputNeeded | null;
  inputSent: boolean;
  finished: CallFinished | null;
  askedAt: number;
  finishedAt: number;
}

export interface Round {
  n: number;
  reply: ModelReplied;
  calls: readonly Call[];
  at: number;
}

/** The reply in flight. `lost` is the text of an attempt that broke off, shown grey until new text comes. */
export interface Draft {
  attempt: number;
  text: string;
  reasoning: string;
  calls: readonly DraftCall[];
  lost: string;
  since: number;
  textSince: number;
}

export interface Turn {
  id: string;
  parent: string;
  order: number;
  origin: Origin;
  /** The program that calls over MCP, as it names itself. */
  client: string;
  opening: readonly ChatMessage[];
  blanked: readonly number[];
  settings: Settings;
  limits: Required<Limits>;
  clientMessageId: string;
  startedAt: number;
  claims: number;
  /** The program that drives it. Another one means that Windlass was restarted. */
  driver: string;
  resumedAt: number;
  rounds: readonly Round[];
  draft: Draft | null;
  failures: readonly ModelFailed[];
  stopping: boolean;
  trimmed: string;
  finished: TurnFinished | null;
  finishedAt: number;
  /** The position of its first event; messages are named by positions. */
  firstSeq: number;
  /** The last durable event: its position, for duplicates, and its time. */
  lastSeq: number;
  lastAt: number;
  /** What it waits for, where that lasts; null again with its next event. */
  waiting: Waiting | null;
  /** Time in which nothing could go on without a person's decision. */
  waitedMs: number;
  waitingSince: number;
}

export const DEFAULT_LIMITS: Required<Limits> = {
  rounds: 10,
  calls: 128,
  attempts: 4,
  claims: 3,
  bad_tries: 3,
  repeats: 3,
  work_s: 1800,
  tokens: null,
};

export function callsOf(turn: Turn): Call[] {
  return turn.rounds.flatMap((round) => round.calls);
}

/** Rounds of calls: what the limit counts. A reply without calls is no round of its own. */
export function toolRounds({ rounds }: Pick<Turn, "rounds">): number {
  return rounds.filter((round) => round.calls.length > 0).length;
}

/** The number of the nth reply among the rounds; 0 for one that makes no call, also while it is written. */
export function roundNumber(turn: Turn, n: number): number {
  const reply = turn.rounds[n - 1];
  if (reply) return reply.calls.length > 0 ? toolRounds({ rounds: turn.rounds.slice(0, n) }) : 0;
  const next = toolRounds(turn) + 1;
  const isAnswer = turn.draft?.text && turn.draft.calls.length === 0;
  return turn.finished || isAnswer || next > turn.limits.rounds ? 0 : next;
}

export function isOpen(call: Call): boolean {
  return call.finished === null;
}

export function isRunning(call: Call): boolean {
  const last = call.attempts.at(-1);
  return isOpen(call) && last?.until === null;
}

/** A start was written, an end was not, and the program that began it is gone. */
export function isInterrupted(call: Call): boolean {
  return isOpen(call) && (call.attempts.at(-1)?.interrupted ?? false);
}
