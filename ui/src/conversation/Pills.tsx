import { useEffect, useState, type RefObject } from "react";

import { Button } from "../parts";
import { waitingCalls, type Turn } from "../state";

interface Props {
  scroller: RefObject<HTMLDivElement | null>;
  last: Turn | undefined;
  atEnd: boolean;
  toEnd: () => void;
  /** Escape was pressed once. */
  stopAsked: boolean;
}

/** What is out of sight below: cards that wait, and the end of the thread; and what a second Escape does. */
export function Pills({ scroller, last, atEnd, toEnd, stopAsked }: Props) {
  const waiting = last ? waitingCalls(last).length : 0;
  const below = useCardBelow(scroller, waiting);
  const toCard = () => {
    const card = cardBelow(scroller.current);
    card?.scrollIntoView({ block: "start" });
    card?.focus({ preventScroll: true });
  };
  if (atEnd && !below && !stopAsked) return null;
  return (
    <div className="pills">
      {stopAsked && (
        <span className="pill-note" role="status">
          Press Esc again to stop
        </span>
      )}
      {below && (
        <Button small className="pill-in" icon="down" onClick={toCard}>
          {waiting === 1 ? "1 call needs you below" : `${waiting} calls need you below`}
        </Button>
      )}
      {!atEnd && (
        <Button small className="pill-in" icon="down" onClick={toEnd}>
          Latest
        </Button>
      )}
    </div>
  );
}

function useCardBelow(scroller: RefObject<HTMLDivElement | null>, waiting: number): boolean {
  const [below, setBelow] = useState(false);
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const look = () => setBelow(waiting > 0 && cardBelow(box) !== undefined);
    const frame = requestAnimationFrame(look);
    box.addEventListener("scroll", look, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      box.removeEventListener("scroll", look);
    };
  }, [scroller, waiting]);
  return below;
}

/** The first card whose head is under the lower edge of the window. */
function cardBelow(box: HTMLElement | null): HTMLElement | undefined {
  if (!box) return undefined;
  const edge = box.getBoundingClientRect().bottom;
  return [...box.querySelectorAll<HTMLElement>("[data-waits]")].find(
    (card) => card.getBoundingClientRect().top > edge - 40,
  );
}
