/** Rows of the log in words, and which of them belong to a span. */

import { duration, tokens } from "../../parts";
import { callsOf, type DurableEvent, type Turn } from "../../state";
import { dotted, type Span } from "./spans";

/** The rows of a call; or those of a round, all its calls included. */
export function rowsOf(span: Span, turn: Turn, log: readonly DurableEvent[]): DurableEvent[] {
  if (span.callId) return log.filter((row) => "call_id" in row && row.call_id === span.callId);
  return log.filter((row) => roundOf(row, turn) === span.round);
}

/** What happens before a reply belongs to the round of that reply, what happens after to the same: it is its doing. */
function roundOf(row: DurableEvent, turn: Turn): number {
  if ("call_id" in row && row.call_id) {
    const { call_id: id } = row;
    return turn.rounds.find((round) => round.calls.some((call) => call.id === id))?.n ?? 0;
  }
  const replies = turn.rounds.filter((round) => round.reply.seq <= row.seq).length;
  const ahead = row.type === "model_failed" || row.type === "history_trimmed";
  return Math.max(1, ahead ? replies + 1 : replies);
}

/** What an event says, in a line. */
export function eventText(row: DurableEvent, turn: Turn): string {
  switch (row.type) {
    case "turn_started":
      return row.opening.at(-1)?.content ?? "";
    case "turn_claimed":
      return `by driver ${row.driver || "?"}, epoch ${row.epoch ?? 0}`;
    case "model_replied":
      return [`${row.calls?.length ?? 0} calls`, `${tokens(row.usage?.completion ?? 0)} tokens`, row.finish]
        .filter(Boolean)
        .join(", ");
    case "model_failed":
      return [row.cause, row.message].filter(Boolean).join(": ");
    case "call_judged":
      return [`${nameOf(row.call_id, turn)} → ${row.verdict}`, row.rule || row.reason]
        .filter(Boolean)
        .join(", ");
    case "call_decided":
      return `${nameOf(row.call_id, turn)} ${row.allow ? `allowed, ${row.scope ?? "once"}` : "denied"}`;
    case "call_resolved":
      return `${nameOf(row.call_id, turn)} as ${row.how}`;
    case "tool_started":
      return nameOf(row.call_id, turn);
    case "tool_finished":
      return [nameOf(row.call_id, turn), row.state, row.cause, duration(row.took_ms ?? 0)]
        .filter(Boolean)
        .join(", ");
    case "stop_requested":
      return row.call_id ? nameOf(row.call_id, turn) : "the turn";
    case "history_trimmed":
      return row.reason ?? "";
    case "turn_finished":
      return [row.outcome, row.message].filter(Boolean).join(": ");
  }
}

function nameOf(callId: string, turn: Turn): string {
  const call = callsOf(turn).find((other) => other.id === callId);
  return call ? dotted(call.spec.name) : callId;
}
