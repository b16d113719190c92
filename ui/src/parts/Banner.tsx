import type { ReactNode } from "react";

import { Icon, type IconName } from "./Icon";

interface Props {
  tone?: "plain" | "warn" | "bad";
  icon: IconName;
  children: ReactNode;
  actions?: ReactNode;
  /** "alert" for what blocks; it is spoken at once. */
  role?: "alert" | "status";
}

/** What happened, what it means, what can be done: one line at the end of a turn or over the message box. */
export function Banner({ tone = "plain", icon, children, actions, role }: Props) {
  return (
    <div className={tone === "plain" ? "banner" : `banner ${tone}`} role={role}>
      <Icon name={icon} />
      <span className="banner-words">{children}</span>
      {actions && <span className="acts">{actions}</span>}
    </div>
  );
}

/** The same under the top bar, for what concerns the whole conversation. */
export function Strip({ tone = "plain", icon, children, actions }: Omit<Props, "role">) {
  return (
    <div className={tone === "warn" ? "strip warn" : "strip"} role="status">
      <Icon name={icon} />
      <span className="grow">{children}</span>
      {actions}
    </div>
  );
}
