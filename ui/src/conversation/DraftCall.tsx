import { useState } from "react";

import { Badge, Icon } from "../parts";
import type { DraftCall as Draft } from "../state";
import { useOpen } from "./context";

/** A call whose arguments the model is still writing. */
export function DraftCall({ call }: { call: Draft }) {
  const { naming } = useOpen();
  const [open, setOpen] = useState(true);
  const { title, server } = naming(call.name);
  return (
    <div className={open ? "call write alone open" : "call write alone"}>
      <div className="call-head">
        <button type="button" className="call-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span className="lead">
            <Icon name="write" className="state" />
            <span className="title cut">{title || "A call"}</span>
            {server && <Badge>{server}</Badge>}
          </span>
          <span className="rest">
            <span className="say">Writing</span>
            <span className="grow" />
          </span>
        </button>
        <Icon name={open ? "down" : "right"} className="chev" />
      </div>
      {open && (
        <div className="call-body" aria-live="off">
          <div className="pre wrap">
            {call.arguments}
            <span className="caret" />
          </div>
        </div>
      )}
    </div>
  );
}
