/**
 * Generated from the server's events by ui/generate_types.py: do not edit, run `make types`.
 *
 * What the event stream sends. `type` is the event's name, which stands beside the data on the stream. A
 * field with a default may be missing: a server of another version does not send it.
 */

export type CallState = "ok" | "error" | "denied" | "cancelled" | "unknown";

export type Choice = "auto" | "none" | "required";

export type Outcome = "answered" | "limit" | "stopped" | "failed" | "handed_over" | "added";

export type Origin = "chat" | "continue" | "retry" | "call_retry" | "added" | "v1" | "mcp";

export type Search = "off" | "offered" | "due";

export type Verdict = "auto" | "ask" | "refuse";

export type Refusal = "" | "unknown_tool" | "bad_arguments" | "policy" | "changed" | "over_limit" | "handed_over";

export type Scope = "once" | "conversation" | "always";

export type Role = "user" | "assistant" | "system" | "tool";

export type ToolClass = "reads" | "changes" | "sends";

/** A call the model asked for. `arguments` is always the text of a JSON object: it can go back on any wire. */
export interface ToolCall {
  id: string;
  name: string;
  arguments?: string;
  wire_id?: string;
  raw?: string;
  broken?: string;
  repairs?: string[];
  extra?: string;
}

/** A picture or a sound, by where its bytes are kept: neither messages nor logs hold any. */
export interface MediaRef {
  source: string;
  at: number;
  mime: string;
  size: number;
}

/** A resource of a server, as it was read when its message was sent. */
export interface Attachment {
  id: string;
  server: string;
  uri: string;
  text: string;
}

export interface ChatMessage {
  role: Role;
  content: string | null;
  calls?: ToolCall[];
  call_id?: string;
  name?: string;
  reasoning?: string;
  parts?: (string | MediaRef)[];
  attached?: Attachment[];
}

export interface Limits {
  rounds?: number;
  calls?: number;
  attempts?: number;
  claims?: number;
  bad_tries?: number;
  repeats?: number;
  work_s?: number;
  tokens?: number | null;
}

/** A server whose tools were enabled and could not be offered. */
export interface MissingServer {
  server: string;
  state: string;
  reason?: string;
}

/** Frozen at the start, so that a turn resumed next week is the same turn. */
export interface Settings {
  provider?: string;
  model?: string;
  temperature?: number | null;
  persona?: string;
  system?: string;
  search?: Search;
  query?: string;
  toolset?: string;
  listed?: string[];
  most_listed?: number;
  history_from?: string;
  limits?: Limits;
  max_tokens?: number | null;
  choice?: Choice;
  asks?: "refuse" | "wait";
  parameters?: string;
  output?: string;
  fallback?: [string, string][];
  system_parts?: string[];
  note?: string;
  missing?: MissingServer[];
}

export interface Usage {
  prompt?: number;
  completion?: number;
  cached?: number;
  reasoning?: number;
}

export interface SourceLink {
  title: string;
  url: string;
}

/** Something in a result to be seen, heard, saved or followed. `at` is its position in the result's content. */
export interface OutputFile {
  kind: "audio" | "file" | "image" | "link";
  at: number;
  name?: string;
  mime?: string;
  size?: number;
  uri?: string;
  true_mime?: string;
}

/** What a tool gave: `text` is what the model reads, the whole is kept under `result_id`. */
export interface ToolOutput {
  text: string;
  result_id?: string;
  size?: number;
  shortened?: boolean;
  digest?: string;
  sources?: SourceLink[];
  untrusted?: boolean;
  foreign?: boolean;
  failed?: boolean;
  files?: OutputFile[];
  loads?: string[];
}

/** Where a durable event stands. `at` is ISO 8601. */
export interface EventHeader {
  turn_id: string;
  conversation_id: string;
  seq: number;
  at: string;
}

/** Transient events are not kept: they carry no id and no time. */
export interface TransientHeader {
  turn_id: string;
  seq: number;
}

export interface TurnStarted extends EventHeader {
  type: "turn_started";
  parent_turn_id: string | null;
  opening: ChatMessage[];
  settings?: Settings;
  origin?: Origin;
  client_message_id?: string;
  blanked?: number[];
  client?: string;
}

export interface TurnClaimed extends EventHeader {
  type: "turn_claimed";
  driver?: string;
  epoch?: number;
}

export interface ModelReplied extends EventHeader {
  type: "model_replied";
  text: string;
  calls?: ToolCall[];
  reasoning?: string;
  usage?: Usage;
  finish?: string;
  model?: string;
  repairs?: string[];
  raw?: string;
  sources?: SourceLink[];
  first_ms?: number;
  took_ms?: number;
  blanked?: boolean;
  promised?: boolean;
  extra?: string;
  provider?: string;
  history?: string;
  listed?: string;
  moved?: string[];
  media?: string;
}

export interface ModelFailed extends EventHeader {
  type: "model_failed";
  cause: string;
  message?: string;
  hint?: string;
  retryable?: boolean;
  wait_s?: number;
  partial?: string;
  status?: number;
  took_ms?: number;
  host?: string;
  model?: string;
  first_byte_ms?: number;
  silence_ms?: number;
}

export interface CallJudged extends EventHeader {
  type: "call_judged";
  call_id: string;
  verdict: Verdict;
  rule?: string;
  tool_hash?: string;
  safe?: boolean;
  refusal?: Refusal;
  reason?: string;
  server?: string;
  step?: number;
  permission?: string;
  reads?: boolean;
  outside?: string;
}

export interface CallDecided extends EventHeader {
  type: "call_decided";
  call_id: string;
  allow: boolean;
  scope?: Scope;
  arguments?: string;
  reason?: string;
  by?: string;
  permission?: string;
}

export interface CallResolved extends EventHeader {
  type: "call_resolved";
  call_id: string;
  how: "done" | "retry" | "skip";
  by?: string;
}

export interface ToolStarted extends EventHeader {
  type: "tool_started";
  call_id: string;
  safe?: boolean;
}

export interface ToolFinished extends EventHeader {
  type: "tool_finished";
  call_id: string;
  state: CallState;
  output?: ToolOutput;
  cause?: string;
  took_ms?: number;
  blanked?: boolean;
}

export interface StopRequested extends EventHeader {
  type: "stop_requested";
  by?: string;
  call_id?: string;
}

export interface HistoryTrimmed extends EventHeader {
  type: "history_trimmed";
  history_from: string;
  reason?: string;
}

export interface TurnFinished extends EventHeader {
  type: "turn_finished";
  outcome: Outcome;
  cause?: string;
  message?: string;
  hint?: string;
}

export interface TextDelta extends TransientHeader {
  type: "text_delta";
  attempt: number;
  text: string;
}

export interface ReasoningDelta extends TransientHeader {
  type: "reasoning_delta";
  attempt: number;
  text: string;
}

export interface CallDelta extends TransientHeader {
  type: "call_delta";
  attempt: number;
  index: number;
  name: string;
  arguments: string;
}

/** Discard the previous attempt's output; `attempt` begins. */
export interface ReplyReset extends TransientHeader {
  type: "reply_reset";
  attempt: number;
}

export interface ToolProgress extends TransientHeader {
  type: "tool_progress";
  call_id: string;
  progress: number;
  total?: number | null;
  message?: string;
}

/** A tool's server asks the person something; the call's time limit is suspended meanwhile. */
export interface InputNeeded extends TransientHeader {
  type: "input_needed";
  call_id: string;
  message: string;
  schema: string;
  url?: string;
}

/** What the turn waits for just now. Fields that say nothing here are left out. */
export interface Waiting extends TransientHeader {
  type: "waiting";
  for: "budget" | "first_token" | "person" | "rate_limit" | "server" | "sign_in" | "silence" | "slot" | "tool";
  /** ISO 8601, UTC */
  since: string;
  /** When the wait ends, or is given up */
  until?: string;
  /** Of the model's provider */
  host?: string;
  model?: string;
  /** Slug of the MCP server */
  server?: string;
  call_id?: string;
  /** The retry that comes next, of `attempts` */
  attempt?: number;
  attempts?: number;
  /** How many wait in front of it */
  ahead?: number;
  /** How long this usually takes, in seconds */
  usual_s?: number;
}

/** The reply as far as it has been streamed, for a watcher that joins in the middle of it. */
export interface ReplySoFar extends TransientHeader {
  type: "reply_so_far";
  attempt: number;
  text: string;
  reasoning: string;
  calls: Omit<CallDelta, keyof TransientHeader | "type">[];
}

/** Messages of one turn that were deleted from the log; watchers discard them too. */
export interface MessagesDeleted extends TransientHeader {
  type: "messages_deleted";
  ids: string[];
}

/** A result that was added by hand to a call added before; `part` is its index among the turn's first messages. */
export interface ResultAdded extends TransientHeader {
  type: "result_added";
  part: number;
  content: string;
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

export type TransientEvent =
  | TextDelta
  | ReasoningDelta
  | CallDelta
  | ReplyReset
  | ToolProgress
  | InputNeeded
  | Waiting
  | ReplySoFar
  | MessagesDeleted
  | ResultAdded;

export const DURABLE = [
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
] as const;

export const TRANSIENT = [
  "text_delta",
  "reasoning_delta",
  "call_delta",
  "reply_reset",
  "tool_progress",
  "input_needed",
  "waiting",
  "reply_so_far",
  "messages_deleted",
  "result_added",
] as const;
