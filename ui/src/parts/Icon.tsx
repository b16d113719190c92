import { DRAWINGS, type IconName } from "./drawings";

export type { IconName };

interface Props {
  name: IconName;
  className?: string;
}

/** A drawing beside words. It says nothing to a screen reader: the words do. */
export function Icon({ name, className = "" }: Props) {
  const classes = ["ic", name === "run" && "spin", className].filter(Boolean).join(" ");
  return (
    <svg className={classes} viewBox="0 0 16 16" aria-hidden="true">
      {DRAWINGS[name]}
    </svg>
  );
}

export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 20 20" fill="none" aria-hidden="true">
      <g strokeWidth="2.25" strokeLinecap="round" strokeLinejoin="round">
        <path d="M2.25 5L6 15.25 9.75 6l3.25 8.25" stroke="currentColor" />
        <path d="M15.25 11.25L17.75 5" stroke="var(--accent)" />
      </g>
    </svg>
  );
}
