"""The MCP server itself, for both eras of the protocol: lists the tools, runs calls, says when the list has changed.
Where it is reached over HTTP, `web/gateway.py` has admitted each request before."""

import asyncio
import hashlib
import hmac
import json
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from windlass.core.errors import BadInput, NotFound, WindlassError
from windlass.core.values import value_object
from windlass.gateway.calls import Answer, FollowedCall, LeftCalls, Peer
from windlass.gateway.questions import modes_of
from windlass.gateway.results import failure
from windlass.gateway.sdk import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    MODERN_PROTOCOL_VERSIONS,
    AccessToken,
    AuthenticatedUser,
    InitializationOptions,
    InMemorySubscriptionBus,
    ListenHandler,
    MCPError,
    NotificationOptions,
    Server,
    ServerRequestContext,
    ServerSession,
    StreamableHTTPSessionManager,
    ToolsListChanged,
    stdio_server,
    types,
)
from windlass.gateway.sessions import Began, ProgramSessions
from windlass.services.gateway import Caller, Gateway, OfferedTool
from windlass.version import VERSION

MOST_SESSIONS = 1000
LEFT_S = 600.0  # how long a call that was given back with a question is kept
SESSION = "mcp-session-id"
VERSION_HEADER = "mcp-protocol-version"
HELD = "windlass.caller"  # where the HTTP server puts who calls, in a request's scope
INSTRUCTIONS = (
    "Tools of several MCP servers behind one address. A call may ask a person first and then takes as long as the "
    "person does. A call that ends with an unknown outcome may have had its effect: do not repeat it on your own."
)
Context = ServerRequestContext[Any, Any]


@value_object
class RequestEntry:
    """By which door a request came: the token's part of the caller, the server it is limited to, and where people
    decide."""

    caller: Caller
    server: str = ""
    page: str = ""


class McpServer:
    """`entry` is that of every request, over standard input; over HTTP each request holds its own."""

    def __init__(self, gateway: Gateway, entry: RequestEntry | None = None) -> None:
        self._gateway = gateway
        self._entry = entry
        self._changes = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._changes)
        self._sessions: OrderedDict[str, ServerSession] = OrderedDict()
        self._left = LeftCalls(gateway.stop, LEFT_S)
        self._seal = _Seal()
        self._announcing: set[asyncio.Task[None]] = set()
        self._server = _Announcing(
            "windlass",
            version=VERSION,
            title="Windlass",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=self._listening,
        )
        gateway.on_change.append(self._changed)

    @asynccontextmanager
    async def over_http(self, most_body: int) -> AsyncIterator[StreamableHTTPSessionManager]:
        manager = StreamableHTTPSessionManager(
            self._server, max_request_body_size=most_body, max_sessions=MOST_SESSIONS
        )
        try:
            async with manager.run():
                yield manager
        finally:
            self._close()

    async def over_stdio(self) -> None:
        """Until standard input is closed."""
        try:
            async with stdio_server() as (read, write):
                await self._server.run(read, write, self._server.create_initialization_options())
        finally:
            self._close()

    def forget(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)

    def _close(self) -> None:
        self._gateway.on_change.remove(self._changed)
        self._left.close()
        self._listening.close()

    async def _list(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        entry = self._entered(ctx)
        try:
            offered = await self._gateway.offered(entry.caller, entry.server)
        except NotFound as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from None
        return types.ListToolsResult(tools=[tool_of(one) for one in offered])

    async def _call(self, ctx: Context, params: types.CallToolRequestParams) -> Answer:
        entry = self._entered(ctx)
        peer = self._peer(ctx, entry)
        try:
            call = await self._begun(entry, peer, params)
        except (BadInput, NotFound) as error:
            raise MCPError(types.INVALID_PARAMS, f"{error.message} {error.hint}".rstrip()) from None
        except WindlassError as error:
            return failure(f"{error.message} {error.hint}".rstrip())
        answer = await call.answer()
        if isinstance(answer, types.InputRequiredResult) and answer.request_state:
            self._left.leave(answer.request_state.partition(".")[0])
            return answer.model_copy(update={"request_state": self._seal.sealed(answer.request_state)})
        return answer

    async def _begun(self, entry: RequestEntry, peer: Peer, params: types.CallToolRequestParams) -> FollowedCall:
        arguments = params.arguments or {}
        if params.request_state:
            turn_id, mark = self._seal.opened(params.request_state)
            await self._gateway.check_resumed(entry.caller, turn_id, params.name, arguments)
            call = FollowedCall(self._gateway, peer, turn_id)
            await call.respond(mark, params.input_responses or {})
            self._left.take(turn_id)  # an answer that does not fit leaves it where it was
            return call
        asks = bool(peer.page) or peer.takes("approval", self._gateway.approve, None)
        turn_id = await self._gateway.begin(entry.caller, entry.server, params.name, arguments, asks)
        return FollowedCall(self._gateway, peer, turn_id)

    def _peer(self, ctx: Context, entry: RequestEntry) -> Peer:
        if ctx.request_id is None:
            raise MCPError(types.INVALID_REQUEST, "A call needs a request id.")
        return Peer(
            entry.caller,
            ctx.session,
            ctx.request_id,
            modes_of(ctx.session.client_capabilities),
            ctx.protocol_version in MODERN_PROTOCOL_VERSIONS,
            entry.page,
        )

    def _entered(self, ctx: Context) -> RequestEntry:
        """Who calls, with the name the program gave. Its session hears of changes from here on."""
        entry: RequestEntry = self._entry or ctx.request.scope[HELD]  # type: ignore[union-attr]
        headers: Mapping[str, str] = ctx.request.headers if isinstance(ctx.request, Request) else {}
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            self._remember(headers.get(SESSION, ""), ctx.session)
        info = ctx.session.client_params.client_info if ctx.session.client_params else None
        caller = entry.caller
        named = Caller(
            info.name if info else "",
            info.version if info else "",
            caller.token_id,
            caller.token_name,
            caller.may_approve,
        )
        return RequestEntry(named, entry.server, entry.page)

    def _remember(self, session_id: str, session: ServerSession) -> None:
        self._sessions.setdefault(session_id, session)
        self._sessions.move_to_end(session_id)
        if len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def _changed(self) -> None:
        task = asyncio.ensure_future(self._announce())
        self._announcing.add(task)
        task.add_done_callback(self._announcing.discard)

    async def _announce(self) -> None:
        await self._changes.publish(ToolsListChanged())
        for session in list(self._sessions.values()):
            await session.send_tool_list_changed()


class _Announcing(Server[Any]):
    """Says at the handshake that it tells of changes, which the SDK's HTTP sessions leave out."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        return super().create_initialization_options(
            notification_options or NotificationOptions(tools_changed=True), experimental_capabilities, extensions
        )


class _Seal:
    """On what a program is given to bring back: a turn, and the question it left with. No restart needs to know it,
    since a call that was open then is closed."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def sealed(self, state: str) -> str:
        return f"{state}.{self._digest(state)}"

    def opened(self, sealed: str) -> tuple[str, str]:
        state, _, digest = sealed.rpartition(".")
        if not hmac.compare_digest(digest.encode(), self._digest(state).encode()):
            raise BadInput("requestState is not what this call was given.", hint="Call the tool anew.")
        turn_id, _, mark = state.partition(".")
        return turn_id, mark

    def _digest(self, state: str) -> str:
        return hashlib.blake2b(state.encode("utf-8", "replace"), key=self._key, digest_size=16).hexdigest()


def tool_of(offered: OfferedTool) -> types.Tool:
    """As its server defines it, under the name and with the description that a conversation gives it."""
    spec, tool = offered.spec, offered.definition
    schema: Any = dict(tool.input_schema or {}) if tool else _schema(spec.schema)
    return types.Tool(
        name=spec.name,
        title=(tool.title if tool else "") or None,
        description=spec.description or None,
        input_schema={"type": "object", **schema},
        output_schema=dict(tool.output_schema) if tool and tool.output_schema else None,
        annotations=types.ToolAnnotations.model_validate(dict(tool.annotations)) if tool and tool.annotations else None,
    )


def _schema(text: str) -> Any:
    return json.loads(text) if text else {}


@asynccontextmanager
async def http_server(gateway: Gateway, most_body: int) -> AsyncIterator["HttpServer"]:
    server = McpServer(gateway)
    async with server.over_http(most_body) as manager:
        yield HttpServer(server, manager)


class HttpServer:
    def __init__(self, server: McpServer, manager: StreamableHTTPSessionManager) -> None:
        self._server = server
        self._manager = manager
        self._sessions = ProgramSessions(self._end)

    async def handle(self, entry: RequestEntry, scope: Scope, receive: Receive, send: Send) -> None:
        """A session belongs to the token that began it: the SDK compares users."""
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]  # the parser leaves some at the end
        token_id = entry.caller.token_id
        scope = {**scope, "headers": headers, "user": _user(token_id), HELD: entry}
        session_id = Headers(scope=scope).get(SESSION)
        if session_id is None and _may_begin(scope):
            async with self._sessions.opening(token_id) as began:
                return await self._manager.handle_request(scope, receive, _noting(began, send))
        with self._sessions.used(session_id or "", token_id):
            try:
                await self._manager.handle_request(scope, receive, send)
            finally:
                if session_id and scope["method"] in ("GET", "DELETE"):  # nothing hears of changes but what listens
                    self._server.forget(session_id)
                if session_id and scope["method"] == "DELETE":
                    self._sessions.forget(session_id, token_id)

    async def end_sessions(self, token_id: str) -> None:
        """The token is void."""
        await self._sessions.end_all(token_id)

    async def _end(self, session_id: str, token_id: str) -> None:
        """As its program would."""
        headers = [(SESSION.encode(), session_id.encode())]
        scope = {"type": "http", "method": "DELETE", "path": "/mcp", "query_string": b"", "headers": headers}
        await self._manager.handle_request({**scope, "user": _user(token_id)}, _no_body, _unread)
        self._server.forget(session_id)


def _user(token_id: str) -> AuthenticatedUser:
    return AuthenticatedUser(AccessToken(token="-", client_id=token_id, scopes=[]))  # noqa: S106 - none is needed


def _may_begin(scope: Scope) -> bool:
    """Whether this may begin a session: the protocol without a handshake has none."""
    version = Headers(scope=scope).get(VERSION_HEADER)
    return scope["method"] == "POST" and (version is None or version in HANDSHAKE_PROTOCOL_VERSIONS)


def _noting(began: Began, send: Send) -> Send:
    """Tells the id of the session that an answer begins."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] < 400:
            if session_id := Headers(raw=message["headers"]).get(SESSION):
                began(session_id)
        await send(message)

    return sent


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unread(message: Message) -> None: ...
