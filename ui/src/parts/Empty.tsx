import type { ReactNode } from "react";

import { Icon, type IconName } from "./Icon";

interface Props {
  icon: IconName;
  /** What to do, in a sentence. */
  children: ReactNode;
  /** The button that does it. */
  action?: ReactNode;
}

/** A list with nothing in it. */
export function Empty({ icon, children, action }: Props) {
  return (
    <div className="nothing">
      <Icon name={icon} />
      <p>{children}</p>
      {action}
    </div>
  );
}
