/** Every verb of the interface that the page uses, by the verb on its button. */

import { withJson } from "../parts/exact";
import { JsonText, errorOf, get, patch, post, put, remove, send } from "./http";
import type { AvailableTools, Rule, ServerTool } from "./schemas";
import type * as api from "./schemas.generated";

const e = encodeURIComponent;
const call = (turn: string, id: string) => `/turns/${e(turn)}/calls/${e(id)}`;

export const conversations = {
  list: (cursor = "", limit = 100) =>
    get<api.ConversationList>(`/conversations?limit=${limit}${cursor && `&cursor=${e(cursor)}`}`),
  search: (q: string) => get<api.ConversationList>(`/conversations/search?q=${e(q)}`),
  get: (id: string) => get<api.ConversationAnswer>(`/conversations/${e(id)}`),
  create: (fields: api.NewConversation = {}) => post<api.ConversationAnswer>("/conversations", fields),
  change: (id: string, fields: api.ConversationChange) =>
    patch<api.ConversationAnswer>(`/conversations/${e(id)}`, fields),
  /** `more` can have it outlive the page. */
  delete: (id: string, more?: RequestInit) => send("DELETE", `/conversations/${e(id)}`, undefined, more),
  import: (file: unknown) => post<api.Imported>("/conversations/import", file),
  exportUrl: (id: string, format: Required<api.ExportQuery>["format"]) =>
    `/conversations/${e(id)}/export?format=${format}`,
};

/**
 * Begin a turn. The events come over the conversation's own stream, so this one is let go as soon as the server has
 * taken the message; closing it does not stop the turn.
 */
export async function sendMessage(conversation: string, message: api.ChatRequest): Promise<void> {
  const closing = new AbortController();
  const response = await send("POST", `/conversations/${e(conversation)}/chat`, message, {
    headers: { Accept: "text/event-stream" },
    signal: closing.signal,
  });
  if (!response.ok) throw await errorOf(response);
  closing.abort();
}

export const messages = {
  /** Gone for good; half a tool pair takes the other half along. */
  delete: (conversation: string, id: string) =>
    remove<api.Deleted>(`/conversations/${e(conversation)}/messages/${e(id)}`),
};

export const turns = {
  get: (id: string) => get<api.TurnAnswer>(`/turns/${e(id)}`),
  log: (id: string) => get<api.EventLog>(`/turns/${e(id)}/log`),
  prompt: (id: string, request: number) => get<api.PromptSent>(`/turns/${e(id)}/prompt?request=${request}`),
  stop: (id: string) => post(`/turns/${e(id)}/stop`),
  continue: (id: string, rounds?: number) => post(`/turns/${e(id)}/continue`, rounds ? { rounds } : {}),
  retry: (id: string, how: api.Retry = {}) => post(`/turns/${e(id)}/retry`, how),
};

export const calls = {
  decide: (turn: string, id: string, decision: api.Decision) => post(`${call(turn, id)}/decision`, decision),
  resolve: (turn: string, id: string, as: api.Resolution["as"]) => post(`${call(turn, id)}/resolve`, { as }),
  answer: (turn: string, id: string, action: api.InputAnswer["action"], content?: Record<string, unknown>) =>
    post(`${call(turn, id)}/input`, content ? { action, content } : { action }),
  stop: (turn: string, id: string) => post(`${call(turn, id)}/stop`),
  retry: (turn: string, id: string) => post(`${call(turn, id)}/retry`),
};

export const tools = {
  available: (conversation: string) =>
    get<AvailableTools>(`/conversations/${e(conversation)}/tools/available`),
  /** `picked`: by itself, not with all the others of its server. */
  enable: (
    conversation: string,
    server_id: string,
    tool_name: string,
    approval?: api.Approval,
    picked = true,
  ) =>
    post(`/conversations/${e(conversation)}/tools`, {
      server_id,
      tool_name,
      ...(approval && { approval }),
      ...(!picked && { picked }),
    }),
  disable: (conversation: string, server: string, tool: string) =>
    remove(`/conversations/${e(conversation)}/tools?server_id=${e(server)}&tool_name=${e(tool)}`),
};

export const results = {
  piece: (id: string, offset = 0, length = 100_000) =>
    get<api.ResultPiece>(`/results/${e(id)}?offset=${offset}&length=${length}`),
};

const server = (id: string) => `/servers/${e(id)}`;

export const servers = {
  list: () => get<api.ServerList>("/servers"),
  add: (fields: api.NewServer) => post<api.ServerAnswer>("/servers", fields),
  change: (id: string, fields: api.ServerChange) => patch<api.ServerAnswer>(server(id), fields),
  forget: (id: string) => remove(server(id)),
  /** The text of another client's file, or files of `found`. */
  import: (what: { text: string } | { found: string[]; only: string[] }) =>
    post<api.ImportedServers>("/servers/import", what),
  /** Looks at files of other clients on the server's machine. */
  found: () => get<api.FoundConfigs>("/servers/found"),
  gallery: (q: string) => get<api.GalleryList>(`/gallery?q=${e(q)}`),
  addKnown: (id: string, values: Record<string, string>) =>
    post<api.ServerAnswer>(`/gallery/${e(id)}/add`, { values }),
  /** Both as they were shown; refused when either is another by now. */
  confirm: (id: string, argv: string[], env_values: Record<string, string>) =>
    post<api.ServerAnswer>(`${server(id)}/confirm`, { argv, env_values }),
  start: (id: string) => post<api.ServerAnswer>(`${server(id)}/start`),
  stop: (id: string) => post<api.ServerAnswer>(`${server(id)}/stop`),
  login: (id: string) => post<api.ServerLoginBegun>(`${server(id)}/login`, {}),
  cancelLogin: (id: string) => remove(`${server(id)}/login`),
  logout: (id: string) => post<api.ServerAnswer>(`${server(id)}/logout`),
  tools: (id: string) => get<Omit<api.ServerTools, "tools"> & { tools: ServerTool[] }>(`${server(id)}/tools`),
  /** Null returns to the guess. */
  correctKind: (id: string, tool: string, kind: api.ToolClass | null) =>
    put<{ tools: ServerTool[] }>(`${server(id)}/tools/${e(tool)}/kind`, { kind }),
  log: (id: string) => get<api.ServerLog>(`${server(id)}/log`),
  resources: (id: string, q = "", limit = 200) =>
    get<api.ServerResources>(`${server(id)}/resources?limit=${limit}${q && `&q=${e(q)}`}`),
  templates: (id: string) => get<api.ServerTemplates>(`${server(id)}/templates`),
  prompts: (id: string) => get<api.ServerPrompts>(`${server(id)}/prompts`),
  readResource: (id: string, uri: string) =>
    post<api.ReadResourceAnswer>(`${server(id)}/resources/read`, { uri }),
  fillPrompt: (id: string, wanted: api.FillServerPrompt) =>
    post<api.FilledServerPrompt>(`${server(id)}/prompts/get`, wanted),
  complete: (id: string, wanted: api.CompleteArgument) =>
    post<api.CompletedArgument>(`${server(id)}/complete`, wanted),
  /** Allow a changed tool again, as it is now; another definition than this one is a 409. */
  accept: (id: string, tool: string, hash: string) => post(`${server(id)}/tools/${e(tool)}/accept`, { hash }),
};

export const providers = {
  list: () => get<api.ProviderList>("/providers"),
  add: (fields: api.NewProvider) => post<api.ProviderAnswer>("/providers", fields),
  change: (id: string, fields: api.ProviderChange) =>
    patch<api.ProviderAnswer>(`/providers/${e(id)}`, fields),
  forget: (id: string) => remove(`/providers/${e(id)}`),
  test: (id: string) => post<api.ProviderTest>(`/providers/${e(id)}/test`),
  models: (id: string) => get<api.ModelList>(`/providers/${e(id)}/models`),
  /** Model servers that answer on this computer. */
  local: () => get<api.LocalServers>("/local-models"),
};

export const personas = {
  list: () => get<api.PersonaList>("/personas"),
  add: (fields: api.NewPersona) => post<api.PersonaAnswer>("/personas", fields),
  change: (id: string, fields: api.PersonaChange) => patch(`/personas/${e(id)}`, fields),
  delete: (id: string) => remove(`/personas/${e(id)}`),
};

export const policy = {
  get: () => get<{ rules: Rule[]; operator_rules: Rule[]; version: string }>("/policy"),
  /** A rule that was read has both spellings of its approval; sent back changed, they would differ. */
  put: (rules: Rule[], version: string) =>
    put<{ rules: Rule[] }>("/policy", {
      rules: rules.map((rule) => ({ ...rule, then: undefined })),
      version,
    }),
};

export const permissions = {
  list: () => get<api.PermissionList>("/permissions"),
  revoke: (id: string) => remove(`/permissions/${e(id)}`),
  /** `given` is a JSON object as it was written: the server judges the very digits. */
  test: (call: Omit<api.PermissionTest, "arguments">, given: string) =>
    post<api.PermissionVerdict>("/permissions/test", new JsonText(withJson(call, "arguments", given))),
  restore: (id: string) => post(`/permissions/${e(id)}/restore`),
  replay: (tried: api.Replay) => post<api.Replayed>("/permissions/replay", tried),
  coverage: (grant: api.GrantTried) => post<api.GrantCoverage>("/permissions/coverage", grant),
};

export const sessions = {
  list: () => get<api.SessionList>("/sessions"),
  end: (id: string) => remove(`/sessions/${e(id)}`),
};

export const tokens = {
  list: () => get<api.TokenList>("/tokens"),
  make: (fields: api.TokenRequest) => post<api.TokenMade>("/tokens", fields),
  revoke: (id: string) => remove(`/tokens/${e(id)}`),
};

export const system = {
  health: () => get<api.Health>("/health"),
  search: () => get<api.SearchState>("/search"),
  limits: () => get<api.LimitList>("/limits"),
  changeLimits: (limits: api.LimitChange["limits"]) => patch<api.LimitList>("/limits", { limits }),
};
