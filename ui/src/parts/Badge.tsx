import type { ReactNode } from "react";

import { Icon, type IconName } from "./Icon";

/** A server's or a model's exact name. */
export function Badge({ children }: { children: ReactNode }) {
  return <span className="badge">{children}</span>;
}

interface TagProps {
  tone?: "plain" | "accent" | "warn" | "bad";
  icon?: IconName;
  children: ReactNode;
}

export function Tag({ tone = "plain", icon, children }: TagProps) {
  return (
    <span className={tone === "plain" ? "tag" : `tag ${tone}`}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

/** How many things wait for a person, with the words for those who do not see the colour. */
export function WaitCount({ n, what }: { n: number; what: string }) {
  return (
    <>
      <span className="count warn" title={`${n} ${what}`}>
        <Icon name="person" />
        {n}
      </span>
      <span className="vh">{what}</span>
    </>
  );
}
