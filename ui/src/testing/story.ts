/** What happened in a turn, in neutral terms, as the page's state has it: `tests/golden/story.py` makes the same. */

import {
  argumentsOf,
  callsOf,
  lookOf,
  phaseOf,
  sourcesOf,
  usageOf,
  waitingCalls,
  type Call,
  type Look,
  type Turn,
} from "../state";

export type Story = ReturnType<typeof storyOf>;

const KINDS: Partial<Record<Look, string>> = { waiting: "approval", unknown: "unknown", asked: "input" };

export function storyOf(turn: Turn) {
  const { prompt, completion } = usageOf(turn);
  return {
    id: turn.id,
    parent: turn.parent || null,
    origin: turn.origin,
    state: stateOf(turn),
    outcome: turn.finished?.outcome ?? null,
    error: errorOf(turn),
    rounds: turn.rounds.filter((round) => round.calls.some((call) => call.attempts.length > 0)).length,
    usage: [prompt, completion],
    calls: callsOf(turn).map(callStory),
    pending: waitingCalls(turn).map((call) => ({ call_id: call.id, kind: KINDS[lookOf(call)] })),
    sources: sourcesOf(turn).map(({ n, title, url }) => ({ n, title, url })),
    messages: messagesOf(turn),
  };
}

function stateOf(turn: Turn): string {
  const { kind } = phaseOf(turn);
  if (kind === "finished") return kind;
  return kind === "waiting" ? "awaiting_person" : "running";
}

function errorOf({ finished }: Turn) {
  if (finished?.outcome !== "failed" && finished?.outcome !== "limit") return null;
  return { code: finished.cause, message: finished.message };
}

function callStory(call: Call) {
  return {
    id: call.id,
    name: call.spec.name,
    arguments: argumentsOf(call),
    state: call.finished?.state ?? openState(lookOf(call)),
    cause: call.finished?.cause ?? "",
    result: call.finished?.output.text ?? null,
  };
}

function openState(look: Look): string {
  if (look === "waiting") return "awaiting_approval";
  if (look === "asked" || look === "again" || look === "running") return "running";
  return look;
}

function messagesOf(turn: Turn) {
  const opening = turn.opening.map(({ role, content }) => ({ role, content }));
  const replies = turn.rounds.flatMap(({ reply, calls }) => [
    { role: "assistant", content: reply.text || null },
    ...calls.filter((call) => call.finished).map((call) => ({ role: "tool", call_id: call.id })),
  ]);
  const lost = turn.finished ? turn.draft?.lost : "";
  return [...opening, ...replies, ...(lost ? [{ role: "assistant", content: lost }] : [])];
}
