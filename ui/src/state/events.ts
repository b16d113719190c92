/** What the server sends, by the same names as its own event classes. The list of types is closed: others are ignored. */

export type Outcome = "answered" | "limit" | "stopped" | "failed" | "handed_over" | "added";
export type Origin = "chat" | "continue" | "retry" | "call_retry" | "added" | "v1";
export type Verdict = "auto" | "ask" | "refuse";
export type Scope = "once" | "conversation" | "always";
export type CallEnd = "ok" | "error" | "denied" | "cancelled" | "unknown";
export type Role = "user" | "assistant" | "system" | "tool";
export type JsonSchema = Record<string, unknown>;

export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
  wire_id?: string;
  raw?: string;
  broken?: string;
  repairs?: string[];
}

export interface Message {
  role: Role;
  content: string | null;
  calls?: ToolCall[];
  call_id?: string;
  name?: string;
  reasoning?: string;
}

export interface Usage {
  prompt: number;
  completion: number;
  cached: number;
  reasoning: number;
}

export interface Source {
  title: string;
  url: string;
}

export interface ToolOutput {
  text: string;
  result_id?: string;
  size?: number;
  shortened?: boolean;
  digest?: string;
  sources?: Source[];
  untrusted?: boolean;
}

export interface Limits {
  rounds: number;
  calls: number;
  attempts: number;
  repeats: number;
}

export interface Settings {
  provider?: string;
  model?: string;
  persona?: string;
  search?: "off" | "offered" | "due";
  limits?: Partial<Limits>;
}

/** Where a durable event stands. `at` is ISO 8601 on the wire. */
export interface Place {
  turn_id: string;
  conversation_id?: string;
  seq: number;
  at: string;
}

export interface TurnStarted extends Place {
  type: "turn_started";
  parent_turn_id?: string | null;
  opening: Message[];
  settings?: Settings;
  origin?: Origin;
  client_message_id?: string;
  blanked?: number[];
}

export interface TurnClaimed extends Place {
  type: "turn_claimed";
  driver?: string;
  epoch?: number;
}

export interface ModelReplied extends Place {
  type: "model_replied";
  text: string;
  calls?: ToolCall[];
  reasoning?: string;
  usage?: Usage;
  finish?: string;
  model?: string;
  repairs?: string[];
  raw?: string;
  sources?: Source[];
  first_ms?: number;
  took_ms?: number;
  blanked?: boolean;
}

export interface ModelFailed extends Place {
  type: "model_failed";
  cause: string;
  message?: string;
  hint?: string;
  retryable?: boolean;
  wait_s?: number;
  partial?: string;
  status?: number;
  took_ms?: number;
}

export interface CallJudged extends Place {
  type: "call_judged";
  call_id: string;
  verdict: Verdict;
  rule?: string;
  tool_hash?: string;
  safe?: boolean;
  refusal?: string;
  reason?: string;
  server?: string;
}

export interface CallDecided extends Place {
  type: "call_decided";
  call_id: string;
  allow: boolean;
  scope?: Scope;
  arguments?: string;
  reason?: string;
  by?: string;
}

export interface CallResolved extends Place {
  type: "call_resolved";
  call_id: string;
  how: "retry" | "done" | "skip";
  by?: string;
}

export interface ToolStarted extends Place {
  type: "tool_started";
  call_id: string;
  safe?: boolean;
}

export interface ToolFinished extends Place {
  type: "tool_finished";
  call_id: string;
  state: CallEnd;
  output: ToolOutput;
  cause?: string;
  took_ms?: number;
  blanked?: boolean;
}

export interface StopRequested extends Place {
  type: "stop_requested";
  by?: string;
  call_id?: string;
}

export interface HistoryTrimmed extends Place {
  type: "history_trimmed";
  history_from: string;
  reason?: string;
}

export interface TurnFinished extends Place {
  type: "turn_finished";
  outcome: Outcome;
  cause?: string;
  message?: string;
  hint?: string;
}

export type DurableEvent =
  | TurnStarted
  | TurnClaimed
  | ModelReplied
  | ModelFailed
  | CallJudged
  | CallDecided
  | CallResolved
  | ToolStarted
  | ToolFinished
  | StopRequested
  | HistoryTrimmed
  | TurnFinished;

/** Transient events carry no time of their own; whoever receives them stamps `at`. */
interface Passing {
  turn_id: string;
  at: string;
}

export interface DraftCall {
  index: number;
  name: string;
  arguments: string;
}

export interface TextDelta extends Passing {
  type: "text_delta" | "reasoning_delta";
  attempt: number;
  text: string;
}

export interface CallDelta extends Passing {
  type: "call_delta";
  attempt: number;
  index: number;
  name?: string;
  arguments?: string;
}

export interface ToolProgress extends Passing {
  type: "tool_progress";
  call_id: string;
  progress: number;
  total?: number | null;
  message?: string | null;
}

export interface ReplyReset extends Passing {
  type: "reply_reset";
  attempt: number;
}

export interface InputNeeded extends Passing {
  type: "input_needed";
  call_id: string;
  message: string;
  /** JSON as text on the wire; a form is made of it. */
  schema: string;
  /** A page of the server's own where the answer is given instead. */
  url?: string;
}

export interface ReplySoFar extends Passing {
  type: "reply_so_far";
  attempt: number;
  text: string;
  reasoning: string;
  calls: DraftCall[];
}

export type TransientEvent = TextDelta | CallDelta | ToolProgress | ReplyReset | InputNeeded | ReplySoFar;

/** What this page did itself and shows at once, before the server confirms it. */
export interface WordSent {
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

/** Messages that are gone from the log, deleted here or in another window. */
export interface MessagesDeleted {
  type: "messages_deleted";
  turn_id: string;
  ids: string[];
}

export type Event = DurableEvent | TransientEvent | WordSent | BranchPicked | MessagesDeleted;

const DURABLE = new Set([
  "turn_started",
  "turn_claimed",
  "model_replied",
  "model_failed",
  "call_judged",
  "call_decided",
  "call_resolved",
  "tool_started",
  "tool_finished",
  "stop_requested",
  "history_trimmed",
  "turn_finished",
]);

const TRANSIENT = new Set([
  "text_delta",
  "reasoning_delta",
  "call_delta",
  "tool_progress",
  "reply_reset",
  "input_needed",
  "reply_so_far",
]);

/** An event as it came over the wire, or null when this page does not know it. */
export function decode(type: string, data: unknown, receivedAt: number): Event | null {
  if (typeof data !== "object" || data === null || !("turn_id" in data)) return null;
  if (DURABLE.has(type)) return { ...data, type } as DurableEvent;
  if (type === "messages_deleted") return { ...data, type } as MessagesDeleted;
  if (TRANSIENT.has(type)) return { ...data, type, at: new Date(receivedAt).toISOString() } as TransientEvent;
  return null;
}

export function isDurable(event: Event): event is DurableEvent {
  return DURABLE.has(event.type);
}

export function isLocal(event: Event): event is WordSent | BranchPicked | MessagesDeleted {
  return !("at" in event);
}
