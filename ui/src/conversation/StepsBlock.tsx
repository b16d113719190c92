import { useEffect, useRef, useState, type RefObject } from "react";

import { inspect } from "../app/router";
import { Button, Icon, Tag, counting, duration, plural, useNow, type IconName } from "../parts";
import { callsOf, phaseOf, spanOf, toolRounds, workedMs, type Phase, type Turn } from "../state";
import { useOpen, useTurnFolds } from "./context";
import { ALL } from "./folding";
import { failedSteps, namesOf, newestLine, nowText, ticksOf } from "./steps";
import { stop } from "./stop";
import { TickStrip } from "./TickStrip";

interface Props {
  turn: Turn;
  /** Every step is shown as a row below it. */
  open: boolean;
  onToggle: (run: number, clicked: Element) => void;
}

/**
 * The steps of a long turn in a box that never changes its height: what it does now, a tick for each step, the newest
 * line. It sticks to the top while the turn lives; at the end it is the turn's summary, in the same place.
 */
export function StepsBlock({ turn, open, onToggle }: Props) {
  const { naming } = useOpen();
  const { showCall } = useTurnFolds();
  const box = useRef<HTMLElement>(null);
  const live = turn.finished === null;
  const sticks = useSticking(box, live);
  const toggle = () => box.current && onToggle(ALL, box.current);
  const classes = ["steps-block", live && "live", sticks && "sticks"].filter(Boolean).join(" ");
  return (
    <section className={classes} aria-label="Steps" aria-live="off" ref={box}>
      {!live && <RoundsButton turn={turn} />}
      {live ? (
        <LiveLine turn={turn} open={open} onToggle={toggle} />
      ) : (
        <SummaryLine turn={turn} open={open} onToggle={toggle} />
      )}
      <TickStrip ticks={ticksOf(turn, naming)} onOpen={showCall} onOpenAll={toggle} />
      <p className="newest cut">{live ? newestLine(turn, naming) : namesOf(callsOf(turn), naming)}</p>
    </section>
  );
}

interface LineProps {
  turn: Turn;
  open: boolean;
  onToggle: () => void;
}

function LiveLine({ turn, open, onToggle }: LineProps) {
  const { store, naming } = useOpen();
  const phase = phaseOf(turn);
  const now = useNow(phase.kind !== "waiting");
  const failed = failedSteps(turn);
  return (
    <div className="steps-top">
      <button type="button" className="steps-toggle" aria-expanded={open} onClick={onToggle}>
        <Icon name={ICONS[phase.kind] ?? "run"} className={phase.kind === "waiting" ? "warn" : "accent"} />
        <strong className="cut">{nowText(turn, phase, naming)}</strong>
      </button>
      <span className="steps-figures">
        <span>{plural(callsOf(turn).length, "step")}</span>
        {failed > 0 && <span className="bad">{failed} failed</span>}
        <span>{counting(workedMs(turn, now))}</span>
      </span>
      <Button small icon="stop" disabled={turn.stopping} onClick={() => stop(store, turn.id)}>
        Stop
      </Button>
    </div>
  );
}

const ICONS: Partial<Record<Phase["kind"], IconName>> = {
  waiting: "person",
  queued: "queued",
  calling: "write",
};

function SummaryLine({ turn, open, onToggle }: LineProps) {
  const calls = callsOf(turn);
  const failed = failedSteps(turn);
  const span = spanOf(calls, turn.finishedAt);
  return (
    <div className="steps-top">
      <button type="button" className="steps-toggle" aria-expanded={open} onClick={onToggle}>
        <Icon name="parallel" />
        <strong className="cut">
          {plural(calls.length, "step")} in {plural(toolRounds(turn), "round")}
        </strong>
        {failed > 0 && (
          <Tag tone="bad" icon="fail">
            {failed} failed
          </Tag>
        )}
        <span className="grow" />
        <span className="steps-figures">
          {span && duration(Math.max(0, span.until - span.from - turn.waitedMs))}
        </span>
        <Icon name={open ? "down" : "right"} className="chev" />
      </button>
    </div>
  );
}

/** On the rail, as a round has its number. */
function RoundsButton({ turn }: { turn: Turn }) {
  const rounds = toolRounds(turn);
  return (
    <button
      type="button"
      className="n"
      aria-label={`Rounds 1 to ${rounds}, open in the inspector`}
      title="Open in the inspector"
      onClick={() => inspect(turn.id)}
    >
      {rounds > 1 ? `1–${rounds}` : rounds}
    </button>
  );
}

const STUCK_PX = 9; // its distance from the top where it sticks, and a little

/** While the turn lives; and then until it stands in its own place or its turn is out of view, so that it never jumps. */
function useSticking(box: RefObject<HTMLElement | null>, live: boolean): boolean {
  const [sticks, setSticks] = useState(live);
  if (live && !sticks) setSticks(true);
  const ending = sticks && !live;
  useEffect(() => {
    const scroller = box.current?.closest(".scroll");
    if (!ending || !scroller) return;
    const look = () => {
      const { top } = scroller.getBoundingClientRect();
      const own = box.current?.getBoundingClientRect().top ?? 0;
      const end = box.current?.closest(".turn")?.getBoundingClientRect().bottom ?? 0;
      if (own - top > STUCK_PX || end < top) setSticks(false);
    };
    look();
    scroller.addEventListener("scroll", look, { passive: true });
    return () => scroller.removeEventListener("scroll", look);
  }, [box, ending]);
  return sticks;
}
