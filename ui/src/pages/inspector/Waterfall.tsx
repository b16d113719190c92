import { useLayoutEffect, useMemo, useRef, type KeyboardEvent } from "react";

import { duration, Icon, PlacedBar, Tag } from "../../parts";
import type { Turn } from "../../state";
import { lookMark } from "./marks";
import { scaleOf, type Scale } from "./scale";
import { endOf, type BarKind, type Span } from "./spans";

interface Props {
  turn: Turn;
  spans: readonly Span[];
  now: number;
  selected: string;
  onSelect: (span: Span) => void;
}

const CLASSES: Record<BarKind, string> = { first: "w", model: "m", tool: "t", failed: "f", wait: "p" };

const LEGEND: [BarKind, string][] = [
  ["first", "to first token"],
  ["model", "model writes"],
  ["tool", "tool runs"],
  ["failed", "failed"],
  ["wait", "your decision"],
];

/** One tab stop; arrows, Home and End choose a step. */
export function Waterfall({ turn, spans, now, selected, onSelect }: Props) {
  const end = endOf(turn, spans, now);
  const scale = useMemo(() => scaleOf(spans, end), [spans, end]);
  const rows = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    rows.current?.style.setProperty("--grid", `${scale.step * 100}%`);
  }, [scale.step]);
  const onKeyDown = (event: KeyboardEvent) => {
    const index = indexAfter(
      event.key,
      spans.findIndex((span) => span.id === selected),
      spans.length,
    );
    const next = index === null ? undefined : spans[index];
    if (index === null || !next) return;
    event.preventDefault();
    onSelect(next);
    rows.current?.querySelectorAll("button")[index]?.focus();
  };
  return (
    <section className="fall" aria-label="Timeline">
      <div ref={rows} className="fall-rows" role="group" aria-label="Steps" onKeyDown={onKeyDown}>
        <Axis scale={scale} />
        {spans.map((span) => (
          <Row
            key={span.id}
            span={span}
            scale={scale}
            on={span.id === selected}
            onClick={() => onSelect(span)}
          />
        ))}
        {spans.length === 0 && <p className="fall-empty dim">No model calls yet</p>}
      </div>
      <Legend cut={scale.cuts.length > 0} />
    </section>
  );
}

function Axis({ scale }: { scale: Scale }) {
  return (
    <div className="axis" aria-hidden="true">
      <span>Step</span>
      <span className="ticks">
        {scale.ticks.map((tick) => (
          <TickLabel key={tick.label} at={tick.at} label={tick.label} />
        ))}
      </span>
      <span className="took">Took</span>
    </div>
  );
}

function TickLabel({ at, label }: { at: number; label: string }) {
  const tick = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    tick.current?.style.setProperty("left", `${at * 100}%`);
  }, [at]);
  return <span ref={tick}>{label}</span>;
}

interface RowProps {
  span: Span;
  scale: Scale;
  on: boolean;
  onClick: () => void;
}

function Row({ span, scale, on, onClick }: RowProps) {
  const mark = lookMark(span);
  return (
    <button
      type="button"
      className={`span ${span.kind === "model" ? "model" : "tool"}`}
      aria-pressed={on}
      tabIndex={on ? 0 : -1}
      onClick={onClick}
    >
      <span className="what">
        <Icon name={mark.icon} className={mark.tone} />
        <span className="cut">{span.title}</span>
        {mark.label && <span className={`say ${mark.tone}`}>{mark.label}</span>}
        {span.kind === "model" && span.repairs > 0 && (
          <Tag icon="wrench">
            {span.repairs}
            <span className="vh"> repairs</span>
          </Tag>
        )}
      </span>
      <span className="track">
        {span.bars.map((bar, n) => (
          <PlacedBar
            key={n}
            className={CLASSES[bar.kind] + (isCut(bar, scale) ? " cut-bar" : "")}
            from={scale.position(bar.from)}
            size={scale.position(bar.until) - scale.position(bar.from)}
          />
        ))}
      </span>
      <span className="dur">{span.took === null ? "–" : duration(span.took)}</span>
    </button>
  );
}

function isCut(bar: { from: number; until: number }, scale: Scale): boolean {
  return scale.cuts.some((cut) => cut.from >= bar.from && cut.until <= bar.until);
}

function Legend({ cut }: { cut: boolean }) {
  return (
    <div className="legend">
      {LEGEND.map(([kind, words]) => (
        <span key={kind}>
          <i className={CLASSES[kind]} />
          {words}
        </span>
      ))}
      {cut && <span>A long wait is drawn short; “Took” has its length.</span>}
    </div>
  );
}

function indexAfter(key: string, index: number, count: number): number | null {
  switch (key) {
    case "ArrowDown":
      return Math.min(count - 1, index + 1);
    case "ArrowUp":
      return Math.max(0, index - 1);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}
