import { useSyncExternalStore } from "react";

import { currentSession, watchSession, type Session } from "../api/sessionState";

/** Null until the server was asked. */
export function useSession(): Session | null {
  return useSyncExternalStore(watchSession, currentSession);
}
