import { useEffect, useState } from "react";

import { serverNow } from "../parts";
import { spoken } from "./announce";
import { useOpen } from "./context";

const LATE_MS = 3000;

/** Says what changed since the page was opened; the past is not read out. */
export function Announcer() {
  const { store, naming } = useOpen();
  const [words, setWords] = useState("");
  useEffect(() => {
    const openedAt = serverNow() - LATE_MS;
    return store.onDurable((events, state) => {
      const fresh = events.filter((event) => Date.parse(event.at) > openedAt);
      const lines = spoken(fresh, state, naming).filter(Boolean);
      if (lines.length > 0) setWords(lines.join(". "));
    });
  }, [store, naming]);
  return (
    <div className="vh" role="status" aria-live="polite">
      {words}
    </div>
  );
}
