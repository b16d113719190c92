"""Every route. The server's routing, `/openapi.json`, the client's calls and the access tests are made of this table: a
new endpoint is a row here and a method of a service marked `@serves(routes.GROUP.NAME)`."""

from typing import Any

from windlass.api import schemas as s
from windlass.api.route import IMPORT, Route, row


# fmt: off
class turns:
    chat = row("POST", "/conversations/{conversation_id}/chat", "Send a message and get the answer",
               s.ChatAnswer, str, s.ChatRequest, kind="chat", match_first=True, scope="chat")
    events = row("GET", "/turns/{turn_id}/events", "Watch one turn",
                 object, str, int, kind="events", request_schema=s.EventsQuery, response_schema=s.EventStream,
                 match_first=True)
    get = row("GET", "/turns/{turn_id}", "Read a turn, or wait for it",
              s.TurnAnswer, str, s.WaitQuery, match_first=True)
    log = row("GET", "/turns/{turn_id}/log", "Read the whole event log", s.EventLog, str)
    prompt = row("GET", "/turns/{turn_id}/prompt", "See the exact request that was sent",
                 s.PromptSent, str, s.PromptQuery)
    stop = row("POST", "/turns/{turn_id}/stop", "Stop a turn", s.TurnAnswer, str, scope="chat")
    continue_ = row("POST", "/turns/{turn_id}/continue", "Continue after a limit, a stop or a failure",
                    s.TurnAnswer, str, s.Continue, status=201, operation="turns_go_on", scope="chat")
    retry = row("POST", "/turns/{turn_id}/retry", "Answer again, as a branch", s.TurnAnswer, str, s.Retry, status=201,
                scope="chat")
    stop_call = row("POST", "/turns/{turn_id}/calls/{call_id}/stop", "Stop one call", s.TurnAnswer, str, str,
                    scope="chat")
    decide = row("POST", "/turns/{turn_id}/calls/{call_id}/decision", "Allow or deny a call",
                 s.TurnAnswer, str, str, s.Decision, scope="approve", sudo="depends", audit="call.decide")
    resolve = row("POST", "/turns/{turn_id}/calls/{call_id}/resolve", "Resolve a call of unknown outcome",
                  s.TurnAnswer, str, str, s.Resolution, scope="approve", audit="call.resolve")
    retry_call = row("POST", "/turns/{turn_id}/calls/{call_id}/retry", "Run a failed call again in a new turn",
                     s.TurnAnswer, str, str, status=201, scope="approve", audit="call.retry")
    answer = row("POST", "/turns/{turn_id}/calls/{call_id}/input", "Answer what a tool asks",
                 s.TurnAnswer, str, str, s.InputAnswer, scope="approve", audit="call.answer")
    result = row("GET", "/results/{result_id}", "Read a tool result in full", s.ResultPiece, str, s.PieceQuery)


class conversations:
    events = row("GET", "/conversations/{conversation_id}/events", "Watch all turns of a conversation",
                 object, str, int, kind="events", request_schema=s.EventsQuery, response_schema=s.EventStream,
                 match_first=True)
    changes = row("GET", "/events", "Watch the list of conversations change, and one of them in full",
                  object, str, int, kind="events", request_schema=s.ChangesQuery, response_schema=s.ChangesStream,
                  match_first=True)
    create = row("POST", "/conversations", "Start a conversation", s.ConversationAnswer, s.NewConversation, status=201,
                 scope="chat")
    recent = row("GET", "/conversations", "List conversations, newest first", s.ConversationList, s.PageQuery)
    search = row("GET", "/conversations/search", "Find conversations by words in their messages",
                 s.ConversationList, s.SearchQuery)
    import_ = row("POST", "/conversations/import", "Import an export or a list of messages",
                  s.Imported, object, status=201, max_bytes=IMPORT, request_schema=s.Import,
                  operation="conversations_take_in", scope="chat")
    get = row("GET", "/conversations/{conversation_id}", "Read a conversation", s.ConversationAnswer, str)
    change = row("PATCH", "/conversations/{conversation_id}", "Change a conversation",
                 s.ConversationAnswer, str, s.ConversationChange, scope="chat")
    change_put = row("PUT", "/conversations/{conversation_id}", "Change a conversation",
                     s.ConversationAnswer, str, s.ConversationChange, scope="chat")
    delete = row("DELETE", "/conversations/{conversation_id}", "Delete a conversation for good", s.Acknowledged, str,
                 scope="chat", sudo="depends", audit="conversation.delete")
    export = row("GET", "/conversations/{conversation_id}/export", "Export a conversation",
                 object, str, s.ExportQuery, kind="export", response_schema=s.Export)
    turns = row("GET", "/conversations/{conversation_id}/turns", "List the tree of turns", s.TurnList, str)


class messages:
    get_all = row("GET", "/conversations/{conversation_id}/messages", "List the messages to the head",
                  s.MessageList, str, s.MessagesQuery)
    add = row("POST", "/conversations/{conversation_id}/messages", "Add a message by hand",
              s.MessageAnswer, str, s.NewMessage, status=201, scope="chat")
    delete = row("DELETE", "/conversations/{conversation_id}/messages/{message_id}", "Blank a message for good",
                 s.Deleted, str, str, scope="chat", sudo="depends", audit="message.delete")


class context:
    all = row("GET", "/conversations/{conversation_id}/context", "List context items", s.ContextList, str)
    add = row("POST", "/conversations/{conversation_id}/context", "Add a context item",
              s.ContextAnswer, str, s.NewContextItem, status=201, scope="chat")
    get = row("GET", "/conversations/{conversation_id}/context/{context_id}", "Read a context item",
              s.ContextAnswer, str, str)
    change = row("PUT", "/conversations/{conversation_id}/context/{context_id}", "Change a context item",
                 s.ContextAnswer, str, str, s.ContextItemChange, operation="context_change_put", scope="chat")
    delete = row("DELETE", "/conversations/{conversation_id}/context/{context_id}", "Delete a context item",
                 s.Acknowledged, str, str, scope="chat")


class tools:
    enabled = row("GET", "/conversations/{conversation_id}/tools", "List the enabled tools", s.EnabledTools, str)
    enable = row("POST", "/conversations/{conversation_id}/tools", "Enable a tool", s.EnabledTools, str, s.EnableTool,
                 scope="chat", audit="permission.set")
    disable = row("DELETE", "/conversations/{conversation_id}/tools", "Disable a tool",
                  s.EnabledTools, str, s.ToolNamed, scope="chat")
    available = row("GET", "/conversations/{conversation_id}/tools/available", "List the tools of running servers",
                    s.AvailableTools, str)


class servers:
    add = row("POST", "/servers", "Add an MCP server", s.ServerAnswer, s.NewServer, status=201, sudo="depends",
              audit="server.add", wrapped="server")
    all = row("GET", "/servers", "List MCP servers", s.ServerList)
    import_ = row("POST", "/servers/import", "Add servers from another client's file, as drafts",
                  s.ImportedServers, dict, status=201, max_bytes=IMPORT, request_schema=s.ImportServers,
                  operation="servers_take_in", audit="server.import")
    found = row("GET", "/servers/found", "Look for the config files of other clients on this machine", s.FoundConfigs,
                scope="admin", match_first=True)
    get = row("GET", "/servers/{server}", "Read a server", s.ServerAnswer, str)
    change = row("PATCH", "/servers/{server}", "Change a server", s.ServerAnswer, str, s.ServerChange,
                 sudo="depends", audit="server.change")
    delete = row("DELETE", "/servers/{server}", "Stop and delete a server", s.Acknowledged, str, audit="server.delete")
    confirm = row("POST", "/servers/{server}/confirm", "Confirm the exact command", s.ServerAnswer, str, s.Confirm,
                  sudo="always", audit="server.confirm")
    start = row("POST", "/servers/{server}/start", "Start a server", s.ServerAnswer, str, audit="server.start")
    stop = row("POST", "/servers/{server}/stop", "Stop a server", s.ServerAnswer, str, audit="server.stop")
    login = row("POST", "/servers/{server}/login", "Begin to sign in to a server",
                s.ServerLoginBegun, str, s.ServerLogin, kind="login", audit="server.login")
    cancel_login = row("DELETE", "/servers/{server}/login", "Cancel a sign-in that is under way", s.ServerAnswer, str,
                       audit="server.login_cancel")
    finish_login = row("POST", "/servers/login/finish", "End a sign-in with what the browser came back with",
                       s.ServerAnswer, s.ServerLoginAnswer, audit="")
    logout = row("POST", "/servers/{server}/logout", "Sign out of a server", s.ServerAnswer, str,
                 audit="server.logout")
    callback = row("GET", "/oauth/callback", "Where a browser comes back to after a sign-in", s.Acknowledged,
                   s.ServerLoginAnswer, public=True, kind="callback")
    tools = row("GET", "/servers/{server}/tools", "List a server's tools", s.ServerTools, str)
    call_tool = row("POST", "/servers/{server}/tools/call", "Call a tool", s.ToolResultAnswer, str, s.CallTool,
                    audit="tool.call")
    accept_tool = row("POST", "/servers/{server}/tools/{tool}/accept", "Accept a changed tool",
                      s.ServerTools, str, str, s.AcceptTool, audit="tool.accept")
    correct_kind = row("PUT", "/servers/{server}/tools/{tool}/kind", "Correct whether a tool reads, changes or sends",
                       s.ServerTools, str, str, s.ToolKind, sudo="depends", audit="tool.kind")
    resources = row("GET", "/servers/{server}/resources", "List a server's resources",
                    s.ServerResources, str, s.OfferedQuery)
    templates = row("GET", "/servers/{server}/templates", "List templates of its resources' addresses",
                    s.ServerTemplates, str)
    prompts = row("GET", "/servers/{server}/prompts", "List a server's prompts", s.ServerPrompts, str)
    read_resource = row("POST", "/servers/{server}/resources/read", "Read a resource",
                        s.ReadResourceAnswer, str, s.ReadServerResource, scope="chat")
    fill_prompt = row("POST", "/servers/{server}/prompts/get", "Fill in a prompt",
                      s.FilledServerPrompt, str, s.FillServerPrompt, scope="chat")
    complete = row("POST", "/servers/{server}/complete", "Complete an argument of a prompt or a template",
                   s.CompletedArgument, str, s.CompleteArgument, scope="chat")
    log = row("GET", "/servers/{server}/log", "Read the tail of its stderr", s.ServerLog, str)


class gallery:
    find = row("GET", "/gallery", "Search the known servers that come with Windlass", s.GalleryList, s.GalleryQuery)
    add = row("POST", "/gallery/{entry}/add", "Add a known server, as a draft", s.ServerAnswer, str, s.GalleryAdd,
              status=201, audit="server.add")


class providers:
    add = row("POST", "/providers", "Add a model provider", s.ProviderAnswer, s.NewProvider, status=201,
              audit="provider.add")
    all = row("GET", "/providers", "List providers", s.ProviderList)
    local = row("GET", "/local-models", "Look for model servers on this machine", s.LocalServers)
    get = row("GET", "/providers/{provider_id}", "Read a provider", s.ProviderAnswer, str)
    change = row("PATCH", "/providers/{provider_id}", "Change a provider", s.ProviderAnswer, str, s.ProviderChange,
                 sudo="depends", audit="provider.change")
    delete = row("DELETE", "/providers/{provider_id}", "Delete a provider and its key", s.Acknowledged, str,
                 audit="provider.delete")
    test = row("POST", "/providers/{provider_id}/test", "Send a one-word test request", s.ProviderTest, str, audit="")
    check = row("POST", "/providers/{provider_id}/check", "Try its account with at most 12 small requests",
                s.LiveReport, str, audit="")
    models = row("GET", "/providers/{provider_id}/models", "List its models", s.ModelList, str)


class search:
    test = row("POST", "/search/test", "Try each web search backend by itself", s.SearchTrials, s.SearchTest, audit="")


class personas:
    all = row("GET", "/personas", "List personas", s.PersonaList)
    add = row("POST", "/personas", "Add a persona", s.PersonaAnswer, s.NewPersona, status=201, audit="persona.add")
    get = row("GET", "/personas/{persona_id}", "Read a persona", s.PersonaAnswer, str)
    change = row("PATCH", "/personas/{persona_id}", "Change a persona", s.PersonaAnswer, str, s.PersonaChange,
                 audit="persona.change")
    delete = row("DELETE", "/personas/{persona_id}", "Delete a persona", s.Acknowledged, str, audit="persona.delete")


class policy:
    get = row("GET", "/policy", "Read the rules over calls", s.PolicyAnswer)
    put = row("PUT", "/policy", "Replace the rules over calls", s.PolicyAnswer, s.Policy, operation="policy_put_put",
              sudo="depends", audit="rules.replace")


class permissions:
    all = row("GET", "/permissions", "List what decides whether calls run", s.PermissionList, s.PermissionQuery)
    delete = row("DELETE", "/permissions/{permission_id}", "Revoke a rule, a grant or a setting", s.Acknowledged, str,
                 scope="approve", sudo="depends", audit="permission.revoke")
    test = row("POST", "/permissions/test", "What a call would do, and why", s.PermissionVerdict, s.PermissionTest,
               scope="read")
    replay = row("POST", "/permissions/replay", "Try a rule on past calls", s.Replayed, s.Replay, scope="read")
    coverage = row("POST", "/permissions/coverage", "How many past calls a grant would cover", s.GrantCoverage,
                   s.GrantTried, scope="read")
    restore = row("POST", "/permissions/{permission_id}/restore", "Take a revocation back, as it was", s.Acknowledged,
                  str, scope="approve", sudo="depends", audit="permission.restore")


class v1:
    begin = row("POST", "/v1/chat/completions", "Chat in OpenAI's form, whole or streamed",
                s.Completion, s.CompletionRequest, kind="v1", scope="chat")
    models = row("GET", "/v1/models", "List models and personas in OpenAI's form", s.V1Models, kind="v1")
    model = row("GET", "/v1/models/{model}", "Look one of them up", s.V1Model, str, kind="v1")
    embeddings = row("POST", "/v1/embeddings", "Turn texts into vectors, by the model's provider",
                     s.Embeddings, s.EmbeddingsRequest, kind="v1", scope="chat")


class gateway:
    call = row("POST", "/mcp", "Windlass as an MCP server: list and call the tools that new chats have",
               object, object, kind="mcp", scope="chat", request_schema=s.McpMessage, response_schema=s.McpMessage)
    listen = row("GET", "/mcp", "Hear what the MCP server announces",
                 object, kind="mcp", scope="chat", response_schema=s.McpMessage)
    leave = row("DELETE", "/mcp", "End an MCP session", object, kind="mcp", scope="chat", response_schema=s.McpMessage)
    call_server = row("POST", "/mcp/{server}", "The same with the tools of one server",
                      object, str, object, kind="mcp", scope="chat", request_schema=s.McpMessage,
                      response_schema=s.McpMessage)
    listen_server = row("GET", "/mcp/{server}", "Hear what it announces", object, str, kind="mcp", scope="chat",
                        response_schema=s.McpMessage)
    leave_server = row("DELETE", "/mcp/{server}", "End a session of it", object, str, kind="mcp", scope="chat",
                       response_schema=s.McpMessage)


class access:
    state = row("GET", "/session", "Who is signed in", s.SessionState, kind="access", public=True, scope="any")
    log_in = row("POST", "/session", "Exchange a token or a login key for a session",
                 s.SessionOpened, s.LogIn, kind="access", public=True, scope="any", audit="session.sign_in")
    log_out = row("DELETE", "/session", "End the session", s.Acknowledged, kind="access", scope="any",
                  audit="session.sign_out")
    confirm = row("POST", "/session/confirm", "Confirm who is asking, for ten minutes",
                  s.SessionState, s.ConfirmSession, kind="access", scope="any", audit="session.confirm")
    new_key = row("POST", "/session/keys", "Make a one-time login URL",
                  s.LoginUrl, status=201, kind="access", sudo="always", audit="session.new_link")
    sessions = row("GET", "/sessions", "List the browsers that are signed in",
                   s.SessionList, kind="access", scope="admin")
    end_session = row("DELETE", "/sessions/{session_id}", "Sign a browser out", s.Acknowledged, str, kind="access",
                      audit="session.end")
    tokens = row("GET", "/tokens", "List the tokens", s.TokenList, kind="access", scope="admin")
    new_token = row("POST", "/tokens", "Make a token; its secret is shown once",
                    s.TokenMade, s.TokenRequest, status=201, kind="access", sudo="always", audit="token.add")
    revoke = row("DELETE", "/tokens/{token_id}", "Revoke a token and end its sessions",
                 s.Acknowledged, str, kind="access", audit="token.revoke")
    rotate = row("POST", "/token/rotate", "Replace the token and end its sessions",
                 s.NewToken, kind="access", sudo="always", audit="token.rotate")
    new_link = row("POST", "/links", "Make an address for one GET within a minute, without headers",
                   s.LinkMade, s.NewLink, status=201, kind="link", scope="any")
    follow_link = row("GET", "/l/{secret}", "Read what a link leads to, once",
                      object, str, kind="link", public=True, scope="any", response_schema=s.Linked)


class audit:
    all = row("GET", "/audit", "List who confirmed, approved, denied and changed what, newest first",
              s.AuditList, s.AuditQuery, scope="admin")


class system:
    health = row("GET", "/health", "Liveness check", s.Health, public=True, operation="house_health")
    limits = row("GET", "/limits", "Read the limits in force", s.LimitList, operation="house_limits")
    change_limits = row("PATCH", "/limits", "Change limits that windlass.toml does not set", s.LimitList, s.LimitChange,
                        scope="admin", sudo="depends", audit="limits.change")
    search = row("GET", "/search", "Whether the web can be searched, and why not",
                 s.SearchState, operation="house_search")
    ready = row("GET", "/ready", "Readiness check: the store is writable", s.Ready, operation="house_ready",
                scope="ops")
    openapi = row("GET", "/openapi.json", "This description",
                  dict, kind="description", response_schema=s.Description, operation="house_openapi")
    metrics = row("GET", "/metrics", "Counters in Prometheus text",
                  str, kind="text", response_schema=s.Metrics, operation="house_metrics", scope="ops")
# fmt: on


GROUPS = (
    *(turns, conversations, messages, context, tools, servers, gallery, providers, search),
    *(personas, policy, permissions, v1, gateway, access, audit, system),
)
ROUTES: tuple[Route[..., Any], ...] = tuple(
    sorted(
        (route for group in GROUPS for route in vars(group).values() if isinstance(route, Route)),
        key=lambda route: not route.match_first,
    )
)
