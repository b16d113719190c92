/** The reply in flight. An older attempt's words never mix with a newer one's. */

import type { CallDelta, ReasoningDelta, ReplyReset, ReplySoFar, TextDelta } from "./events";
import type { Draft, Turn } from "./turn";

type DraftEvent = TextDelta | ReasoningDelta | CallDelta | ReplyReset | ReplySoFar;

export function onDelta(draft: Draft | null, event: DraftEvent, turn: Turn): Draft | null {
  if (draft && event.attempt < draft.attempt) return draft;
  const at = Date.parse(event.at);
  if (event.type === "reply_so_far") return soFar(event, turn.lastAt);
  const base = draft?.attempt === event.attempt ? draft : begun(event.attempt, at, draft);
  switch (event.type) {
    case "reply_reset":
      return begun(event.attempt, at, draft);
    case "text_delta":
      return { ...base, text: base.text + event.text, lost: "", textSince: base.textSince || at };
    case "reasoning_delta":
      return { ...base, reasoning: base.reasoning + event.text };
    case "call_delta":
      return { ...base, calls: written(base, event), lost: "", textSince: base.textSince || at };
  }
}

function begun(attempt: number, at: number, before: Draft | null): Draft {
  const lost = before?.text || before?.lost || "";
  return { attempt, text: "", reasoning: "", calls: [], lost, since: at, textSince: 0 };
}

function soFar(event: ReplySoFar, since: number): Draft {
  const { attempt, text, reasoning, calls } = event;
  return { attempt, text, reasoning, calls, lost: "", since, textSince: text || calls.length ? since : 0 };
}

function written(draft: Draft, event: CallDelta): Draft["calls"] {
  const known = draft.calls.some((call) => call.index === event.index);
  const calls = known ? draft.calls : [...draft.calls, { index: event.index, name: "", arguments: "" }];
  return calls.map((call) =>
    call.index === event.index
      ? { ...call, name: event.name || call.name, arguments: call.arguments + event.arguments }
      : call,
  );
}
