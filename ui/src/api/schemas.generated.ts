/**
 * Generated from the API's schemas by ui/generate_types.py: do not edit, run `make types`.
 *
 * Bodies of requests and answers. In a request, a field with a default may be left out; in an answer, only
 * a field that the server leaves out when it has nothing to say.
 */

/** The code of an error. A failed model or tool gives its cause, so others come too. */
export type ErrorCode =
  | "ambiguous_model"
  | "argv"
  | "attachment_too_large"
  | "bad_answer"
  | "bad_host"
  | "bad_input"
  | "budget_spent"
  | "builtin"
  | "call_ended"
  | "calls_of_a_program"
  | "client_message_id_used"
  | "command_missing"
  | "confirm_required"
  | "conflict"
  | "cross_site"
  | "data_folder_in_use"
  | "data_folder_unusable"
  | "denied"
  | "draft"
  | "env_values"
  | "error"
  | "fenced"
  | "file_damaged"
  | "forbidden"
  | "from_config"
  | "hash"
  | "instructions_changed"
  | "internal"
  | "malformed_json"
  | "message_too_long"
  | "method_not_allowed"
  | "model_error"
  | "model_not_found"
  | "model_required"
  | "needs_restart"
  | "no_server"
  | "no_sign_in"
  | "not_continuable"
  | "not_failed"
  | "not_found"
  | "not_json"
  | "not_unknown"
  | "not_waiting"
  | "nothing_to_confirm"
  | "nothing_to_retry"
  | "open_to_all"
  | "policy_changed"
  | "port_in_use"
  | "provider_unusable"
  | "rule_asks"
  | "scope_required"
  | "shutting_down"
  | "sign_in_refused"
  | "store_unavailable"
  | "token_too_short"
  | "too_large"
  | "too_many_connections"
  | "too_many_requests"
  | "too_many_sessions"
  | "too_slow"
  | "tool_changed"
  | "tool_error"
  | "turn_running"
  | "unauthorized"
  | "unavailable"
  | "unknown_model"
  | "unsupported_parameter"
  | "values_missing";

export type Scope = "ops" | "read" | "chat" | "approve" | "admin";

export type Approval = "auto" | "ask" | "deny";

export type ToolClass = "reads" | "changes" | "sends";

export type WebSearch = "auto" | "on" | "off";

export type Transport = "stdio" | "http" | "sse";

export type PermissionKind = "rule" | "grant" | "conversation" | "server" | "tool";

export type LimitSource = "default" | "file" | "saved";

export type WaitingFor = "slot" | "rate_limit" | "first_token" | "silence" | "server" | "tool" | "sign_in" | "person" | "budget";

export interface AcceptTool {
  /** Of the definition that was looked at */
  hash: string;
}

export interface Acknowledged {
  success: boolean;
  message: string;
}

/** A resource to be read before the turn begins. Its text is given to the model as text from outside. */
export interface AttachedResource {
  /** Slug or id */
  server: string;
  uri: string;
}

export interface AuditEntry {
  id: string;
  /** ISO 8601, UTC */
  at: string;
  /** The name of the token, or of the one that opened the session; `person` where none was needed */
  by: string;
  /** What was changed */
  kind: string;
  /** What was done to it */
  action: string;
  /** Which one: a slug or an id */
  target: string;
  /** Names of tools and of the fields that changed; no secrets, arguments or messages */
  summary: string;
}

export interface AuditList {
  entries: AuditEntry[];
  count: number;
  /** For the next page; null on the last one */
  next_cursor: string | null;
  success: boolean;
}

export interface AuditQuery {
  /** How many at most */
  limit?: number;
  /** `next_cursor` of the page before */
  cursor?: string;
  /** Not before this time, ISO 8601 */
  from?: string;
  /** Before this time, ISO 8601 */
  to?: string;
}

export interface AvailableTool {
  server_id: string;
  server_slug: string;
  server_name: string;
  tool_name: string;
  /** What the model calls it: its own name unless two enabled ones clash */
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
  /** What the server claims; not checked */
  annotations: Record<string, unknown>;
  approval: string;
  /** Roughly what offering it costs */
  tokens: number;
  enabled: boolean;
  title: string;
  /** Its definition changed after it was allowed; off until accepted */
  changed: boolean;
  /** What it does: guessed, or as a person corrected it */
  kind: ToolClass;
  /** The next request lists it. An enabled tool that is not listed is found by search */
  listed: boolean;
}

export interface AvailableTools {
  available_tools: AvailableTool[];
  count: number;
  unavailable: UnavailableServer[];
  success: boolean;
  cost?: ToolCost;
  /** What happens beyond the budget */
  warning?: string;
}

export interface Call {
  id: string;
  name: string;
  server_slug: string;
  arguments: string;
  state: "awaiting_approval" | "cancelled" | "denied" | "error" | "ok" | "queued" | "running" | "unknown";
  rule: string;
  hash: string;
  /** ISO 8601, UTC */
  started_at: string | null;
  /** ISO 8601, UTC */
  finished_at: string | null;
  result_id: string | null;
  /** What was repaired in the call as the model wrote it */
  repaired: string[];
  cause: string;
  /** The result as the model got it */
  result: string | null;
  /** What of the result is more than text */
  files: ResultFile[];
}

export interface CallInMessage {
  id: string;
  function: FunctionCall;
  type: "function";
}

export interface CallTool {
  name: string;
  arguments?: Record<string, unknown>;
  /** Send the bytes of pictures, sounds and files along */
  file_data?: boolean;
}

export interface ChangesQuery {
  /** As `Last-Event-ID`, for clients that cannot set the header */
  after?: string;
  /** Of this one everything is sent, as its own stream does; empty: of none */
  conversation_id?: string;
}

export interface ChatAnswer {
  success: boolean;
  user_message: Message | null;
  assistant_message: Message | null;
  message: string;
  turn_id: string;
  outcome: "added" | "answered" | "awaiting_person" | "failed" | "handed_over" | "limit" | "stopped";
  sources: Source[];
  searched: boolean;
  usage: TokenUsage;
  rounds: number;
  error?: Error;
  pending_calls?: PendingCall[];
  /** Enabled tools that could not be offered */
  unavailable?: UnavailableServer[];
}

export interface ChatRequest {
  content: string;
  /** The same one twice gives the same turn; so a lost answer can be asked for */
  client_message_id?: string;
  /** Answer after this turn: a branch. Default: the newest */
  parent_turn_id?: string | null;
  model?: string;
  temperature?: number | null;
  web_search?: WebSearch;
  /** Tool rounds; 1 is a single round */
  max_rounds?: number | null;
  /** A call that needs approval: wait for a person, or refuse it and let the model answer */
  asks?: "refuse" | "wait";
  /** Resources of servers, read before the turn begins */
  attachments?: AttachedResource[];
}

/** Of a prompt, or of a resource template. */
export interface CompleteArgument {
  argument: string;
  prompt?: string;
  template?: string;
  /** What is typed so far */
  value?: string;
  /** Those that are filled in already */
  arguments?: Record<string, string>;
}

export interface CompletedArgument {
  values: string[];
  has_more: boolean;
  success: boolean;
}

export interface Confirm {
  /** Exactly as `argv` shows it */
  argv: string[];
  /** As `env_values` shows it; refused when it is outdated */
  env_values?: Record<string, string>;
}

/** One of the three. */
export interface ConfirmSession {
  token?: string;
  /** The one-time key of a fresh login URL */
  key?: string;
  /** The digits that `windlass serve` prints */
  code?: string;
}

export interface ContextAnswer {
  context_id: string;
  context: ContextItem;
  success: boolean;
  message: string;
}

export interface ContextItem {
  id: string;
  descriptive_name: string;
  /** Labels, shown to the model with the content. They select nothing: the item is part of every prompt */
  related_keywords: string[];
  /** Labels, shown to the model as names. No file is read */
  related_files: string[];
  content: string;
}

export interface ContextItemChange {
  descriptive_name?: string;
  content?: string;
  /** Labels, shown to the model with the content. They select nothing: the item is part of every prompt */
  related_keywords?: string[];
  /** Labels, shown to the model as names. No file is read */
  related_files?: string[];
}

export interface ContextList {
  context: ContextItem[];
  count: number;
  success: boolean;
}

export interface Continue {
  rounds?: number | null;
}

export interface Conversation {
  id: string;
  title: string;
  description: string;
  system_prompt: string;
  persona: string;
  provider: string;
  model: string;
  temperature: number | null;
  max_tokens: number | null;
  max_messages: number | null;
  /** ISO 8601, UTC */
  created_at: string;
  /** ISO 8601, UTC */
  updated_at: string;
  /** The newest turn; messages are the path to it */
  head_turn_id: string | null;
  /** Of the newest turn */
  state: "awaiting_person" | "empty" | "finished" | "running";
  outcome: string | null;
  /** Calls in it that wait for approval */
  approvals: number;
  /** Calls in it whose outcome a person must tell */
  unknowns: number;
  /** Calls in it whose tool asks a person something */
  questions: number;
  /** What its newest turn waits for, once that has lasted 3 seconds */
  waiting: TurnWaiting | null;
  /** The program whose calls over MCP these are; listed while one of them waits */
  client: string;
  /** Where a search found its words: its best hit as text */
  excerpt?: string;
  /** Of a search, best first; at most 5 */
  hits?: MessageHit[];
}

export interface ConversationAnswer {
  conversation: Conversation;
  success: boolean;
  message: string;
}

/** PATCH and PUT alike: a field left out stays as it is. */
export interface ConversationChange {
  title?: string;
  description?: string;
  system_prompt?: string;
  persona?: string;
  provider?: string;
  model?: string;
  temperature?: number | null;
  max_tokens?: number | null;
  max_messages?: number | null;
}

export interface ConversationList {
  conversations: Conversation[];
  count: number;
  /** For the next page; null on the last one */
  next_cursor: string | null;
  success: boolean;
}

/** `once` allows this call alone. `conversation` and `always` save a grant, which `covers` this tool, this tool with exactly these arguments, or every tool of its server. */
export interface Decision {
  decision: "allow" | "deny";
  scope?: "always" | "conversation" | "once";
  /** Edited arguments; checked against the tool's schema */
  arguments?: Record<string, unknown> | null;
  /** Passed to the model */
  reason?: string;
  /** `hash` of the pending call; another one is a 409 */
  hash?: string;
  /** Accepted and not needed: always means always */
  emphatic?: boolean;
  /** Default: tool */
  covers?: "arguments" | "server" | "tool";
  /** Patterns over arguments, such as {"path": "/docs/*"}; only for `tool` */
  conditions?: Record<string, string>;
  /** When the grant ends */
  expires_at?: string;
}

export interface Deleted {
  /** Every message that is gone: half a tool pair takes the other */
  deleted: string[];
  success: boolean;
  message: string;
}

export interface EnableTool {
  /** Id or slug */
  server_id: string;
  tool_name: string;
  /** Left out, the tool is *named*: a reader runs; what changes or sends something runs until the chat has read text from outside, then asks; what says it destroys things asks */
  approval?: Approval;
  /** By itself. Beyond the budget of `GET .../tools/available` a picked tool is always listed; one that was switched on with all others of its server (false) is found by search */
  picked?: boolean;
}

export interface EnabledTool {
  server_id: string;
  server_slug: string;
  tool_name: string;
  approval: string;
}

export interface EnabledTools {
  enabled_tools: EnabledTool[];
  count: number;
  success: boolean;
  message: string;
}

export interface Error {
  /** For programs */
  code: string;
  /** What happened */
  message: string;
  /** What to do about it */
  hint?: string;
  /** Where exactly, for machines */
  detail?: unknown;
}

export interface EventLog {
  /** Each as on the event stream, with `event`, `id`, `seq`, `at` */
  events: Record<string, unknown>[];
  count: number;
  success: boolean;
}

export interface EventsQuery {
  /** As `Last-Event-ID`, for clients that cannot set the header */
  after?: string;
}

export interface Export {
  format: "windlass";
  version: number;
  /** ISO 8601, UTC */
  exported_at: string;
  conversation: Conversation;
  context: ContextItem[];
  enabled_tools: EnabledTool[];
  /** The path to the head */
  messages: Message[];
  /** All branches; unfinished turns as far as they got */
  turns: ExportedTurn[];
}

export interface ExportQuery {
  format?: "json" | "markdown";
}

export interface ExportedTurn {
  id: string;
  parent_turn_id: string | null;
  outcome: string | null;
  /** ISO 8601, UTC */
  started_at: string;
  messages: Message[];
}

export interface Failed {
  error: Error;
  success: boolean;
}

export interface FillServerPrompt {
  name: string;
  arguments?: Record<string, string>;
}

export interface FilledServerPrompt {
  description: string;
  /** All of it as one message, as it is inserted where a person writes */
  text: string;
  messages: ServerPromptMessage[];
  /** What of it cannot be part of a message */
  notes: string[];
  success: boolean;
}

export interface Finding {
  question: string;
  answer: "failed" | "no" | "yes";
  detail: string;
}

export interface FoundConfig {
  id: string;
  client: string;
  path: string;
  servers: FoundEntry[];
  /** Of those that are not here yet and can be imported */
  count: number;
  /** Why the file cannot be read */
  problem: string;
}

export interface FoundConfigs {
  configs: FoundConfig[];
  /** Of the servers that could be imported */
  count: number;
  success: boolean;
  message: string;
}

/** As far as it is shown before it is imported: names alone, no argument and no value. */
export interface FoundEntry {
  name: string;
  transport: Transport | null;
  /** Its program, or the host it is reached at */
  runs: string;
  env_names: string[];
  header_names: string[];
  /** Why it cannot be imported */
  problem: string;
  /** The same command or address is here already */
  added: boolean;
}

export interface FunctionCall {
  name: string;
  /** A JSON object as text */
  arguments: string;
}

export interface GalleryAdd {
  /** The entry's own when left out */
  name?: string;
  values?: Record<string, string>;
}

export interface GalleryEntry {
  id: string;
  name: string;
  description: string;
  publisher: string;
  /** What it needs of you; empty for none */
  needs: ("address" | "folder" | "key" | "sign_in")[];
  transport: Transport;
  /** With its version; parts to fill in stand as `${name}` */
  argv: string[];
  url: string;
  /** Of its package; empty for one that is reached by an address */
  version: string;
  /** What to send as `values` */
  asks: MissingValue[];
  homepage: string;
  /** What to know before adding it */
  note: string;
  /** Slugs of servers that were added from it */
  added: string[];
}

export interface GalleryList {
  entries: GalleryEntry[];
  count: number;
  success: boolean;
}

export interface GalleryQuery {
  /** Words; without any, all entries */
  q?: string;
}

export interface GrantCoverage {
  /** Past calls of the tool */
  calls: number;
  /** Those that the grant would have covered */
  covered: number;
  /** Some of those it covers, newest first */
  examples: ReplayedCall[];
  success: boolean;
}

export interface GrantTried {
  /** Id or slug */
  server: string;
  tool: string;
  /** Of the definition that it is bound to */
  hash: string;
  /** Argument to pattern */
  conditions?: Record<string, string>;
  /** For exactly these */
  arguments?: Record<string, unknown>;
  /** How many past calls of the tool to look at */
  last?: number;
}

export interface Health {
  status: "ok";
  version: string;
  success: boolean;
}

export interface ImportNote {
  name: string;
  /** Why it was left out; empty when it came in */
  problem: string;
  /** What of it was not taken, and what to look at */
  warnings: string[];
  /** Of the draft; empty when it was left out */
  slug: string;
}

/** What the import takes beside the object of another client. */
export interface ImportRequest {
  text?: string;
  found?: string[];
  only?: string[];
  values?: Record<string, string>;
}

export interface Imported {
  conversation: Conversation;
  /** How many messages came in */
  count: number;
  /** What was repaired */
  repairs: string[];
  success: boolean;
  message: string;
}

export interface ImportedServers {
  servers: Server[];
  count: number;
  notes: ImportNote[];
  success: boolean;
  message: string;
  /** Keys of the file that name no server */
  unread: string[];
}

export interface InputAnswer {
  action: "accept" | "cancel" | "decline";
  content?: Record<string, unknown> | null;
}

/** What an isolated program may touch besides. A change must be confirmed again. */
export interface Inside {
  read?: string[];
  write?: string[];
  /** Asked of `strict` alone */
  network?: boolean;
  /** `strict`: a home of its own that outlives it */
  keep_home?: boolean;
  /** 0 for no bound */
  memory_mib?: number;
  /** 0 for no bound */
  processes?: number;
}

export interface Limit {
  /** As in windlass.toml, under [limits] */
  name: string;
  /** null: none */
  value: number | null;
  default: number | null;
  source: LimitSource;
  /** PATCH /limits changes it; the others are read at the start */
  live: boolean;
}

export interface LimitChange {
  /** By name; null for none */
  limits: Record<string, number | null>;
}

export interface LimitList {
  limits: Limit[];
  count: number;
  success: boolean;
}

export interface LinkMade {
  /** On this server; good for one GET */
  url: string;
  /** ISO 8601, UTC */
  expires_at: string;
  success: boolean;
}

/** What an account can do, found by trying. It holds no secret and may be passed on. */
export interface LiveReport {
  provider: string;
  address: string;
  model: string;
  version: string;
  /** ISO 8601, UTC */
  at: string;
  rows: LiveRow[];
  /** That were sent to models and searches; 12 at most */
  requests: number;
  /** No row failed */
  ok: boolean;
  success: boolean;
}

export interface LiveRow {
  check: string;
  /** `no`: the account or the model does not have it */
  result: "failed" | "no" | "ok" | "skipped";
  detail: string;
  took_ms: number;
}

export interface LocalServer {
  name: string;
  base_url: string;
  models: string[];
}

export interface LocalServers {
  servers: LocalServer[];
  count: number;
  success: boolean;
}

/** One of the two. */
export interface LogIn {
  token?: string;
  /** The one-time key of a login URL */
  key?: string;
}

export interface LoginUrl {
  /** Opens the page and logs in, once */
  url: string;
  success: boolean;
}

export interface McpMessage {
  jsonrpc: "2.0";
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: Record<string, unknown>;
}

export interface Message {
  id: string;
  role: "assistant" | "system" | "tool" | "user";
  content: string | null;
  /** ISO 8601, UTC */
  timestamp: string;
  tool_calls?: CallInMessage[];
  tool_call_id?: string;
  /** The tool's name, on its result */
  name?: string;
  turn_id?: string;
  sources?: Source[];
  /** Numbers it cites that no source has */
  unknown_citations?: number[];
  usage?: TokenUsage;
  reasoning?: string;
  /** Resources that came with it */
  attached?: ShownAttachment[];
  error?: Error;
  /** On a tool's result: what is more than text */
  files?: ResultFile[];
  /** `provider/model` that answered, where it was a fallback */
  model?: string;
}

export interface MessageAnswer {
  message: Message;
  success: boolean;
}

export interface MessageHit {
  turn_id: string;
  message_id: string;
  role: "assistant" | "system" | "tool" | "user";
  /** ISO 8601, UTC */
  at: string;
  /** An excerpt in plain text: words around, word found, words around, ... and words around at last */
  pieces: string[];
}

export interface MessageList {
  messages: Message[];
  count: number;
  next_cursor: string | null;
  success: boolean;
}

export interface MessagesQuery {
  /** Another turn to end at: another branch */
  head?: string;
  /** How many at most; all of them without it */
  limit?: number | null;
  /** `next_cursor` of the page before */
  cursor?: string;
}

/** Something a person has to give before a draft can be confirmed or started. */
export interface MissingValue {
  name: string;
  /** What it is, in the words of the file it came from */
  label: string;
  /** Goes into the vault and never comes out */
  secret: boolean;
  /** Proposed; with one, an empty value counts as given */
  default: string | null;
  /** The parts it stands in, such as `argument 3` or `env TOKEN` */
  where: string[];
}

/** null: not known. */
export interface ModelInfo {
  id: string;
  provider_id: string;
  /** False where its name says that it embeds, ranks, draws or speaks */
  chats: boolean;
  /** Tokens that fit into a request and its reply */
  context: number | null;
  /** US dollars for a million tokens */
  input_price: number | null;
  /** US dollars for a million tokens */
  output_price: number | null;
  /** Takes pictures */
  images: boolean | null;
  /** Calls tools */
  tools: boolean | null;
  /** Takes sounds */
  audio: boolean | null;
  /** Who says so: the provider's list, or Windlass's own table */
  source: "" | "provider" | "table";
  /** The fields that come from the table although the provider tells others */
  from_table: string[];
  /** The table's date, where it is used */
  as_of: string;
}

export interface ModelList {
  models: ModelInfo[];
  count: number;
  /** Why the list could not be had */
  error?: Error;
  success: boolean;
}

/** Joined to the system prompt of every turn in this conversation. */
export interface NewContextItem {
  descriptive_name: string;
  content: string;
  /** Labels, shown to the model with the content. They select nothing: the item is part of every prompt */
  related_keywords?: string[];
  /** Labels, shown to the model as names. No file is read */
  related_files?: string[];
}

export interface NewConversation {
  /** Made from the first message when empty */
  title?: string;
  description?: string;
  /** Empty: the persona's */
  system_prompt?: string;
  /** Id of a persona */
  persona?: string;
  /** Id of a provider; empty: the default */
  provider?: string;
  /** Empty: the persona's, else the default */
  model?: string;
  temperature?: number | null;
  /** Context budget in tokens; null: none */
  max_tokens?: number | null;
  /** Context budget in messages; null: none */
  max_messages?: number | null;
}

export interface NewLink {
  /** What to read, with its query */
  path: string;
}

export interface NewMessage {
  role: "assistant" | "system" | "tool" | "user";
  content?: string | null;
  tool_calls?: CallInMessage[] | null;
  /** Of a call in the assistant message added just before */
  tool_call_id?: string | null;
  /** The tool's name; that of the call is kept */
  name?: string | null;
}

export interface NewPersona {
  name: string;
  system_prompt?: string;
  model?: string;
  temperature?: number | null;
  web_search?: WebSearch;
  tools?: string[];
}

export interface NewProvider {
  name: string;
  base_url: string;
  /** Kept in a file of its own, never returned */
  api_key?: string;
  /** Default model */
  model?: string;
  temperature?: number | null;
  default?: boolean;
}

/** A stdio server needs `command`, the others `url`. A new stdio server is a draft until its argv is confirmed. All of it may also stand under `server`, as mcp-open-client sends it. */
export interface NewServer {
  name: string;
  /** Made from the name when left out */
  slug?: string;
  transport?: Transport;
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  headers?: Record<string, string>;
  /** How to sign in where the server asks for it: a person does, or Windlass with its own secret */
  auth?: "" | "client_credentials" | "oauth";
  /** Of a client registered by hand; else one is registered */
  client_id?: string;
  /** Goes into the vault and never comes out */
  client_secret?: string;
  /** With spaces between; else those it asks for */
  scopes?: string;
  /** Who may get the secret; else whom the server names */
  issuer?: string;
  /** A public https page about this client */
  client_metadata_url?: string;
  /** Its read-only and idempotent hints are believed */
  trusted?: boolean;
  /** On in new chats, as a pattern; `*` is all */
  tools?: string;
  approval?: Approval | null;
  timeout_s?: number;
  retries?: number;
  parallel?: number;
  /** How far its program is isolated; `bwrap` is another name of `strict` */
  sandbox?: "bwrap" | "default" | "off" | "strict";
  inside?: Inside;
  /** What it says about its use goes to the model, fenced, while its tools are enabled */
  instructions?: boolean;
}

export interface NewToken {
  token: string;
  success: boolean;
  message: string;
}

export interface OfferedQuery {
  /** Words that address, name or description hold */
  q?: string;
  /** How many at most */
  limit?: number;
}

export interface PageQuery {
  /** How many at most */
  limit?: number;
  /** `next_cursor` of the page before */
  cursor?: string;
}

export interface PendingCall {
  call_id: string;
  /** Answered by decision, resolve and input, and by signing in to its server */
  kind: "approval" | "input" | "sign_in" | "unknown";
  name: string;
  server_slug: string;
  arguments: string;
  /** Why a person is asked */
  rule: string;
  /** Send it back with the decision: it names exactly what is allowed */
  hash: string;
  question?: string;
  question_schema?: Record<string, unknown>;
  /** An address the tool asks a person to visit */
  question_url?: string;
  /** Which setting decided that a person is asked, in words */
  why: string;
  /** Which of the seven steps of docs/approvals.md decided */
  step: number;
  /** The permission that decided, where one did */
  permission_id?: string;
  settle?: Settle;
}

export interface Permission {
  id: string;
  kind: PermissionKind;
  /** `named`: enabled by name, nothing else was set; reads run, the rest may ask */
  effect: "ask" | "auto" | "deny" | "named";
  /** Slug; in a rule a pattern */
  server: string;
  /** In a rule a pattern; `*` for all of the server */
  tool: string;
  scope: "always" | "conversation";
  /** Who set it; empty where that was not written down */
  by: string;
  /** ISO 8601, UTC */
  at: string | null;
  /** When it last decided a call; kept to the minute */
  last_used_at: string | null;
  /** Where it is set. What stands in the file is changed there */
  source: "built-in" | "conversation" | "decision" | "policy" | "server" | "windlass.toml";
  /** Patterns over arguments that a call must match */
  arguments?: Record<string, string>;
  /** Of a grant */
  covers?: "arguments" | "server" | "tool";
  conversation_id?: string;
  /** ISO 8601, UTC */
  expires_at?: string;
  /** Of a rule */
  name?: string;
  /** In windlass.toml */
  line?: number;
  /** Of the definition that a grant is bound to */
  hash?: string;
  /** Calls that it decided */
  uses: UsesCounted;
}

/** What one layer of permissions says about a call. They are listed in the order in which they are judged. */
export interface PermissionLayer {
  layer: "chat" | "grants" | "otherwise" | "rules" | "server";
  /** Empty: it says nothing about this call */
  effect: "" | "ask" | "auto" | "deny";
  why: string;
  decides: boolean;
  permission_id?: string;
}

export interface PermissionList {
  /** Rules first, in the order in which they are tried */
  permissions: Permission[];
  count: number;
  /** Settings of chats that are not listed; name a conversation */
  left_off: number;
  success: boolean;
}

export interface PermissionQuery {
  /** Id or slug: only what may decide its calls */
  server?: string;
  /** Only what may decide this tool's calls */
  tool?: string;
  /** Only what holds there; tools that were just named are listed too */
  conversation?: string;
}

export interface PermissionTest {
  /** Id or slug */
  server: string;
  tool: string;
  arguments?: Record<string, unknown>;
  /** As in this chat; default: a new one */
  conversation_id?: string;
}

export interface PermissionVerdict {
  verdict: "ask" | "auto" | "refuse";
  why: string;
  /** Which of the seven steps decided; 0: the call itself cannot run */
  step: number;
  /** Of the permission that decided; empty: none did */
  kind: PermissionKind | "";
  tool_class: ToolClass;
  /** Whether the tool is on there; if not, it is judged as if it was named */
  enabled: boolean;
  permission_id?: string;
  /** What each layer says, the one that decides marked */
  trace: PermissionLayer[];
  /** What brought text from outside into the chat, where that asks */
  outside: string;
  success: boolean;
}

export interface Persona {
  id: string;
  name: string;
  system_prompt: string;
  model: string;
  temperature: number | null;
  web_search: WebSearch;
  tools: string[];
  builtin: boolean;
}

export interface PersonaAnswer {
  persona: Persona;
  success: boolean;
  message: string;
}

export interface PersonaChange {
  name?: string;
  system_prompt?: string;
  model?: string;
  temperature?: number | null;
  web_search?: WebSearch;
  tools?: string[];
}

export interface PersonaList {
  personas: Persona[];
  count: number;
  success: boolean;
}

export interface PieceQuery {
  /** In characters */
  offset?: number;
  length?: number;
}

export interface Policy {
  rules: Rule[];
  /** As it was read: refused if the rules changed since then */
  version?: string;
}

export interface PolicyAnswer {
  rules: Rule[];
  count: number;
  /** From windlass.toml: they come first, and stay there */
  operator_rules: Rule[];
  /** Of `rules`; send it back with a change */
  version: string;
  success: boolean;
  message: string;
}

export interface PromptQuery {
  /** Which request of the turn, from 1 */
  request?: number;
}

export interface PromptSent {
  request: number;
  /** How many requests this turn has sent */
  requests: number;
  /** The exact request, with notes in place of the bytes of pictures and sounds */
  body: Record<string, unknown>;
  /** Why this prompt does not begin with the one before it, byte for byte: model, tools, loaded (tools were added to its list), persona, system_prompt, instructions, context, date, results, trimmed, deleted, pictures. Empty: it does, or it is the first */
  moved: string[];
  success: boolean;
}

export interface Provider {
  id: string;
  name: string;
  base_url: string;
  model: string;
  temperature: number | null;
  has_key: boolean;
  default: boolean;
  /** The built-in demo model: fixed replies, no key */
  demo: boolean;
  from_config: boolean;
  /** `provider/model`, asked in this order when this one cannot answer */
  fallback: string[];
}

export interface ProviderAnswer {
  provider: Provider;
  success: boolean;
  message: string;
}

export interface ProviderChange {
  name?: string;
  base_url?: string;
  /** Kept, never returned */
  api_key?: string;
  model?: string;
  temperature?: number | null;
  default?: boolean;
}

export interface ProviderList {
  providers: Provider[];
  count: number;
  success: boolean;
}

export interface ProviderTest {
  ok: boolean;
  took_ms: number;
  model: string;
  /** What it said, or what went wrong */
  message: string;
  hint: string;
  /** What the model can do, found by asking it */
  findings: Finding[];
  /** Of those, what Windlass needs and the model does not do */
  missing: string[];
  success: boolean;
}

export interface ReadResourceAnswer {
  contents: ResourceContent[];
  success: boolean;
}

export interface ReadServerResource {
  uri: string;
}

export interface Ready {
  status: "ready";
  version: string;
  running_turns: number;
  waiting_turns: number;
  watchers: number;
  /** How many servers in each status */
  servers: Record<string, unknown>;
  success: boolean;
}

/** Something isolation kept from a server that it seems to need. */
export interface RefusedPath {
  path: string;
  access: "read" | "write";
  /** What to write in windlass.toml to allow it */
  line: string;
  /** What to send as `inside` to allow it */
  inside: ShownInside;
}

export interface Replay {
  /** Tried behind the rules of windlass.toml, at its position */
  rule: TriedRule;
  /** How many past calls to try it on */
  last?: number;
  /** How many of the saved rules come before it */
  position?: number;
  /** Id of the saved rule that it replaces; what that one decided is judged anew */
  replaces?: string;
}

export interface Replayed {
  /** Past calls that were tried */
  calls: number;
  /** Those that the rule would have decided */
  matched: number;
  would_run: number;
  would_ask: number;
  would_deny: number;
  /** Some that it decides, those it changes first */
  examples: ReplayedCall[];
  /** That were not refused then and would be */
  stopped: number;
  /** That ran without asking then and would ask */
  asked: number;
  /** That asked or were refused then and would run without asking */
  freed: number;
  /** Of those, the ones that a person allowed */
  approved: number;
  success: boolean;
}

export interface ReplayedCall {
  turn_id: string;
  call_id: string;
  /** ISO 8601, UTC */
  at: string;
  server: string;
  tool: string;
  /** Shortened, without secrets */
  arguments: string;
  was: "ask" | "auto" | "refuse";
  would: "ask" | "auto" | "refuse";
  /** Of the person who was asked then */
  decision: "" | "allowed" | "denied";
}

export interface Resolution {
  /** Send it again; it was carried out; leave it unknown */
  as: "done" | "retry" | "skip";
}

export interface ResourceContent {
  uri: string;
  mime: string;
  text: string | null;
  /** In base64, where it is not text */
  blob: string | null;
  /** Characters of the text, or bytes */
  size: number;
  /** Only its beginning is here, or nothing of what is not text */
  truncated: boolean;
}

/** Something in a result to be seen, heard, saved or followed. */
export interface ResultFile {
  kind: "audio" | "file" | "image" | "link";
  /** Its position in the result's content */
  index: number;
  /** As the tool claims, unless it is a picture or sound of another type */
  mime: string;
  /** In bytes */
  size: number;
  name: string;
  /** Of a link */
  uri: string;
  /** Of the kept result that holds it */
  result_id?: string;
  /** In base64, where it was asked for */
  data?: string;
}

export interface ResultPiece {
  id: string;
  text: string;
  offset: number;
  length: number;
  /** Of the whole, in characters */
  size: number;
  next_offset: number | null;
  success: boolean;
}

export interface Retry {
  model?: string;
  web_search?: WebSearch;
}

/** The first rule that fits a call decides. `arguments` maps an argument's name or JSON pointer to a pattern over its text; `*` stands for all of them as compact JSON. `then` is the earlier spelling of `approval`: either is accepted, both are given. */
export interface Rule {
  approval?: Approval;
  /** `*` stands for anything */
  server?: string;
  /** `*` stands for anything */
  tool?: string;
  arguments?: Record<string, string>;
  /** Only tools whose server claims this */
  hint?: "" | "destructive" | "not_read_only" | "open_world" | "read_only";
  /** Shown on the approval card */
  name?: string;
  /** The earlier spelling of `approval` */
  then?: Approval;
  /** Given by the server; send it back to keep it */
  id?: string;
  /** Who set it; ignored in requests */
  by?: string;
  /** When; ignored in requests */
  at?: string;
  /** Of a rule that says `auto`: arguments that it does not name may be anything */
  other_arguments?: boolean;
  /** When the rule ends */
  expires_at?: string;
}

export interface SearchHit {
  title: string;
  url: string;
}

export interface SearchQuery {
  /** Words to find in messages */
  q: string;
  limit?: number;
}

export interface SearchState {
  /** As in windlass.toml, under [web_search] */
  backend: string;
  /** Whether a message that begins with `//` asks for a search */
  prefix: boolean;
  /** Whether the default provider's turns can search */
  ready: boolean;
  /** Why not, in words for a person; empty when it is ready */
  reason: string;
  success: boolean;
}

export interface SearchTest {
  /** What for */
  query: string;
}

export interface SearchTrial {
  backend: string;
  works: boolean;
  /** How many results in what time, or why there are none */
  told: string;
  hits: SearchHit[];
}

export interface SearchTrials {
  /** In the order in which they are asked; empty: search is off */
  trials: SearchTrial[];
  count: number;
  success: boolean;
}

export interface Server {
  id: string;
  name: string;
  slug: string;
  transport: Transport;
  /** The exact command; send it back to confirm */
  argv: string[];
  command: string;
  args: string[];
  env_names: string[];
  cwd: string;
  url: string;
  header_names: string[];
  trusted: boolean;
  tools: string;
  approval: Approval | null;
  timeout_s: number;
  retries: number;
  parallel: number;
  sandbox: string;
  /** The truth, now */
  status: "configured" | "draft" | "failed" | "needs_sign_in" | "running" | "starting" | "stopped";
  error: string | null;
  /** What a person should know of it although it runs */
  note: string | null;
  tool_count: number;
  latency_ms: number | null;
  /** The protocol version it speaks */
  era: string;
  /** Named in windlass.toml; edit it there */
  from_config: boolean;
  /** Since Windlass started */
  calls: number;
  /** How many of the calls failed */
  errors: number;
  /** When a failed one is tried again; null: not by itself */
  retry_at: string | null;
  /** ISO 8601, UTC */
  created_at: string | null;
  /** How to sign in where the server asks for it: a person does, or Windlass with its own secret */
  auth: "" | "client_credentials" | "oauth";
  client_id: string;
  scopes: string;
  issuer: string;
  /** Somebody signed in to it, and that has not ended */
  signed_in: boolean;
  /** When somebody must sign in again; null: renewed */
  sign_in_ends_at: string | null;
  /** A sign-in under way, or the last one if it failed */
  sign_in: ServerSignIn | null;
  /** What it may touch besides */
  inside: ShownInside;
  /** Null for one that is reached by an address */
  isolation: ServerIsolation | null;
  /** Of a draft: the variables that are confirmed with its command. Secrets are only named */
  env_values: Record<string, string>;
  /** To be given as `values` before it can be confirmed or started */
  missing: MissingValue[];
  /** What it says about its use goes to the model, fenced, while its tools are enabled */
  instructions: boolean;
  /** Them, while it runs; empty where it sends none */
  instructions_text: string;
  /** Of that text. Sent back with `instructions: true`, it accepts this text and no later one */
  instructions_hash: string;
  /** Since they were first used; they stay out until `instructions: true` is sent */
  instructions_changed: boolean;
  /** It runs, and says that it has resources */
  has_resources: boolean;
  /** It runs, and says that it has prompts */
  has_prompts: boolean;
}

export interface ServerAnswer {
  server: Server;
  success: boolean;
  message: string;
}

/** Changing what would be run, or its environment, makes a stdio server a draft again; secrets rotate freely. */
export interface ServerChange {
  name?: string;
  slug?: string;
  transport?: Transport;
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  headers?: Record<string, string>;
  /** How to sign in where the server asks for it: a person does, or Windlass with its own secret */
  auth?: "" | "client_credentials" | "oauth";
  /** Of a client registered by hand; else one is registered */
  client_id?: string;
  client_secret?: string;
  scopes?: string;
  issuer?: string;
  client_metadata_url?: string;
  trusted?: boolean;
  tools?: string;
  approval?: Approval | null;
  timeout_s?: number;
  retries?: number;
  parallel?: number;
  /** How far its program is isolated; `bwrap` is another name of `strict` */
  sandbox?: "bwrap" | "default" | "off" | "strict";
  inside?: Inside;
  /** What it says about its use goes to the model, fenced, while its tools are enabled */
  instructions?: boolean;
  /** As it was shown with the text that is accepted */
  instructions_hash?: string;
  /** For what `missing` asks for, by name */
  values?: Record<string, string>;
}

export interface ServerIsolation {
  wanted: "default" | "off" | "strict";
  /** What really holds */
  level: "bwrap" | "landlock" | "none";
  /** In words, where it is less than the most this machine can do */
  why: string;
  refused: RefusedPath[];
}

export interface ServerList {
  servers: Server[];
  count: number;
  success: boolean;
  message: string;
  /** Of the tools that a new chat has */
  cost?: ToolCost;
}

export interface ServerLog {
  /** The end of what the server wrote to stderr */
  lines: string[];
  count: number;
  success: boolean;
}

export interface ServerLogin {
  /** Where a program on this machine waits for the browser (http on 127.0.0.1 or localhost). Windlass's own /oauth/callback when left out */
  redirect_uri?: string;
}

/** What the authorization server adds to the address it sends the browser back to. */
export interface ServerLoginAnswer {
  state?: string;
  code?: string;
  iss?: string;
  error?: string;
  error_description?: string;
}

export interface ServerLoginBegun {
  /** To be opened in a browser within ten minutes */
  authorize_url: string;
  /** Who is asked */
  host: string;
  /** What it is asked for */
  scopes: SignInScope[];
  success: boolean;
  message: string;
}

export interface ServerPrompt {
  name: string;
  title: string;
  description: string;
  arguments: ServerPromptArgument[];
}

export interface ServerPromptArgument {
  name: string;
  title: string;
  description: string;
  required: boolean;
}

export interface ServerPromptMessage {
  role: "assistant" | "user";
  type: "other" | "resource" | "text";
  text: string;
  /** Of an embedded resource */
  uri?: string;
}

export interface ServerPrompts {
  prompts: ServerPrompt[];
  count: number;
  status: string;
  /** The server completes arguments */
  completes: boolean;
  success: boolean;
}

export interface ServerResource {
  uri: string;
  name: string;
  title: string;
  description: string;
  mime: string;
  /** Bytes, as the server claims */
  size: number | null;
}

export interface ServerResources {
  resources: ServerResource[];
  count: number;
  /** How many match; of one server at most 10,000 are known */
  total: number;
  status: string;
  success: boolean;
}

/** A person was sent to sign in. */
export interface ServerSignIn {
  host: string;
  /** Why it failed; empty while it is waited for */
  error: string;
}

export interface ServerTemplate {
  uri_template: string;
  name: string;
  title: string;
  description: string;
  mime: string;
  /** Its parts to be filled in */
  arguments: string[];
}

export interface ServerTemplates {
  templates: ServerTemplate[];
  count: number;
  status: string;
  success: boolean;
}

export interface ServerTool {
  name: string;
  title: string;
  description: string;
  input_schema: Record<string, unknown>;
  annotations: Record<string, unknown>;
  hash: string;
  tokens: number;
  /** Its definition changed after it was allowed */
  changed: boolean;
  /** Why it cannot be offered */
  problem: string;
  output_schema: Record<string, unknown>;
  /** What was agreed to, where it is another one now */
  was?: Record<string, unknown>;
  /** What it does; decides whether it asks where nothing was set */
  kind: ToolClass;
  /** Who corrected the kind; empty where it is a guess */
  kind_by: string;
}

export interface ServerTools {
  tools: ServerTool[];
  count: number;
  status: string;
  success: boolean;
}

export interface SessionInfo {
  id: string;
  /** Of the token that opened it */
  name: string;
  scopes: Scope[];
  /** What the browser calls itself, shortened */
  browser: string;
  /** ISO 8601, UTC */
  created_at: string;
  /** To the minute */
  last_used_at: string;
  /** ISO 8601, UTC */
  expires_at: string;
  /** Whether this request comes from it */
  current: boolean;
}

export interface SessionList {
  sessions: SessionInfo[];
  count: number;
  success: boolean;
}

export interface SessionOpened {
  /** Goes with every request as `x-windlass-session`; the cookie alone is refused */
  half: string;
  /** Of the token that opened the session */
  name: string;
  scopes: Scope[];
  /** ISO 8601, UTC */
  expires_at: string;
  success: boolean;
  message: string;
}

/** `name` and what follows only when signed in; all of it is null where the server runs without a token. */
export interface SessionState {
  signed_in: boolean;
  /** Whether this server asks for a token at all */
  auth: boolean;
  name: string | null;
  scopes: Scope[];
  /** ISO 8601, UTC */
  expires_at: string | null;
  /** Until then, what needs a fresh confirmation does not ask for one */
  confirmed_until: string | null;
  success: boolean;
}

/** A request that settles what waits, as it stands. For an approval it also lets such calls run from now on, where a grant can do that. */
export interface Settle {
  method: string;
  path: string;
  body: Record<string, unknown>;
}

export interface ShownAttachment {
  /** Its slug */
  server: string;
  uri: string;
  text: string;
}

export interface ShownInside {
  read: string[];
  write: string[];
  network: boolean;
  keep_home: boolean;
  memory_mib: number;
  processes: number;
}

export interface SignInScope {
  name: string;
  /** In words; empty where none are known */
  text: string;
}

export interface Source {
  /** Cited as [n] */
  n: number;
  title: string;
  url: string;
  call_id?: string;
}

export interface TokenInfo {
  id: string;
  name: string;
  scopes: Scope[];
  /** ISO 8601, UTC */
  created_at: string | null;
  /** To the minute */
  last_used_at: string | null;
  /** ISO 8601, UTC */
  expires_at: string | null;
  /** How many browsers are signed in with it */
  sessions: number;
  /** The token of the data folder or of WINDLASS_TOKEN */
  from_config: boolean;
}

export interface TokenList {
  tokens: TokenInfo[];
  count: number;
  success: boolean;
}

export interface TokenMade {
  token: TokenInfo;
  /** Shown this once */
  secret: string;
  success: boolean;
  message: string;
}

export interface TokenRequest {
  name: string;
  /** `chat` and `approve` include `read`; `admin` includes all */
  scopes: Scope[];
  /** ISO 8601, UTC */
  expires_at?: string | null;
}

export interface TokenUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
}

/** What the enabled tools cost in each request. Tokens are estimates. */
export interface ToolCost {
  tools: number;
  tokens: number;
  /** Of them, those that the next request lists */
  listed_tools: number;
  listed_tokens: number;
  /** `limits.tools` */
  budget_tools: number;
  /** `limits.tool_tokens` */
  budget_tokens: number;
  /** The model searches for tools that are not listed */
  exceeded: boolean;
}

export interface ToolKind {
  /** What it does; null returns to Windlass's guess */
  kind: ToolClass | null;
}

export interface ToolNamed {
  server_id: string;
  tool_name: string;
}

export interface ToolResult {
  text: string;
  state: "error" | "ok";
  result_id: string | null;
  size: number;
  shortened: boolean;
  took_ms: number;
  files: ResultFile[];
}

export interface ToolResultAnswer {
  result: ToolResult;
  success: boolean;
}

/** As in `/policy`. */
export interface TriedRule {
  /** `*` stands for anything */
  server?: string;
  /** `*` stands for anything */
  tool?: string;
  arguments?: Record<string, string>;
  /** Only tools whose server claims this */
  hint?: "" | "destructive" | "not_read_only" | "open_world" | "read_only";
  /** Shown on the approval card */
  name?: string;
  /** The earlier spelling of `approval` */
  then?: Approval;
  /** Given by the server; send it back to keep it */
  id?: string;
  /** Who set it; ignored in requests */
  by?: string;
  /** When; ignored in requests */
  at?: string;
  /** Of a rule that says `auto`: arguments that it does not name may be anything */
  other_arguments?: boolean;
  /** When the rule ends */
  expires_at?: string;
  approval: Approval;
}

export interface Turn {
  id: string;
  conversation_id: string;
  parent_turn_id: string | null;
  state: "awaiting_person" | "finished" | "running";
  outcome: string | null;
  error: Error | null;
  calls: Call[];
  usage: TokenUsage;
  rounds: number;
  answer: string | null;
  sources: Source[];
  searched: boolean;
  pending_calls: PendingCall[];
  /** How it began: `mcp` is a call of a program over MCP */
  origin: string;
  /** That was asked last: a fallback's, where the first could not answer */
  model: string;
  /** ISO 8601, UTC */
  started_at: string;
  /** ISO 8601, UTC */
  finished_at: string | null;
  /** The provider of `model` */
  provider: string;
  waiting: TurnWaiting | null;
  /** How it ended, in words; also that its web search failed */
  message: string;
  /** The program that calls over MCP, as it names itself */
  client: string;
  /** Servers whose enabled tools could not be offered when it began */
  unavailable: UnavailableServer[];
}

export interface TurnAnswer {
  turn: Turn;
  success: boolean;
  message: string;
  /** The grant that was saved with a decision */
  permission_id?: string;
}

export interface TurnList {
  turns: TurnSummary[];
  count: number;
  success: boolean;
}

export interface TurnSummary {
  id: string;
  parent_turn_id: string | null;
  state: "awaiting_person" | "finished" | "running";
  outcome: string | null;
  /** ISO 8601, UTC */
  started_at: string;
}

/** What the turn waits for just now. Fields that say nothing here are left out. */
export interface TurnWaiting {
  for: WaitingFor;
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

export interface UnavailableServer {
  server_slug: string;
  status: string;
  /** Why, where it is known */
  reason?: string;
}

/** How many calls it let run, made ask and refused. */
export interface UsesCounted {
  allowed: number;
  asked: number;
  stopped: number;
}

export interface WaitQuery {
  /** Seconds to wait until it ends or needs a person */
  wait?: number;
}
