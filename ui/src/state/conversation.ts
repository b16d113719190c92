/** A conversation as a tree of turns, and the path through it that is shown. */

import type { Turn } from "./turn";

export interface Conversation {
  turns: ReadonlyMap<string, Turn>;
  /** Ids of the turns under each parent, oldest first; "" holds the first ones. */
  children: ReadonlyMap<string, readonly string[]>;
  newest: string;
  /** Branches chosen by hand: parent to child. */
  picked: ReadonlyMap<string, string>;
}

export const EMPTY: Conversation = {
  turns: new Map(),
  children: new Map(),
  newest: "",
  picked: new Map(),
};

/** The turns shown, first to last: the picked branches, else the path to the newest turn. */
export function pathOf(conversation: Conversation): Turn[] {
  const towardsNewest = ancestorsOf(conversation, conversation.newest);
  const path: Turn[] = [];
  let parent = "";
  for (;;) {
    const siblings = conversation.children.get(parent);
    if (!siblings) return path;
    const next =
      conversation.picked.get(parent) ?? siblings.find((id) => towardsNewest.has(id)) ?? siblings.at(-1);
    const turn = next === undefined ? undefined : conversation.turns.get(next);
    if (!turn) return path;
    path.push(turn);
    parent = turn.id;
  }
}

/** The turn and everything above it. */
export function ancestorsOf(conversation: Conversation, id: string): Set<string> {
  const line = new Set<string>();
  let turn = conversation.turns.get(id);
  while (turn && !line.has(turn.id)) {
    line.add(turn.id);
    turn = conversation.turns.get(turn.parent);
  }
  return line;
}

export interface Versions {
  index: number;
  ids: readonly string[];
}

/** Other answers to the same words: what "Answer again" made. */
export function answersBeside(conversation: Conversation, turn: Turn): Versions {
  const words = userText(turn);
  const ids = siblingsOf(conversation, turn).filter((other) => userText(other) === words);
  return { index: ids.indexOf(turn), ids: ids.map((other) => other.id) };
}

/** Other wordings of the same message: what "Edit and send again" made. One turn stands for each, the newest. */
export function wordingsBeside(conversation: Conversation, turn: Turn): Versions {
  const newest = new Map<string, string>();
  for (const other of siblingsOf(conversation, turn)) newest.set(userText(other), other.id);
  const words = [...newest.keys()];
  return { index: words.indexOf(userText(turn)), ids: [...newest.values()] };
}

function siblingsOf(conversation: Conversation, turn: Turn): Turn[] {
  const ids = conversation.children.get(turn.parent) ?? [];
  return ids.flatMap((id) => conversation.turns.get(id) ?? []);
}

export function userText(turn: Turn): string {
  return turn.opening
    .filter((message) => message.role === "user")
    .map((message) => message.content ?? "")
    .join("\n\n");
}
