import { createContext, use, useSyncExternalStore } from "react";

import type { Link } from "../api";
import type { Conversation } from "../state";
import type { ConversationStore } from "./store";
import type { Naming } from "./toolbox";

interface Open {
  store: ConversationStore;
  naming: Naming;
  /** False until it was heard which tools there are, and what they say of themselves. */
  toolsKnown: boolean;
}

export const OpenConversation = createContext<Open | null>(null);

/** The conversation that is open around this component. */
export function useOpen(): Open {
  const open = use(OpenConversation);
  if (!open) throw new Error("outside an open chat");
  return open;
}

export function useConversation(store: ConversationStore): Conversation {
  return useSyncExternalStore(store.watch, store.state);
}

export function useLink(store: ConversationStore): Link {
  return useSyncExternalStore(store.watch, store.link);
}

/** What the parts of a turn ask of it: to fold a round, to show a call. */
export interface TurnFolds {
  toggleRound: (n: number, clicked: Element) => void;
  showCall: (id: string) => void;
}

export const TurnFoldsContext = createContext<TurnFolds>({
  toggleRound: () => undefined,
  showCall: () => undefined,
});

export function useTurnFolds(): TurnFolds {
  return use(TurnFoldsContext);
}
