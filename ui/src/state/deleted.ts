/** Messages by the ids the server gives them, and a turn without some of them. */

import type { Call, Round, Turn } from "./turn";

/** `msg-` and the turn's own letters, then the position in its log; `part` counts messages that began it together. */
export function messageId(turn: Turn, seq: number, part = 0): string {
  const position = part > 0 ? `${seq}.${part}` : String(seq);
  return `msg-${turn.id.slice(turn.id.indexOf("-") + 1)}-${position}`;
}

export function withoutMessages(turn: Turn, ids: readonly string[]): Turn {
  const gone = new Set(ids);
  const parts = turn.opening.map((_, part) => part);
  return {
    ...turn,
    blanked: parts.filter(
      (part) => turn.blanked.includes(part) || gone.has(messageId(turn, turn.firstSeq, part)),
    ),
    opening: turn.opening.map((message, part) =>
      gone.has(messageId(turn, turn.firstSeq, part)) ? { role: message.role, content: "" } : message,
    ),
    rounds: turn.rounds.map((round) => (gone.has(messageId(turn, round.reply.seq)) ? blank(round) : round)),
  };
}

function blank(round: Round): Round {
  const reply = { ...round.reply, text: "", reasoning: "", raw: "", sources: [], blanked: true };
  return { ...round, reply, calls: round.calls.map(blankCall) };
}

function blankCall(call: Call): Call {
  const spec = { ...call.spec, arguments: "{}", raw: "" };
  const finished = call.finished && { ...call.finished, output: { text: "" }, blanked: true };
  return { ...call, spec, finished };
}
