/** What a turn does now, its time, its tokens and its sources. */

import type { SourceLink, Usage } from "./events";
import { lookOf, waitingCalls } from "./looks";
import { wholeSentences } from "./sentences";
import { callsOf, isOpen, type Turn } from "./turn";

export type Phase =
  | { kind: "finished" }
  | { kind: "stopping" }
  | { kind: "waiting"; calls: number; approvals: number }
  | { kind: "tools"; calls: number }
  | { kind: "retrying" }
  | { kind: "thinking" }
  | { kind: "writing" }
  | { kind: "calling" }
  | { kind: "asking" }
  | { kind: "queued" };

export function phaseOf(turn: Turn): Phase {
  if (turn.finished) return { kind: "finished" };
  if (turn.stopping) return { kind: "stopping" };
  const waiting = waitingCalls(turn);
  const approvals = waiting.filter((call) => lookOf(call) === "waiting").length;
  if (waiting.length > 0) return { kind: "waiting", calls: waiting.length, approvals };
  const open = callsOf(turn).filter(isOpen).length;
  if (open > 0) return { kind: "tools", calls: open };
  return turn.claims === 0 ? { kind: "queued" } : replyPhase(turn);
}

function replyPhase(turn: Turn): Phase {
  const { draft } = turn;
  if (draft?.calls.length) return { kind: "calling" };
  if (draft?.text) return { kind: "writing" };
  if (draft?.reasoning) return { kind: "thinking" };
  return { kind: turn.failures.length > 0 ? "retrying" : "asking" };
}

/** Time of work: waits for a person are shown elsewhere and not counted. */
export function workedMs(turn: Turn, now: number): number {
  const until = turn.finished ? turn.finishedAt : now;
  const waiting = turn.waitingSince ? until - turn.waitingSince : 0;
  return Math.max(0, until - turn.startedAt - turn.waitedMs - waiting);
}

export function usageOf(turn: Turn): Required<Usage> {
  const total = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
  for (const { reply } of turn.rounds) {
    total.prompt += reply.usage?.prompt ?? 0;
    total.completion += reply.usage?.completion ?? 0;
    total.cached += reply.usage?.cached ?? 0;
    total.reasoning += reply.usage?.reasoning ?? 0;
  }
  return total;
}

/** What the last request held: the size of the conversation as the model saw it. */
export function contextTokens(turn: Turn | undefined): number {
  const last = turn?.rounds.at(-1)?.reply.usage;
  return (last?.prompt ?? 0) + (last?.completion ?? 0);
}

export interface NumberedSource extends SourceLink {
  n: number;
  callId: string;
}

/** In the order of the numbers the model was given: by round, then by call, each address once. */
export function sourcesOf(turn: Turn): NumberedSource[] {
  const first = new Map<string, NumberedSource>();
  const add = (source: SourceLink, callId: string) => {
    if (!first.has(source.url)) first.set(source.url, { ...source, n: first.size + 1, callId });
  };
  for (const round of turn.rounds) {
    for (const source of round.reply.sources ?? []) add(source, "");
    for (const call of round.calls)
      for (const source of call.finished?.output.sources ?? []) add(source, call.id);
  }
  return [...first.values()];
}

/** The answer: the text of the last round, or of the reply in flight. */
export function answerOf(turn: Turn): string {
  return turn.draft?.text || (turn.rounds.at(-1)?.reply.text ?? "");
}

const LONGEST_REASON = 300;
const NO_SEARCH = "The web search failed.";

/** Why an answer that was to come from the web does not, as the server's `message` says it; "" where it does or need not. */
export function searchProblem(turn: Turn): string {
  const { search = "off", query = "" } = turn.settings;
  const searches = callsOf(turn).filter((call) => call.spec.name === "web_search");
  const searched = searches.some((call) => lookOf(call) === "done") || sourcesOf(turn).length > 0;
  if (!query || searched || turn.finished?.outcome !== "answered") return "";
  if (search === "off") return "Web search is off, so no search was made.";
  const text = searches.at(-1)?.finished?.output.text ?? "";
  const why = text.replace(NO_SEARCH, "").split("Do not make up results")[0] ?? "";
  return `${NO_SEARCH} ${wholeSentences(why, LONGEST_REASON)}`.trim();
}

/**
 * How long the model reasoned, in ms. Only the whole reply is timed, so the part is estimated from the share of
 * tokens, or of characters where the provider does not count them.
 */
export function thoughtMs(reply: {
  took_ms?: number;
  reasoning?: string;
  text: string;
  usage?: Usage;
}): number {
  const { took_ms: took = 0, reasoning = "", text, usage } = reply;
  const { reasoning: reasoned = 0, completion = 0 } = usage ?? {};
  const share =
    reasoned > 0 && completion >= reasoned
      ? reasoned / completion
      : reasoning.length / Math.max(1, reasoning.length + text.length);
  return took * share;
}
