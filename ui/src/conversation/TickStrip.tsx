import { useRef, useState, type KeyboardEvent } from "react";

import { useMedia } from "../app/useMedia";
import { plural } from "../parts";
import type { Tick } from "./steps";

interface Props {
  ticks: readonly Tick[];
  /** A step, by its call. */
  onOpen: (id: string) => void;
  onOpenAll: () => void;
}

const NARROW = "(max-width: 640px)";
const DENSE_FROM = 60;

/** One tick for each step. A toolbar with one tab stop; on a phone one button, since no finger meets a single tick. */
export function TickStrip(props: Props) {
  const narrow = useMedia(NARROW);
  return narrow ? <OneTarget {...props} /> : <Toolbar {...props} />;
}

function OneTarget({ ticks, onOpenAll }: Props) {
  return (
    <button
      type="button"
      className={classOf(ticks)}
      aria-label={`Show ${plural(ticks.length, "step")}`}
      onClick={onOpenAll}
    >
      {ticks.map((tick, index) => (
        <i key={index} className={tick.state} data-size={tick.size} />
      ))}
    </button>
  );
}

function Toolbar({ ticks, onOpen }: Props) {
  const strip = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState(0);
  const stop = Math.min(focused, ticks.length - 1);
  const move = (event: KeyboardEvent) => {
    const next = nextIndex(event.key, stop, ticks.length);
    if (next === null) return;
    event.preventDefault();
    setFocused(next);
    strip.current?.querySelectorAll<HTMLElement>("button")[next]?.focus();
  };
  return (
    <div
      className={classOf(ticks)}
      role="toolbar"
      aria-label={plural(ticks.length, "step")}
      ref={strip}
      onKeyDown={move}
    >
      {ticks.map((tick, index) => (
        <button
          key={index}
          type="button"
          className={tick.state}
          data-size={tick.size}
          aria-label={tick.label}
          title={tick.label}
          tabIndex={index === stop ? 0 : -1}
          onFocus={() => setFocused(index)}
          onClick={() => tick.id && onOpen(tick.id)}
        />
      ))}
    </div>
  );
}

function classOf(ticks: readonly Tick[]): string {
  return ticks.length > DENSE_FROM ? "tick-strip dense" : "tick-strip";
}

function nextIndex(key: string, index: number, length: number): number | null {
  switch (key) {
    case "ArrowRight":
      return Math.min(index + 1, length - 1);
    case "ArrowLeft":
      return Math.max(index - 1, 0);
    case "Home":
      return 0;
    case "End":
      return length - 1;
    default:
      return null;
  }
}
