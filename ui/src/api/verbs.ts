/** Every verb of the interface that the page uses, by the word on its button. */

import type { Scope } from "../state";
import { get, patch, post, put, remove, send, errorOf } from "./http";
import type {
  Approval,
  AvailableTools,
  ConversationInfo,
  ImportNote,
  LimitInfo,
  LocalServer,
  ModelListing,
  PersonaInfo,
  ProviderFields,
  ProviderInfo,
  ProviderTest,
  ResultPiece,
  Rule,
  SearchState,
  ServerFields,
  ServerInfo,
  ServerTool,
  TurnInfo,
  WebSearch,
} from "./shapes";

const e = encodeURIComponent;
const call = (turn: string, id: string) => `/turns/${e(turn)}/calls/${e(id)}`;

export interface Listing {
  conversations: ConversationInfo[];
  count: number;
  next_cursor: string | null;
}

export const conversations = {
  list: (cursor = "", limit = 100) =>
    get<Listing>(`/conversations?limit=${limit}${cursor && `&cursor=${e(cursor)}`}`),
  search: (q: string) => get<Listing>(`/conversations/search?q=${e(q)}`),
  get: (id: string) => get<{ conversation: ConversationInfo }>(`/conversations/${e(id)}`),
  create: (fields: { title?: string; persona?: string; provider?: string; model?: string } = {}) =>
    post<{ conversation: ConversationInfo }>("/conversations", fields),
  change: (
    id: string,
    fields: Partial<Pick<ConversationInfo, "title" | "persona" | "provider" | "model" | "system_prompt">>,
  ) => patch<{ conversation: ConversationInfo }>(`/conversations/${e(id)}`, fields),
  delete: (id: string) => remove(`/conversations/${e(id)}`),
  import: (file: unknown) => post<{ conversation: ConversationInfo }>("/conversations/import", file),
  exportUrl: (id: string, format: "json" | "markdown") => `/conversations/${e(id)}/export?format=${format}`,
};

export interface Sending {
  content: string;
  client_message_id: string;
  parent_turn_id?: string | null;
  web_search?: WebSearch;
}

/**
 * Begin a turn. The events come over the conversation's own stream, so this one is let go as soon as the server has
 * taken the message; closing it does not stop the turn.
 */
export async function sendMessage(conversation: string, message: Sending): Promise<void> {
  const closing = new AbortController();
  const response = await send("POST", `/conversations/${e(conversation)}/chat`, message, {
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    signal: closing.signal,
  });
  if (!response.ok) throw await errorOf(response);
  closing.abort();
}

export const messages = {
  /** Gone for good; half a tool pair takes the other half along. */
  delete: (conversation: string, id: string) =>
    remove<{ deleted: string[] }>(`/conversations/${e(conversation)}/messages/${e(id)}`),
};

export const turns = {
  get: (id: string) => get<{ turn: TurnInfo }>(`/turns/${e(id)}`),
  log: (id: string) => get<{ events: Record<string, unknown>[] }>(`/turns/${e(id)}/log`),
  prompt: (id: string, request: number) =>
    get<{ request: number; requests: number; body: Record<string, unknown> }>(
      `/turns/${e(id)}/prompt?request=${request}`,
    ),
  stop: (id: string) => post(`/turns/${e(id)}/stop`),
  continue: (id: string, rounds?: number) => post(`/turns/${e(id)}/continue`, rounds ? { rounds } : {}),
  retry: (id: string, how: { model?: string; web_search?: WebSearch } = {}) =>
    post(`/turns/${e(id)}/retry`, how),
};

export interface Word {
  decision: "allow" | "deny";
  scope?: Scope;
  arguments?: Record<string, unknown>;
  reason?: string;
  hash?: string;
}

export const calls = {
  decide: (turn: string, id: string, word: Word) => post(`${call(turn, id)}/decision`, word),
  resolve: (turn: string, id: string, as: "retry" | "done" | "skip") =>
    post(`${call(turn, id)}/resolve`, { as }),
  answer: (
    turn: string,
    id: string,
    action: "accept" | "decline" | "cancel",
    content?: Record<string, unknown>,
  ) => post(`${call(turn, id)}/input`, content ? { action, content } : { action }),
  stop: (turn: string, id: string) => post(`${call(turn, id)}/stop`),
  retry: (turn: string, id: string) => post(`${call(turn, id)}/retry`),
};

export const tools = {
  available: (conversation: string) =>
    get<AvailableTools>(`/conversations/${e(conversation)}/tools/available`),
  enable: (conversation: string, server_id: string, tool_name: string, approval?: Approval) =>
    post(`/conversations/${e(conversation)}/tools`, { server_id, tool_name, ...(approval && { approval }) }),
  disable: (conversation: string, server: string, tool: string) =>
    remove(`/conversations/${e(conversation)}/tools?server_id=${e(server)}&tool_name=${e(tool)}`),
};

export const results = {
  piece: (id: string, offset = 0, length = 100_000) =>
    get<ResultPiece>(`/results/${e(id)}?offset=${offset}&length=${length}`),
};

const server = (id: string) => `/servers/${e(id)}`;

export const servers = {
  list: () => get<{ servers: ServerInfo[] }>("/servers"),
  add: (fields: Partial<ServerFields>) => post<{ server: ServerInfo }>("/servers", fields),
  change: (id: string, fields: Partial<ServerFields>) => patch<{ server: ServerInfo }>(server(id), fields),
  forget: (id: string) => remove(server(id)),
  import: (mcpServers: Record<string, unknown>) =>
    post<{ servers: ServerInfo[]; notes: ImportNote[] }>("/servers/import", { mcpServers }),
  confirm: (id: string, argv: string[]) => post<{ server: ServerInfo }>(`${server(id)}/confirm`, { argv }),
  start: (id: string) => post<{ server: ServerInfo }>(`${server(id)}/start`),
  stop: (id: string) => post<{ server: ServerInfo }>(`${server(id)}/stop`),
  tools: (id: string) => get<{ tools: ServerTool[]; status: string }>(`${server(id)}/tools`),
  log: (id: string) => get<{ lines: string[]; count: number }>(`${server(id)}/log`),
  /** Allow a changed tool again, as it is now; another definition than this one is a 409. */
  accept: (id: string, tool: string, hash: string) => post(`${server(id)}/tools/${e(tool)}/accept`, { hash }),
};

export const providers = {
  list: () => get<{ providers: ProviderInfo[] }>("/providers"),
  add: (fields: Partial<ProviderFields>) => post<{ provider: ProviderInfo }>("/providers", fields),
  change: (id: string, fields: Partial<ProviderFields>) =>
    patch<{ provider: ProviderInfo }>(`/providers/${e(id)}`, fields),
  forget: (id: string) => remove(`/providers/${e(id)}`),
  test: (id: string) => post<ProviderTest>(`/providers/${e(id)}/test`),
  models: (id: string) => get<ModelListing>(`/providers/${e(id)}/models`),
  /** Model servers that answer on this computer. */
  local: () => get<{ servers: LocalServer[] }>("/local-models"),
};

export const personas = {
  list: () => get<{ personas: PersonaInfo[] }>("/personas"),
  add: (fields: Partial<PersonaInfo>) => post<{ persona: PersonaInfo }>("/personas", fields),
  change: (id: string, fields: Partial<PersonaInfo>) => patch(`/personas/${e(id)}`, fields),
  delete: (id: string) => remove(`/personas/${e(id)}`),
};

export const policy = {
  get: () => get<{ rules: Rule[]; operator_rules: Rule[] }>("/policy"),
  put: (rules: Rule[]) => put<{ rules: Rule[] }>("/policy", { rules }),
};

export const house = {
  health: () => get<{ status: string; version: string }>("/health"),
  search: () => get<SearchState>("/search"),
  limits: () => get<{ limits: LimitInfo[] }>("/limits"),
};

export async function download(url: string): Promise<Blob> {
  const response = await send("GET", url);
  if (!response.ok) throw await errorOf(response);
  return response.blob();
}
