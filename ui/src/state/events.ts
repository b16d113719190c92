/** What the server sends, by the same names as its own event classes. The list of types is closed: others are ignored. */

import * as wire from "./events.generated";

export type * from "./events.generated";

export type JsonSchema = Record<string, unknown>;

/** A transient event carries no time of its own; whoever receives it stamps `at`. */
type Stamped<E> = E extends unknown ? Omit<E, "seq"> & { at: string } : never;

export type TextDelta = Stamped<wire.TextDelta>;
export type ReasoningDelta = Stamped<wire.ReasoningDelta>;
export type CallDelta = Stamped<wire.CallDelta>;
export type ToolProgress = Stamped<wire.ToolProgress>;
export type ReplyReset = Stamped<wire.ReplyReset>;
export type InputNeeded = Stamped<wire.InputNeeded>;
export type Waiting = Stamped<wire.Waiting>;
export type ReplySoFar = Stamped<wire.ReplySoFar>;
export type TransientEvent =
  TextDelta | ReasoningDelta | CallDelta | ToolProgress | ReplyReset | InputNeeded | Waiting | ReplySoFar;
export type MessagesDeleted = Omit<wire.MessagesDeleted, "seq">;
export type ResultAdded = Omit<wire.ResultAdded, "seq">;

export type DraftCall = Pick<wire.CallDelta, "index" | "name" | "arguments">;

/** What this page did itself and shows at once, before the server confirms it. */
export interface RequestSent {
  type: "stop_sent" | "stop_unsent" | "input_sent";
  turn_id: string;
  call_id: string;
  /** When the question came that was answered: the call's next one may be here already. */
  asked_at?: string;
}

export interface BranchPicked {
  type: "branch_picked";
  turn_id: string;
}

export type Event = wire.DurableEvent | TransientEvent | RequestSent | BranchPicked | OfMessages;
type OfMessages = MessagesDeleted | ResultAdded;

const DURABLE = new Set<string>(wire.DURABLE);
const TRANSIENT = new Set<string>(wire.TRANSIENT);

/** An event as it came over the wire, or null when this page does not know it. */
export function decode(type: string, data: unknown, receivedAt: number): Event | null {
  if (typeof data !== "object" || data === null || !("turn_id" in data)) return null;
  if (DURABLE.has(type)) return { ...data, type } as wire.DurableEvent;
  if (type === "messages_deleted" || type === "result_added") return { ...data, type } as OfMessages;
  if (TRANSIENT.has(type)) return { ...data, type, at: new Date(receivedAt).toISOString() } as TransientEvent;
  return null;
}

export function isDurable(event: Event): event is wire.DurableEvent {
  return DURABLE.has(event.type);
}

export function isLocal(event: Event): event is RequestSent | BranchPicked | OfMessages {
  return !("at" in event);
}
