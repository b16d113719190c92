import { useLayoutEffect, useRef, type HTMLAttributes } from "react";

interface PlacedProps extends HTMLAttributes<HTMLElement> {
  /** Shares of the whole, 0 to 1. */
  from?: number;
  size: number;
}

/** A bar placed from script, so that the HTML needs no style of its own. */
export function PlacedBar({ from, size, ...rest }: PlacedProps) {
  const bar = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (from !== undefined) bar.current?.style.setProperty("left", percent(from));
    bar.current?.style.setProperty("width", percent(size));
  }, [from, size]);
  return <i ref={bar} {...rest} />;
}

interface ProgressProps {
  label: string;
  value: number;
  max: number;
}

export function ProgressBar({ label, value, max }: ProgressProps) {
  return (
    <div
      className="bar-track"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={value}
    >
      <PlacedBar size={max > 0 ? value / max : 0} />
    </div>
  );
}

function percent(share: number): string {
  return `${Math.max(0, Math.min(1, share)) * 100}%`;
}
