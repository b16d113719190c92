/** The page's whole state is `events.reduce(apply, EMPTY)`. Pure, and the same for every prefix and with duplicates. */

import { EMPTY, ancestorsOf, type Conversation } from "./conversation";
import {
  isDurable,
  isLocal,
  type BranchPicked,
  type DurableEvent,
  type Event,
  type ResultAdded,
  type TurnStarted,
} from "./events";
import { isPaused, onDurable, onLocal, onTransient } from "./applyTurn";
import { withoutMessages } from "./deleted";
import { DEFAULT_LIMITS, type Turn } from "./turn";

export function apply(conversation: Conversation, event: Event): Conversation {
  return applyAll(conversation, [event]);
}

/** Many events at once: the maps are copied once, not once per event. */
export function applyAll(conversation: Conversation, events: readonly Event[]): Conversation {
  if (events.length === 0) return conversation;
  const draft = {
    ...conversation,
    turns: new Map(conversation.turns),
    children: new Map(conversation.children),
  };
  let changed = false;
  for (const event of events) changed = applyTo(draft, event) || changed;
  return changed ? draft : conversation;
}

export function replay(events: readonly Event[]): Conversation {
  return applyAll(EMPTY, events);
}

type Mutable = Conversation & { turns: Map<string, Turn>; children: Map<string, readonly string[]> };

function applyTo(conversation: Mutable, event: Event): boolean {
  if (event.type === "turn_started") return start(conversation, event);
  if (event.type === "branch_picked") return pick(conversation, event.turn_id);
  const turn = conversation.turns.get(event.turn_id);
  const next = turn && step(turn, event);
  if (!next || next === turn) return false;
  conversation.turns.set(next.id, next);
  return true;
}

function start(conversation: Mutable, event: TurnStarted): boolean {
  if (conversation.turns.has(event.turn_id)) return false;
  const parent = event.parent_turn_id ?? "";
  const siblings = conversation.children.get(parent) ?? [];
  conversation.turns.set(event.turn_id, fresh(event, parent, conversation.turns.size));
  conversation.children.set(parent, [...siblings, event.turn_id]);
  conversation.newest = event.turn_id;
  conversation.picked = withoutPicksAbove(conversation, event.turn_id);
  return true;
}

/** A new turn is always shown, whatever branch was picked before. */
function withoutPicksAbove(conversation: Conversation, id: string): ReadonlyMap<string, string> {
  if (conversation.picked.size === 0) return conversation.picked;
  const line = ancestorsOf(conversation, id);
  return new Map([...conversation.picked].filter(([parent]) => parent !== "" && !line.has(parent)));
}

function pick(conversation: Mutable, id: string): boolean {
  const turn = conversation.turns.get(id);
  if (!turn) return false;
  conversation.picked = new Map(conversation.picked).set(turn.parent, id);
  return true;
}

function step(turn: Turn, event: Exclude<Event, TurnStarted | BranchPicked>): Turn {
  if (isDurable(event)) return event.seq <= turn.lastSeq ? turn : settle(turn, event);
  if (event.type === "messages_deleted") return withoutMessages(turn, event.ids);
  if (event.type === "result_added") return withResult(turn, event);
  if (turn.finished) return turn;
  return isLocal(event) ? onLocal(turn, event) : onTransient(moved(turn), event);
}

/** What the turn waits for holds until its next event. */
function moved(turn: Turn): Turn {
  return turn.waiting ? { ...turn, waiting: null } : turn;
}

function withResult(turn: Turn, { part, content }: ResultAdded): Turn {
  return {
    ...turn,
    opening: turn.opening.map((message, index) => (index === part ? { ...message, content } : message)),
  };
}

/** Apply, then keep the books of time spent waiting for a person. */
function settle(turn: Turn, event: Exclude<DurableEvent, TurnStarted>): Turn {
  const at = Date.parse(event.at);
  const next = { ...onDurable(moved(turn), event, at), lastSeq: event.seq, lastAt: at };
  const paused = isPaused(next);
  if (paused && !next.waitingSince) return { ...next, waitingSince: at };
  if (paused || !next.waitingSince) return next;
  return { ...next, waitedMs: next.waitedMs + at - next.waitingSince, waitingSince: 0 };
}

function fresh(event: TurnStarted, parent: string, order: number): Turn {
  const at = Date.parse(event.at);
  return {
    id: event.turn_id,
    parent,
    order,
    origin: event.origin ?? "chat",
    client: event.client ?? "",
    opening: event.opening,
    blanked: event.blanked ?? [],
    settings: event.settings ?? {},
    limits: { ...DEFAULT_LIMITS, ...event.settings?.limits },
    clientMessageId: event.client_message_id ?? "",
    startedAt: at,
    claims: 0,
    driver: "",
    resumedAt: 0,
    rounds: [],
    draft: null,
    failures: [],
    stopping: false,
    trimmed: "",
    finished: null,
    finishedAt: 0,
    firstSeq: event.seq,
    lastSeq: event.seq,
    lastAt: at,
    waiting: null,
    waitedMs: 0,
    waitingSince: 0,
  };
}
