/** What the server answers, where the page reads it. */

import type { JsonSchema } from "../state";

export type Approval = "auto" | "ask" | "deny";
export type WebSearch = "auto" | "on" | "off";

export interface ConversationInfo {
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
  created_at: string;
  updated_at: string;
  head_turn_id: string | null;
  state: "empty" | "running" | "awaiting_person" | "finished";
  outcome: string | null;
  /** Calls that wait for approval, and calls whose outcome a person must tell. */
  approvals: number;
  unknowns: number;
  excerpt?: string;
}

export interface PendingCall {
  call_id: string;
  kind: "approval" | "unknown" | "input";
  name: string;
  server_slug: string;
}

export interface TurnInfo {
  id: string;
  conversation_id: string;
  state: "running" | "awaiting_person" | "finished";
  pending_calls: PendingCall[];
}

export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

export interface AvailableTool {
  server_id: string;
  server_slug: string;
  server_name: string;
  tool_name: string;
  name: string;
  title?: string;
  description: string;
  input_schema: JsonSchema;
  annotations: ToolAnnotations;
  approval: Approval | "";
  tokens: number;
  enabled: boolean;
  changed?: boolean;
}

export interface AvailableTools {
  available_tools: AvailableTool[];
  count: number;
  unavailable: { server_slug: string; status: string }[];
  warning?: string;
}

export interface ServerInfo {
  id: string;
  name: string;
  slug: string;
  transport: "stdio" | "http" | "sse";
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
  status: "draft" | "configured" | "starting" | "running" | "failed" | "stopped";
  error: string | null;
  tool_count: number;
  latency_ms: number | null;
  era: string;
  from_config: boolean;
  created_at: string | null;
  calls: number;
  errors: number;
  /** When a failed one is tried again; null when it is left alone. */
  retry_at: string | null;
}

/** What goes in when a server is added or changed. A field left out stays as it is. */
export interface ServerFields {
  name: string;
  transport: ServerInfo["transport"];
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
  url: string;
  headers: Record<string, string>;
  trusted: boolean;
  tools: string;
  approval: Approval | null;
  timeout_s: number;
  retries: number;
  parallel: number;
  sandbox: "off" | "bwrap";
}

export interface ToolDefinition {
  title: string;
  description: string;
  input_schema: JsonSchema;
  annotations: ToolAnnotations;
  hash: string;
}

export interface ServerTool extends ToolDefinition {
  name: string;
  tokens: number;
  changed: boolean;
  problem: string;
  /** The definition that was allowed, on a changed tool. */
  was?: Omit<ToolDefinition, "hash"> | null;
}

/** What became of one entry of an import. */
export interface ImportNote {
  name: string;
  /** Why it was left out; "" when it came in. */
  problem: string;
  warnings: string[];
}

export interface ProviderInfo {
  id: string;
  name: string;
  base_url: string;
  model: string;
  temperature: number | null;
  has_key: boolean;
  default: boolean;
  demo: boolean;
  from_config: boolean;
}

export interface ProviderTest {
  ok: boolean;
  took_ms: number;
  model: string;
  message: string;
  hint: string;
  findings: Finding[];
}

/** One thing a model was asked to do, and whether it did. */
export interface Finding {
  question: string;
  answer: "yes" | "no" | "failed";
  detail: string;
}

/** A model server that answers on this computer. */
export interface LocalServer {
  name: string;
  base_url: string;
  models: string[];
}

export interface ProviderFields {
  name: string;
  base_url: string;
  api_key: string;
  model: string;
  temperature: number | null;
  default: boolean;
}

/** That the list cannot be had is an answer too: the configured model may work all the same. */
export interface ModelListing {
  models: ModelInfo[];
  error?: { message: string; hint?: string };
}

export interface ModelInfo {
  id: string;
  provider_id: string;
}

export interface PersonaInfo {
  id: string;
  name: string;
  system_prompt: string;
  model: string;
  temperature: number | null;
  web_search: WebSearch;
  tools: string[];
  builtin: boolean;
}

export interface Rule {
  then: Approval;
  server: string;
  tool: string;
  arguments: Record<string, string>;
  /** Only tools whose server claims this; "" for any. */
  hint: "" | "read_only" | "not_read_only" | "destructive" | "open_world";
  /** Shown to whoever is asked. */
  name: string;
}

/** A limit in force, and who set it. */
export interface LimitInfo {
  name: string;
  value: number | null;
  default: number | null;
  source: "default" | "file";
}

/** Whether a message that begins with `//` can search the web, and why it cannot. */
export interface SearchState {
  backend: string;
  prefix: boolean;
  ready: boolean;
  reason: string;
}

export interface ResultPiece {
  id: string;
  text: string;
  offset: number;
  length: number;
  size: number;
  next_offset: number | null;
}
