import { Banner, Button, plural, useNow } from "../parts";
import type { Turn, Waiting } from "../state";
import { useOpen } from "./context";
import { stop } from "./stop";
import { nameCall, type Naming } from "./toolbox";

/** What a turn waits for. The reason is spoken once, its seconds never. */
export function WaitingLine({ turn, waiting }: { turn: Turn; waiting: Waiting }) {
  const { store, naming } = useOpen();
  const now = useNow(true);
  const { reason, time } = waitingText(waiting, turn, naming, now);
  return (
    <div className="turn-line">
      <Banner
        icon="run"
        actions={
          <Button small onClick={() => stop(store, turn.id)}>
            Stop
          </Button>
        }
      >
        <strong role="status">{reason}</strong> <span aria-hidden="true">{time}</span>
      </Banner>
    </div>
  );
}

interface WaitingText {
  reason: string;
  /** What counts up or down. */
  time: string;
}

export function waitingText(waiting: Waiting, turn: Turn, naming: Naming, now: number): WaitingText {
  const model = waiting.model ?? waiting.host ?? "the model";
  const lasted = seconds(now - Date.parse(waiting.since));
  const left = waiting.until ? seconds(Date.parse(waiting.until) - now) : "";
  const ahead = waiting.ahead ? `${plural(waiting.ahead, "turn")} ahead.` : "";
  const givesUp = left && ` Gives up in ${left}.`;
  switch (waiting.for) {
    case "slot":
      return {
        reason: waiting.host ? `Waiting for a free slot at ${waiting.host}.` : "Waiting for a free slot.",
        time: ahead,
      };
    case "rate_limit":
      return {
        reason: `${model} is rate-limited.`,
        time: [retry(waiting, left), ahead].filter(Boolean).join(" "),
      };
    case "first_token":
      return {
        reason: `Waiting for ${model}.`,
        time: `${lasted}.${waiting.usual_s ? ` Usually ${waiting.usual_s}\u00a0s.` : ""}`,
      };
    case "silence":
      return { reason: `No text from ${model}.`, time: `For ${lasted}.${givesUp}` };
    case "server":
      return { reason: `Starting ${waiting.server ?? "a server"}.`, time: `${lasted}.` };
    case "tool":
      return {
        reason: `No progress from ${toolOf(waiting, turn, naming)}.`,
        time: `For ${lasted}.${givesUp}`,
      };
    case "sign_in":
      return {
        reason: `${waiting.server ?? "A server"} needs you to sign in.`,
        time: "Calls are waiting, nothing is lost.",
      };
    case "person":
      return { reason: "Waiting for your decision.", time: "" };
    case "budget":
      return { reason: "Stopped at your budget.", time: "" };
  }
}

function retry({ attempt, attempts }: Waiting, left: string): string {
  if (attempt) return `Retrying${left && ` in ${left}`} (${attempt} of ${attempts}).`;
  return left && `Asking in ${left}.`;
}

function toolOf({ call_id, server }: Waiting, turn: Turn, naming: Naming): string {
  const call = turn.rounds.flatMap((round) => round.calls).find((one) => one.id === call_id);
  return call ? nameCall(naming, call).title : (server ?? "a tool");
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1000))}\u00a0s`;
}
