import { useRef, type KeyboardEvent, type ReactNode } from "react";

interface Option<T extends string> {
  value: T;
  label: ReactNode;
}

interface Props<T extends string> {
  label: string;
  value: T;
  options: readonly Option<T>[];
  onChange: (value: T) => void;
  /** "tabs" shows one of several views; "radio" sets a value. */
  kind?: "tabs" | "radio";
  className?: string;
}

/** One tab stop; arrows, Home and End move inside. */
export function Segments<T extends string>({
  label,
  value,
  options,
  onChange,
  kind = "radio",
  className = "seg",
}: Props<T>) {
  const root = useRef<HTMLSpanElement>(null);
  const tabs = kind === "tabs";
  const onKeyDown = (event: KeyboardEvent) => {
    const index = indexAfter(
      event.key,
      options.findIndex((option) => option.value === value),
      options.length,
    );
    const next = index === null ? undefined : options[index];
    if (index === null || !next) return;
    event.preventDefault();
    onChange(next.value);
    root.current?.querySelectorAll("button")[index]?.focus();
  };
  return (
    <span ref={root} className={className} role={tabs ? "tablist" : "radiogroup"} aria-label={label}>
      {options.map((option) => {
        const on = option.value === value;
        return (
          <button
            key={option.value}
            type="button"
            role={tabs ? "tab" : "radio"}
            {...(tabs ? { "aria-selected": on } : { "aria-checked": on })}
            tabIndex={on ? 0 : -1}
            onClick={() => onChange(option.value)}
            onKeyDown={onKeyDown}
          >
            {option.label}
          </button>
        );
      })}
    </span>
  );
}

function indexAfter(key: string, index: number, count: number): number | null {
  switch (key) {
    case "ArrowRight":
    case "ArrowDown":
      return (index + 1) % count;
    case "ArrowLeft":
    case "ArrowUp":
      return (index - 1 + count) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}
