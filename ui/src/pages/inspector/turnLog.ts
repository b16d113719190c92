/** The log of one turn: read once, then watched until it ends. */

import { useEffect, useState } from "react";

import { Stream, turns, errorText } from "../../api";
import { EMPTY, applyAll, decode, isDurable, type DurableEvent, type Event, type Turn } from "../../state";

export interface TurnLog {
  turn: Turn | null;
  rows: readonly DurableEvent[];
  error: string;
}

const NOTHING: TurnLog = { turn: null, rows: [], error: "" };

/** `again` reads one anew that could not be read. */
export function useTurnLog(turnId: string): TurnLog & { again: () => void } {
  const [read, setRead] = useState({ turnId: "", log: NOTHING });
  const [tries, setTries] = useState(0);
  useEffect(() => watch(turnId, (log) => setRead({ turnId, log })), [turnId, tries]);
  const log = read.turnId === turnId ? read.log : NOTHING;
  return { ...log, again: () => setTries(tries + 1) };
}

function watch(turnId: string, show: (log: TurnLog) => void): () => void {
  let state = EMPTY;
  let rows: DurableEvent[] = [];
  let stream: Stream | null = null;
  let closed = false;

  const take = (events: readonly Event[]) => {
    const last = rows.at(-1)?.seq ?? -1;
    rows = [...rows, ...events.filter(isDurable).filter((event) => event.seq > last)];
    state = applyAll(state, events);
    const turn = state.turns.get(turnId) ?? null;
    show({ turn, rows, error: "" });
    if (turn?.finished) stream?.close();
  };
  const follow = () => {
    if (closed || state.turns.get(turnId)?.finished) return;
    stream = new Stream(`/turns/${encodeURIComponent(turnId)}/events`, {
      events: take,
      link: () => undefined,
      skew: () => undefined,
    });
  };

  turns.log(turnId).then(
    ({ events }) => {
      if (closed) return;
      take(events.flatMap((row) => decode(String(row.event ?? row.type), row, Date.now()) ?? []));
      follow();
    },
    (error: unknown) => !closed && show({ ...NOTHING, error: errorText(error) }),
  );
  return () => {
    closed = true;
    stream?.close();
  };
}
