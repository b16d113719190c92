/** What a token may do, in words. */

import type { Scope } from "../../api";

export const SCOPES: readonly (readonly [Scope, string])[] = [
  ["read", "read chats"],
  ["chat", "run turns"],
  ["approve", "approve calls"],
  ["ops", "metrics"],
  ["admin", "everything"],
];

export function scopeText(scope: string): string {
  return SCOPES.find(([name]) => name === scope)?.[1] ?? scope;
}

/** A session without scopes of its own may do everything. */
export function mayText(scopes: readonly string[]): string {
  if (scopes.length === 0 || scopes.includes("admin")) return "You can do everything here.";
  return `You can ${scopes.map(scopeText).join(", ")}.`;
}

/** Whoever runs turns and cannot approve leaves each question to somebody else. */
export function cannotApprove(scopes: readonly string[]): boolean {
  return scopes.includes("chat") && !scopes.includes("approve") && !scopes.includes("admin");
}
