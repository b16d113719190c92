import { Fold, Icon, Tag, counting, duration, useNow } from "../parts";
import { isFailure, isMoving, lookOf, spanOf, type Call, type Turn } from "../state";
import { CallRow } from "./CallRow";
import { useOpen } from "./context";
import { namesOf } from "./steps";

interface Props {
  calls: readonly Call[];
  turn: Turn;
}

interface GroupProps extends Props {
  open: boolean;
  onToggle: (clicked: Element) => void;
}

/** Calls that were asked for together. Folded, those that worked are one line and the others stay. */
export function CallGroup({ calls, turn, open, onToggle }: GroupProps) {
  const live = calls.some((call) => isMoving(lookOf(call)));
  const now = useNow(live);
  const span = spanOf(calls, now);
  const failed = calls.filter((call) => isFailure(lookOf(call))).length;
  const allDone = calls.every((call) => lookOf(call) === "done");
  const names = useNames(calls);
  const took = span ? duration(span.until - span.from) : "";
  if (!open && allDone)
    return (
      <Fold
        icon="parallel"
        title={`${calls.length} tools${took && `, ${took}`}`}
        first={names}
        open={false}
        onToggle={onToggle}
      />
    );
  return (
    <div className="calls" role="group" aria-label={`${calls.length} tools`}>
      <button
        type="button"
        className="calls-head"
        aria-expanded={open}
        onClick={(event) => onToggle(event.currentTarget)}
      >
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
        calls.map((call) => (
          <CallRow key={call.id} call={call} turn={turn} span={span} grouped open={false} />
        ))
      ) : (
        <FoldedRows calls={calls} turn={turn} span={span} onOpen={onToggle} />
      )}
    </div>
  );
}

type Span = ReturnType<typeof spanOf>;

function FoldedRows({
  calls,
  turn,
  span,
  onOpen,
}: Props & { span: Span; onOpen: (clicked: Element) => void }) {
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
        <CallRow key={call.id} call={call} turn={turn} span={span} grouped open={false} />
      ))}
    </>
  );
}

function useNames(calls: readonly Call[]): string {
  const { naming } = useOpen();
  return namesOf(calls, naming);
}

function runningText(calls: readonly Call[], span: Span, now: number): string {
  const running = calls.filter((call) => isMoving(lookOf(call))).length;
  return `${running} running${span ? `, ${counting(now - span.from)}` : ""}`;
}
