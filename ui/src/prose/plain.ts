import type { ReactNode } from "react";

/** The text of simple children. */
export function plain(children: ReactNode): string {
  if (typeof children === "string" || typeof children === "number") return String(children);
  return Array.isArray(children) ? children.map(plain).join("") : "";
}
