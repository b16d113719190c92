/** One event on one call. */

import type {
  CallDecided,
  CallJudged,
  CallResolved,
  InputNeeded,
  StopRequested,
  ToolFinished,
  ToolProgress,
  ToolStarted,
  RequestSent,
} from "./events";
import { isInterrupted, isOpen, type Attempt, type Call } from "./turn";

type CallEvent =
  | CallJudged
  | CallDecided
  | CallResolved
  | ToolStarted
  | ToolFinished
  | StopRequested
  | ToolProgress
  | InputNeeded
  | RequestSent;

export function onCall(call: Call, event: CallEvent, at: number): Call {
  switch (event.type) {
    case "call_judged":
      return { ...call, judged: event };
    case "call_decided":
      return call.decided || call.judged?.verdict !== "ask" ? call : { ...call, decided: event };
    case "call_resolved":
      return isInterrupted(call) ? { ...call, resolved: event.how } : call;
    case "tool_started":
      return { ...call, attempts: [...call.attempts, begun(at)], resolved: "", progress: null };
    case "tool_finished":
      return finished(call, event, at);
    case "stop_requested":
      return { ...stopAsked(call, event), stopping: true };
    case "stop_sent":
      return { ...call, stopping: true };
    case "stop_unsent":
      return { ...call, stopping: false };
    case "tool_progress":
      return { ...call, progress: event };
    case "input_needed":
      return { ...call, input: event, inputSent: false };
    case "input_sent":
      return event.asked_at === call.input?.at ? { ...call, inputSent: true } : call;
  }
}

/** The clock of a turn, a defect and a caller who hung up stop calls too. */
export function stopAsked(call: Call, { by = "person" }: StopRequested): Call {
  return isOpen(call) ? { ...call, stoppedByPerson: by === "person" } : call;
}

function begun(at: number): Attempt {
  return { from: at, until: null, interrupted: false };
}

function finished(call: Call, event: ToolFinished, at: number): Call {
  const attempts = call.attempts.map((attempt) =>
    attempt.until === null ? { ...attempt, until: at } : attempt,
  );
  const finished = { ...event, output: event.output ?? { text: "" } };
  return { ...call, attempts, finished, finishedAt: at, input: null, progress: null, stopping: false };
}
