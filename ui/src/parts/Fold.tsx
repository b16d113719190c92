import type { ReactNode } from "react";

import { Icon, type IconName } from "./Icon";

interface Props {
  icon: IconName;
  title: ReactNode;
  /** The first words of what is inside, while it is folded. */
  first?: string;
  open: boolean;
  onToggle: (clicked: Element) => void;
  className?: string;
}

/** One quiet line that opens. */
export function Fold({ icon, title, first, open, onToggle, className = "" }: Props) {
  return (
    <button
      type="button"
      className={`fold ${className}`}
      aria-expanded={open}
      onClick={(event) => onToggle(event.currentTarget)}
    >
      <Icon name={icon} />
      <span className="fold-title num">{title}</span>
      <Icon name={open ? "down" : "right"} className="chev" />
      {!open && first && <span className="first cut">{first}</span>}
    </button>
  );
}
