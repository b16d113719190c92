import { Fold, counting, duration, plural, useNow } from "../parts";
import { isMoving, lookOf, roundNumber, spanOf, type Turn } from "../state";
import { useOpen } from "./context";
import { hasFigures } from "./Figures";
import { keptCalls, roundsOf, type Piece, type Run } from "./folding";
import { KeptCalls } from "./KeptCalls";
import { namesOf } from "./steps";

interface Props {
  turn: Turn;
  run: Run;
  line: Extract<Piece, { kind: "run" }>["line"];
  onToggle: (run: number, clicked: Element) => void;
}

/** Rounds that follow each other without a text, as one line that opens; under it what does not fold. */
export function RunView({ turn, run, line, onToggle }: Props) {
  const calls = roundsOf(turn, run).flatMap((round) => round.calls);
  const { failed, waiting } = keptCalls(turn, calls);
  const keeps = line !== "open" && (failed.length + waiting.length > 0 || hasFigures(calls));
  if (line === "none" && !keeps) return null;
  return (
    <div className="round run" data-fold={line === "none" ? undefined : run.from}>
      <span className="n" />
      <div className="body">
        {line !== "none" && <RunLine turn={turn} run={run} open={line === "open"} onToggle={onToggle} />}
        {keeps && <KeptCalls calls={calls} turn={turn} />}
      </div>
    </div>
  );
}

function RunLine({ turn, run, open, onToggle }: Omit<Props, "line"> & { open: boolean }) {
  const { naming } = useOpen();
  const calls = roundsOf(turn, run).flatMap((round) => round.calls);
  const live = calls.some((call) => isMoving(lookOf(call)));
  const now = useNow(live);
  const span = spanOf(calls, now);
  const took = span ? (live ? counting : duration)(span.until - span.from) : "";
  const { failed } = keptCalls(turn, calls);
  const figures = [plural(calls.length, "step"), failed.length > 0 && `${failed.length} failed`, took];
  return (
    <Fold
      icon="parallel"
      title={`${roundsText(turn, run)}: ${figures.filter(Boolean).join(", ")}`}
      first={namesOf(calls, naming)}
      open={open}
      onToggle={(clicked) => onToggle(run.from, clicked)}
    />
  );
}

function roundsText(turn: Turn, { from, to }: Run): string {
  const [first, last] = [roundNumber(turn, from), roundNumber(turn, to)];
  return first === last ? `Round ${first}` : `Rounds ${first} to ${last}`;
}
