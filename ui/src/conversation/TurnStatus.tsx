import { Icon, counting, useNow } from "../parts";
import { phaseOf, workedMs, type Turn } from "../state";
import { PHASES } from "./steps";

/**
 * The last line of a turn that waits for its next reply. It stands where that reply will begin; what is drawn of
 * itself, a running call, a thought or a text, needs no line beneath it that would be pushed along.
 */
export function TurnStatus({ turn }: { turn: Turn }) {
  const { kind } = phaseOf(turn);
  const now = useNow(true);
  if (kind !== "asking" && kind !== "queued" && kind !== "stopping") return null;
  if (turn.waiting && !turn.stopping) return null; // the line above says for what
  return (
    <p className="turn-status">
      <Icon name={kind === "queued" ? "queued" : "run"} />
      <span>{PHASES[kind]}</span>
      <span className="dim">{counting(workedMs(turn, now))}</span>
    </p>
  );
}
