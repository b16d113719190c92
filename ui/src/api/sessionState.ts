/**
 * Who this browser is to the server. A session has two halves: a cookie, which browsers send to every port of a host,
 * and this one, which only pages of this very origin can read. It goes along with every request as a header; the
 * cookie alone opens nothing. All tabs share it, and it outlives a restart of either side.
 */

import { base } from "./base";

/** Two servers may stand below two paths of one origin, which have one storage. */
const KEY = `windlass.session${base}`;
export const SESSION_HEADER = "x-windlass-session";

export interface Session {
  signedIn: boolean;
  /** False where the server asks nobody for a token. */
  auth: boolean;
  name: string;
  scopes: readonly string[];
  /** Until when dangerous verbs need no further confirming, in ms; 0 for never. */
  confirmedUntil: number;
  /** Why a one-time link did not sign in. */
  problem: string;
}

export const SIGNED_OUT: Session = {
  signedIn: false,
  auth: true,
  name: "",
  scopes: [],
  confirmedUntil: 0,
  problem: "",
};

let session: Session | null = null;
let unkept = ""; // where the browser keeps nothing, a session lasts as long as the page
const watchers = new Set<() => void>();

/** Null until the server was asked. */
export const currentSession = (): Session | null => session;

export function setSession(next: Session): void {
  session = next;
  watchers.forEach((changed) => changed());
}

export function watchSession(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

export function half(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return unkept;
  }
}

/** "" forgets it. */
export function keepHalf(value: string): void {
  unkept = value;
  try {
    if (value) localStorage.setItem(KEY, value);
    else localStorage.removeItem(KEY);
  } catch {
    // Kept above.
  }
}

export function sessionHeaders(): Record<string, string> {
  const value = half();
  return value ? { [SESSION_HEADER]: value } : {};
}

/** Any answer of 401 says that the server does not know this browser, or not any more. */
export function noteStatus(status: number): void {
  if (status === 401 && session?.signedIn) setSession(SIGNED_OUT);
}

/** Called when another tab signed in or out. */
export function onOtherTab(changed: () => void): () => void {
  const listen = (event: StorageEvent) => {
    if (event.key === KEY || event.key === null) changed();
  };
  addEventListener("storage", listen);
  return () => removeEventListener("storage", listen);
}
