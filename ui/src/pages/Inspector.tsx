import { useMemo, useState } from "react";

import { inspect } from "../app/router";
import { CopyButton, IconButton, Problem, Skeleton, useNow } from "../parts";
import "./inspector/inspector.css";
import { figuresOf } from "./inspector/figures";
import { SpanDetail } from "./inspector/SpanDetail";
import { spansOf, type Span } from "./inspector/spans";
import { useTurnLog, type TurnLog } from "./inspector/turnLog";
import { Waterfall } from "./inspector/Waterfall";

interface Props {
  turnId: string;
  /** The round selected in the thread, from 1; 0 when none. */
  round: number;
  onClose: () => void;
}

/** Drawn inside the pane that App opens for ?inspect=TURN. */
export default function Inspector({ turnId, round, onClose }: Props) {
  const log = useTurnLog(turnId);
  return (
    <>
      <div className="insp-head">
        <h2>Turn inspector</h2>
        <span className="badge cut" title={turnId}>
          {short(turnId)}
        </span>
        <span className="grow" />
        <CopyButton text={() => asJson(log.rows)} caption="Copy log" />
        <IconButton icon="x" label="Close the inspector" onClick={onClose} />
      </div>
      <Inside key={turnId} turnId={turnId} round={round} log={log} />
    </>
  );
}

interface InsideProps {
  turnId: string;
  round: number;
  log: ReturnType<typeof useTurnLog>;
}

function Inside({ turnId, round, log: { turn, rows, error, again } }: InsideProps) {
  const live = turn !== null && !turn.finished;
  const ticking = useNow(live);
  const now = live ? ticking : 0;
  const spans = useMemo(() => (turn ? spansOf(turn, rows, now) : []), [turn, rows, now]);
  const [picked, pick] = useState("");
  const selected = selectedOf(spans, picked, round);
  if (error)
    return (
      <div className="insp-note">
        <Problem what="Couldn’t load the log." error={error} onAgain={again} />
      </div>
    );
  if (!turn)
    return (
      <div className="insp-note">
        <Skeleton label="Loading log…" rows={6} row={36} />
      </div>
    );
  const select = (span: Span) => {
    pick(span.id);
    inspect(turnId, span.round);
  };
  return (
    <>
      <dl className="stats">
        {figuresOf(turn, spans, now).map((figure) => (
          <div key={figure.name}>
            <dt>{figure.name}</dt>
            <dd>{figure.value}</dd>
          </div>
        ))}
      </dl>
      <Waterfall turn={turn} spans={spans} now={now} selected={selected?.id ?? ""} onSelect={select} />
      {selected && <SpanDetail key={selected.id} span={selected} turn={turn} rows={rows} />}
    </>
  );
}

/** What was clicked here, unless the thread has since pointed at another round; else that round, else the last. */
function selectedOf(spans: readonly Span[], picked: string, round: number): Span | undefined {
  const clicked = spans.find((span) => span.id === picked);
  if (clicked && (clicked.round === round || round === 0)) return clicked;
  const models = spans.filter((span) => span.kind === "model");
  return models.find((span) => span.round === round) ?? models.at(-1);
}

function short(turnId: string): string {
  return turnId.length > 20 ? `${turnId.slice(0, 18)}…` : turnId;
}

function asJson(rows: TurnLog["rows"]): string {
  return JSON.stringify(rows, null, 2);
}
