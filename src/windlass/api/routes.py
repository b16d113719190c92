"""Every route, on one screen. The server's routing, `/openapi.json` and the table of the access tests are made of it.

`verb` names a method of `Local`: path parameters go in first, in order, then the query, then the body.
"""

from typing import Literal

from windlass.api import schemas as s
from windlass.core.values import value

Kind = Literal["json", "chat", "events", "export", "text", "access", "v1"]
BODY = 4 * 1024 * 1024
IMPORT = 20 * 1024 * 1024


@value
class Route:
    method: str
    path: str
    verb: str
    summary: str
    gives: object
    takes: object = None
    query: type[s.Request] | None = None
    status: int = 200
    kind: Kind = "json"
    public: bool = False  # needs no token
    most: int = BODY

    @property
    def tag(self) -> str:
        return self.verb.partition(".")[0]

    @property
    def operation(self) -> str:
        return self.verb.replace(".", "_") + ("_" + self.method.lower() if self.method == "PUT" else "")


ROUTES = (
    Route("POST", "/conversations/{conversation_id}/chat", "turns.chat", "Send a message and get the answer",
          s.ChatAnswer, s.ChatRequest, kind="chat"),
    Route("GET", "/conversations/{conversation_id}/events", "conversations.events", "Watch all turns of a conversation",
          s.EventStream, query=s.EventsQuery, kind="events"),
    Route("GET", "/turns/{turn_id}/events", "turns.events", "Watch one turn",
          s.EventStream, query=s.EventsQuery, kind="events"),
    Route("GET", "/turns/{turn_id}", "turns.get", "Look at a turn, or wait for it", s.TurnAnswer, query=s.WaitQuery),

    Route("POST", "/conversations", "conversations.create", "Start a conversation",
          s.ConversationAnswer, s.NewConversation, status=201),
    Route("GET", "/conversations", "conversations.recent", "List conversations, newest first",
          s.ConversationList, query=s.PageQuery),
    Route("GET", "/conversations/search", "conversations.search", "Find conversations by words in their messages",
          s.ConversationList, query=s.SearchQuery),
    Route("POST", "/conversations/import", "conversations.take_in", "Bring in an export or a list of messages",
          s.Imported, s.Import, status=201, most=IMPORT),
    Route("GET", "/conversations/{conversation_id}", "conversations.get", "Look at a conversation",
          s.ConversationAnswer),
    Route("PATCH", "/conversations/{conversation_id}", "conversations.change", "Change a conversation",
          s.ConversationAnswer, s.ConversationChange),
    Route("PUT", "/conversations/{conversation_id}", "conversations.change", "Change a conversation",
          s.ConversationAnswer, s.ConversationChange),
    Route("DELETE", "/conversations/{conversation_id}", "conversations.delete", "Delete a conversation for good",
          s.Acknowledged),
    Route("GET", "/conversations/{conversation_id}/export", "conversations.export", "Take a conversation out",
          s.Export, query=s.ExportQuery, kind="export"),
    Route("GET", "/conversations/{conversation_id}/turns", "conversations.turns", "List the tree of turns",
          s.TurnList),

    Route("GET", "/conversations/{conversation_id}/messages", "messages.get_all", "List the messages to the head",
          s.MessageList, query=s.HeadQuery),
    Route("POST", "/conversations/{conversation_id}/messages", "messages.add", "Put a message in by hand",
          s.MessageAnswer, s.NewMessage, status=201),
    Route("DELETE", "/conversations/{conversation_id}/messages/{message_id}", "messages.delete",
          "Blank a message for good", s.Deleted),

    Route("GET", "/conversations/{conversation_id}/context", "context.all", "List context items", s.ContextList),
    Route("POST", "/conversations/{conversation_id}/context", "context.add", "Add a context item",
          s.ContextAnswer, s.NewContextItem, status=201),
    Route("GET", "/conversations/{conversation_id}/context/{context_id}", "context.get", "Look at a context item",
          s.ContextAnswer),
    Route("PUT", "/conversations/{conversation_id}/context/{context_id}", "context.change", "Change a context item",
          s.ContextAnswer, s.ContextItemChange),
    Route("DELETE", "/conversations/{conversation_id}/context/{context_id}", "context.delete", "Delete a context item",
          s.Acknowledged),

    Route("GET", "/conversations/{conversation_id}/tools", "tools.enabled", "List the enabled tools", s.EnabledTools),
    Route("POST", "/conversations/{conversation_id}/tools", "tools.enable", "Enable a tool",
          s.EnabledTools, s.EnableTool),
    Route("DELETE", "/conversations/{conversation_id}/tools", "tools.disable", "Disable a tool",
          s.EnabledTools, query=s.ToolNamed),
    Route("GET", "/conversations/{conversation_id}/tools/available", "tools.available",
          "List the tools of running servers", s.AvailableTools),

    Route("GET", "/turns/{turn_id}/log", "turns.log", "Read the whole event log", s.EventLog),
    Route("GET", "/turns/{turn_id}/prompt", "turns.prompt", "See the exact request that was sent",
          s.PromptSent, query=s.PromptQuery),
    Route("POST", "/turns/{turn_id}/stop", "turns.stop", "Stop a turn", s.TurnAnswer),
    Route("POST", "/turns/{turn_id}/continue", "turns.go_on", "Go on after a limit, a stop or a failure",
          s.TurnAnswer, s.Continue, status=201),
    Route("POST", "/turns/{turn_id}/retry", "turns.retry", "Answer again, as a branch",
          s.TurnAnswer, s.Retry, status=201),
    Route("POST", "/turns/{turn_id}/calls/{call_id}/stop", "turns.stop_call", "Stop one call", s.TurnAnswer),
    Route("POST", "/turns/{turn_id}/calls/{call_id}/decision", "turns.decide", "Allow or deny a call",
          s.TurnAnswer, s.Decision),
    Route("POST", "/turns/{turn_id}/calls/{call_id}/resolve", "turns.resolve", "Say what became of an unknown call",
          s.TurnAnswer, s.Resolution),
    Route("POST", "/turns/{turn_id}/calls/{call_id}/retry", "turns.retry_call", "Run a failed call again in a new turn",
          s.TurnAnswer, status=201),
    Route("POST", "/turns/{turn_id}/calls/{call_id}/input", "turns.answer", "Answer what a tool asks",
          s.TurnAnswer, s.InputAnswer),
    Route("GET", "/results/{result_id}", "turns.result", "Read a tool result in full", s.ResultPiece,
          query=s.PieceQuery),

    Route("POST", "/servers", "servers.add", "Add an MCP server", s.ServerAnswer, s.NewServer, status=201),
    Route("GET", "/servers", "servers.all", "List MCP servers", s.ServerList),
    Route("POST", "/servers/import", "servers.take_in", "Add servers from another client's file, as drafts",
          s.ImportedServers, s.ImportServers, status=201, most=IMPORT),
    Route("GET", "/servers/{server}", "servers.get", "Look at a server", s.ServerAnswer),
    Route("PATCH", "/servers/{server}", "servers.change", "Change a server", s.ServerAnswer, s.ServerChange),
    Route("DELETE", "/servers/{server}", "servers.delete", "Stop and forget a server", s.Acknowledged),
    Route("POST", "/servers/{server}/confirm", "servers.confirm", "Confirm the exact command", s.ServerAnswer,
          s.Confirm),
    Route("POST", "/servers/{server}/start", "servers.start", "Start a server", s.ServerAnswer),
    Route("POST", "/servers/{server}/stop", "servers.stop", "Stop a server", s.ServerAnswer),
    Route("GET", "/servers/{server}/tools", "servers.tools", "List a server's tools", s.ServerTools),
    Route("POST", "/servers/{server}/tools/call", "servers.call_tool", "Call a tool", s.ToolResultAnswer, s.CallTool),
    Route("POST", "/servers/{server}/tools/{tool}/accept", "servers.accept_tool", "Agree to a changed tool",
          s.ServerTools, s.AcceptTool),
    Route("GET", "/servers/{server}/log", "servers.log", "Read the end of its stderr", s.ServerLog),

    Route("POST", "/providers", "providers.add", "Add a model provider", s.ProviderAnswer, s.NewProvider, status=201),
    Route("GET", "/providers", "providers.all", "List providers", s.ProviderList),
    Route("GET", "/local-models", "providers.local", "Look for model servers on this machine", s.LocalServers),
    Route("GET", "/providers/{provider_id}", "providers.get", "Look at a provider", s.ProviderAnswer),
    Route("PATCH", "/providers/{provider_id}", "providers.change", "Change a provider",
          s.ProviderAnswer, s.ProviderChange),
    Route("DELETE", "/providers/{provider_id}", "providers.delete", "Forget a provider and its key", s.Acknowledged),
    Route("POST", "/providers/{provider_id}/test", "providers.test", "Ask it for one word", s.ProviderTest),
    Route("GET", "/providers/{provider_id}/models", "providers.models", "List its models", s.ModelList),

    Route("POST", "/search/test", "search.test", "Try each web search backend by itself", s.SearchTrials, s.SearchTest),

    Route("GET", "/personas", "personas.all", "List personas", s.PersonaList),
    Route("POST", "/personas", "personas.add", "Add a persona", s.PersonaAnswer, s.NewPersona, status=201),
    Route("GET", "/personas/{persona_id}", "personas.get", "Look at a persona", s.PersonaAnswer),
    Route("PATCH", "/personas/{persona_id}", "personas.change", "Change a persona", s.PersonaAnswer, s.PersonaChange),
    Route("DELETE", "/personas/{persona_id}", "personas.delete", "Delete a persona", s.Acknowledged),
    Route("GET", "/policy", "policy.get", "Read the rules over calls", s.PolicyAnswer),
    Route("PUT", "/policy", "policy.put", "Replace the rules over calls", s.PolicyAnswer, s.Policy),

    Route("POST", "/v1/chat/completions", "v1.begin", "Chat in OpenAI's form, whole or streamed",
          s.Completion, s.CompletionRequest, kind="v1"),
    Route("GET", "/v1/models", "v1.models", "List models and personas in OpenAI's form", s.V1Models, kind="v1"),

    Route("POST", "/session", "access.log_in", "Trade the token for a session cookie", s.Acknowledged, s.LogIn,
          kind="access", public=True),
    Route("DELETE", "/session", "access.log_out", "End the session", s.Acknowledged, kind="access"),
    Route("POST", "/session/keys", "access.new_key", "Make a one-time login URL", s.LoginUrl,
          status=201, kind="access"),
    Route("POST", "/token/rotate", "access.rotate", "Replace the token and end every session", s.NewToken,
          kind="access"),
    Route("GET", "/health", "house.health", "Whether the server lives", s.Health, public=True),
    Route("GET", "/limits", "house.limits", "Read the limits in force", s.LimitList),
    Route("GET", "/search", "house.search", "Whether the web can be searched, and why not", s.SearchState),
    Route("GET", "/ready", "house.ready", "Whether it can work: the store is writable", s.Ready),
    Route("GET", "/openapi.json", "house.openapi", "This description", s.Description),
    Route("GET", "/metrics", "house.metrics", "Counters in Prometheus text", s.Metrics, kind="text"),
)  # fmt: skip
