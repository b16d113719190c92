import { useState } from "react";

import { Badge, Icon, plural } from "../parts";
import type { DraftCall } from "../state";
import { useOpen } from "./context";

const SHOWN = 120;

/** Calls whose arguments the model is still writing: one line, whose place the calls themselves will take. */
export function DraftCalls({ calls }: { calls: readonly DraftCall[] }) {
  const { naming } = useOpen();
  const [open, setOpen] = useState(false);
  const newest = calls.at(-1);
  const { title, server } = naming(newest?.name ?? "");
  const name = calls.length > 1 ? plural(calls.length, "call") : title || "A call";
  return (
    <div className={open ? "call write alone open" : "call write alone"}>
      <div className="call-head">
        <button type="button" className="call-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span className="lead">
            <Icon name="write" className="state" />
            <span className="title cut">{name}</span>
            {server && calls.length === 1 && <Badge>{server}</Badge>}
          </span>
          <span className="rest">
            <span className="say">Writing</span>
            <span className="args cut">{newest?.arguments.slice(-SHOWN)}</span>
          </span>
        </button>
        <Icon name={open ? "down" : "right"} className="chev" />
      </div>
      {open && (
        <div className="call-body" aria-live="off">
          {calls.map((call) => (
            <div className="pre wrap" key={call.index}>
              {call.arguments}
              {call === newest && <span className="caret" />}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
