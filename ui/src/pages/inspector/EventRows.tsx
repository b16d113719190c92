import { useState } from "react";

import { CopyButton, Icon, duration } from "../../parts";
import type { DurableEvent, Turn } from "../../state";
import { JsonText } from "./JsonText";
import { eventText } from "./rows";

/** The rows of the log, as written. */
export function EventRows({ rows, turn }: { rows: readonly DurableEvent[]; turn: Turn }) {
  if (rows.length === 0) return <p className="dim">Nothing is recorded yet.</p>;
  return (
    <div className="msgs events">
      {rows.map((row) => (
        <EventRow key={row.seq} row={row} turn={turn} />
      ))}
    </div>
  );
}

function EventRow({ row, turn }: { row: DurableEvent; turn: Turn }) {
  const [open, setOpen] = useState(false);
  const text = open ? JSON.stringify(row, null, 2) : "";
  return (
    <div className="msg">
      <button type="button" className="msg-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} />
        <span className="role num">{row.seq}</span>
        <span className="role">{row.type}</span>
        <span className="txt cut">{eventText(row, turn)}</span>
        <span className="when num">+{duration(Math.max(0, Date.parse(row.at) - turn.startedAt))}</span>
      </button>
      {open && (
        <div className="msg-body">
          <div className="pre wrap tall" tabIndex={0} aria-label={`${row.type} as JSON`}>
            <JsonText text={text} />
          </div>
          <div className="call-foot">
            <span>{row.at}</span>
            <span className="links">
              <CopyButton text={text} />
            </span>
          </div>
        </div>
      )}
    </div>
  );
}
