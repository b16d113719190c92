import { useEffect, useState } from "react";

import { serverNow } from "../parts";
import { spoken } from "./announce";
import { useOpen } from "./context";
import { blockRound } from "./folding";
import { stepsAloud } from "./steps";

const LATE_MS = 3000;
const STEPS_EVERY_MS = 20_000;

/** Says what changed since the page was opened; the past is not read out. */
export function Announcer() {
  const { store, naming } = useOpen();
  const [words, setWords] = useState("");
  useEffect(() => {
    const openedAt = serverNow() - LATE_MS;
    let stepsAt = serverNow();
    return store.onDurable((events, state) => {
      const fresh = events.filter((event) => Date.parse(event.at) > openedAt);
      const lines = spoken(fresh, state, naming).filter(Boolean);
      const long = [...state.turns.values()].find((turn) => !turn.finished && blockRound(turn) > 0);
      if (long && serverNow() - stepsAt >= STEPS_EVERY_MS) {
        stepsAt = serverNow();
        lines.push(stepsAloud(long));
      }
      if (lines.length > 0) setWords(lines.join(". "));
    });
  }, [store, naming]);
  return (
    <div className="vh" role="status" aria-live="polite">
      {words}
    </div>
  );
}
