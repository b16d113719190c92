import { useState } from "react";

import { Fold, Icon, Tag, counting, duration, useNow } from "../parts";
import { isFailure, isMoving, lookOf, spanOf, type Call, type Turn } from "../state";
import { CallRow } from "./CallRow";
import { useOpen } from "./context";
import { nameCall } from "./toolbox";

interface Props {
  calls: readonly Call[];
  turn: Turn;
}

/**
 * Calls that were asked for together. While the turn lives every row shows; when it has ended, those that worked fold
 * into one line and the others stay.
 */
export function CallGroup({ calls, turn }: Props) {
  const [toggled, setToggled] = useState<boolean | null>(null);
  const live = calls.some((call) => isMoving(lookOf(call)));
  const now = useNow(live);
  const span = spanOf(calls, now);
  const failed = calls.filter((call) => isFailure(lookOf(call))).length;
  const allDone = calls.every((call) => lookOf(call) === "done");
  const open = toggled ?? turn.finished === null;
  const names = useNames(calls);
  const took = span ? duration(span.until - span.from) : "";
  if (!open && allDone)
    return (
      <Fold
        icon="parallel"
        title={`${calls.length} tools${took && `, ${took}`}`}
        first={names}
        open={false}
        onToggle={() => setToggled(true)}
      />
    );
  return (
    <div className="calls" role="group" aria-label={`${calls.length} tools`}>
      <button type="button" className="calls-head" aria-expanded={open} onClick={() => setToggled(!open)}>
        <Icon name="parallel" />
        <strong>{calls.length} tools</strong>
        <span className="dim num">{live ? runningText(calls, span, now) : took}</span>
        {failed > 0 && (
          <Tag tone="bad" icon="fail">
            {failed} failed
          </Tag>
        )}
        <span className="grow" />
        <Icon name={open ? "down" : "right"} className="chev" />
      </button>
      {open ? (
        calls.map((call) => <CallRow key={call.id} call={call} turn={turn} span={span} grouped />)
      ) : (
        <FoldedRows calls={calls} turn={turn} span={span} onOpen={() => setToggled(true)} />
      )}
    </div>
  );
}

type Span = ReturnType<typeof spanOf>;

function FoldedRows({ calls, turn, span, onOpen }: Props & { span: Span; onOpen: () => void }) {
  const done = calls.filter((call) => lookOf(call) === "done");
  const others = calls.filter((call) => lookOf(call) !== "done");
  const names = useNames(done);
  return (
    <>
      {done.length > 0 && (
        <Fold
          className="done-line"
          icon="check"
          title={`${done.length} done`}
          first={names}
          open={false}
          onToggle={onOpen}
        />
      )}
      {others.map((call) => (
        <CallRow key={call.id} call={call} turn={turn} span={span} grouped />
      ))}
    </>
  );
}

function useNames(calls: readonly Call[]): string {
  const { naming } = useOpen();
  return calls.map((call) => nameCall(naming, call).title).join(", ");
}

function runningText(calls: readonly Call[], span: Span, now: number): string {
  const running = calls.filter((call) => isMoving(lookOf(call))).length;
  return `${running} running${span ? `, ${counting(now - span.from)}` : ""}`;
}
