/** What is said aloud: changes of state, once each, parallel calls summed. Tokens and timers are silent. */

import {
  callsOf,
  lookOf,
  isFailure,
  sourcesOf,
  type Conversation,
  type DurableEvent,
  type ToolFinished,
  type TurnFinished,
} from "../state";
import { blockRound } from "./folding";
import { nameCall, type Naming } from "./toolbox";

export function spoken(
  events: readonly DurableEvent[],
  conversation: Conversation,
  naming: Naming,
): string[] {
  return [
    ...started(events, conversation, naming),
    ...waiting(events, conversation, naming),
    ...ended(events, conversation, naming),
    ...events.filter((event) => event.type === "turn_finished").map((event) => finished(event, conversation)),
  ];
}

/** The steps of a long turn are not read out one by one: its figures are, now and then. */
function isShort(turnId: string, conversation: Conversation): boolean {
  const turn = conversation.turns.get(turnId);
  return !turn || blockRound(turn) === 0;
}

function started(events: readonly DurableEvent[], conversation: Conversation, naming: Naming): string[] {
  const begun = events.filter(
    (event) => event.type === "tool_started" && isShort(event.turn_id, conversation),
  );
  if (begun.length === 0) return [];
  if (begun.length > 1) return [`${begun.length} tools running`];
  return begun.map(
    (event) =>
      `Running ${titleOf(event.turn_id, "call_id" in event ? (event.call_id ?? "") : "", conversation, naming)}`,
  );
}

function waiting(events: readonly DurableEvent[], conversation: Conversation, naming: Naming): string[] {
  const asked = events.filter((event) => event.type === "call_judged" && event.verdict === "ask");
  return asked.flatMap((event) =>
    "call_id" in event && event.call_id
      ? `${titleOf(event.turn_id, event.call_id, conversation, naming)} needs your approval`
      : [],
  );
}

/** One call by its name; a group when its last call has ended. */
function ended(events: readonly DurableEvent[], conversation: Conversation, naming: Naming): string[] {
  return events
    .filter((event): event is ToolFinished => event.type === "tool_finished")
    .filter((event) => isShort(event.turn_id, conversation))
    .flatMap((event) => {
      const round = conversation.turns
        .get(event.turn_id)
        ?.rounds.find((one) => one.calls.some((call) => call.id === event.call_id));
      const calls = round?.calls ?? [];
      if (calls.length > 1) {
        const last =
          calls.every((call) => call.finished) &&
          calls.every((call) => (call.finished?.seq ?? 0) <= event.seq);
        return last ? [summed(calls.map((call) => isFailure(lookOf(call))))] : [];
      }
      return event.state === "error"
        ? [`${titleOf(event.turn_id, event.call_id, conversation, naming)} failed`]
        : [];
    });
}

function summed(failures: boolean[]): string {
  const failed = failures.filter(Boolean).length;
  const done = `${failures.length - failed} done`;
  return failed > 0 ? `${done}, ${failed} failed` : done;
}

function finished(event: TurnFinished, conversation: Conversation): string {
  const turn = conversation.turns.get(event.turn_id);
  const sources = turn ? sourcesOf(turn).length : 0;
  switch (event.outcome) {
    case "answered":
      return sources > 0 ? `Answer complete, ${sources} sources` : "Answer complete";
    case "stopped":
      return "Stopped";
    case "limit":
      return "Stopped at a limit";
    case "failed":
      return `Failed. ${event.message ?? ""}`;
    default:
      return "";
  }
}

function titleOf(turnId: string, callId: string, conversation: Conversation, naming: Naming): string {
  const turn = conversation.turns.get(turnId);
  const call = turn && callsOf(turn).find((one) => one.id === callId);
  return call ? nameCall(naming, call).title : "A tool";
}
