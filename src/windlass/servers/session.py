"""One open MCP session in terms of our own values: list the tools, call one, receive changes and questions. Imported
late, with `sdk`. Open and close it in one task; call from any."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urlsplit

from windlass.core.errors import ToolError, Unavailable
from windlass.servers.http import McpHttpClient, Streams, http_streams, names_a_lost_session, sse_streams
from windlass.servers.offered import ListKind
from windlass.servers.pipes import SPILLED, TOO_LONG, UNREADABLE, MakeProcess, Pipes, Progress, plain_result
from windlass.servers.sdk import (
    Client,
    ClientRequestContext,
    ElicitationFnT,
    IncomingMessage,
    MCPError,
    MessageHandlerFnT,
    PromptsListChanged,
    ResourcesListChanged,
    SubscriptionLost,
    ToolsListChanged,
    ValidationError,
    httpx2,
    types,
)
from windlass.servers.session_parts import part_of
from windlass.servers.session_requests import LIST_S, SessionRequests
from windlass.servers.sign_in import AccessRefused, SignIn, SignInNeeded
from windlass.servers.values import (
    Answered,
    CallDeadline,
    CallResult,
    InputReply,
    OnProgress,
    Question,
    ServerConfig,
    ToolDefinition,
    current,
)

_OTHER_WIRE = {400, 404, 405, 406, 415}  # how an address for the older SSE refuses a POST
_PAGES = 1000
MOST_TOOLS = 1000
KEY = "windlass/key"
OnChanged = Callable[[ListKind], None]
# How the SDK's own errors begin when the answer did not come from an MCP server. The call may have been carried out.
_PROTOCOL_ERRORS = {types.INVALID_REQUEST, types.CONNECTION_CLOSED, -32001}
_NO_ANSWER = ("Unexpected content type", "server answered a request with 202", "Redirect to")


class Session:
    def __init__(
        self,
        config: ServerConfig,
        client: Client,
        calls: list[CallDeadline],
        pipes: Pipes | None,
        http: McpHttpClient | None,
        sign_in: SignIn | None = None,
    ) -> None:
        self._config = config
        self._client = client
        self._sign_in = sign_in
        self._calls = calls
        self._pipes = pipes
        self._http = http
        self.requests = SessionRequests(client, self._failure, pipes)
        self.era = client.protocol_version
        self.left_out = 0  # tools that it lists beyond those that are taken
        info = client.server_info
        self.program = f"{info.name} {info.version}".strip() if info else ""

    @property
    def bad_lines(self) -> int:
        return self._pipes.bad_lines if self._pipes else 0

    async def tools(self) -> tuple[ToolDefinition, ...]:
        """All pages. Raises `ToolError` when the server gives no list that can be read in time, and `Unavailable` when
        it asks for a sign-in first."""
        found: dict[str, ToolDefinition] = {}
        cursor: str | None = None
        try:
            async with asyncio.timeout(LIST_S):
                for _ in range(_PAGES):
                    page = await self._client.list_tools(cursor=cursor, cache_mode="bypass")
                    found.update((tool.name, _definition_of(tool)) for tool in page.tools)
                    cursor = page.next_cursor
                    if not cursor or len(found) > MOST_TOOLS:
                        break
        except TimeoutError:
            raise ToolError("The server did not list its tools in time.", cause="timeout") from None
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND:
                return ()
            if self._http and self._http.status in (401, 403):  # some let anybody in, and ask at the first request
                raise _not_opened(self._config, self._http, self._sign_in) from error
            raise ToolError(f"The server did not list its tools: {error.message}", cause="rpc_error") from error
        except ValidationError as error:
            problem = "is too long for one message" if SPILLED in str(error) else "is malformed"
            raise ToolError(f"The server's list of tools {problem}.", cause="bad_result") from error
        self.left_out = max(0, len(found) - MOST_TOOLS)
        return tuple(found.values())[:MOST_TOOLS]

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        key: str,
        call: CallDeadline,
        on_progress: OnProgress | None,
        answered: Answered | None = None,
    ) -> CallResult:
        """Raises `ToolError` for every way in which there is no result. Cancelling sends the server a cancel."""

        def note(progress: float, total: float | None, message: str | None) -> None:
            call.renew()
            if on_progress:
                on_progress(progress, total, message or "")

        token = current.set(call)
        self._calls.append(call)
        try:
            async with call.begin():
                return await self._answer(tool, dict(arguments), {KEY: key} if key else {}, call, note, answered)
        except TimeoutError:
            raise ToolError(
                f"The tool gave no result within {call.quiet_s:g} s.", cause="timeout", sent=call.sent
            ) from None
        except MCPError as error:
            raise self._failure(error, call) from error
        except (ValidationError, RuntimeError) as error:
            raise ToolError(
                f"The server's answer was malformed: {_first_line(error)}", cause="bad_result", sent=call.sent
            ) from error
        finally:
            call.over.set()  # a question that is still open belongs to nobody now
            self._calls.remove(call)
            current.reset(token)

    async def _answer(
        self,
        tool: str,
        arguments: dict[str, Any],
        meta: dict[str, Any],
        call: CallDeadline,
        note: Progress,
        answered: Answered | None,
    ) -> CallResult:
        # `discover_result` is None in the handshake era only; a stateless call may come back as a question, which the
        # SDK's session answers and repeats.
        if self._pipes and self._client.session.discover_result is None:
            raw = await self._pipes.call(tool, arguments, meta, call, note)
            return plain_result(raw) or self._result(types.CallToolResult.model_validate(raw, by_name=False))

        async def noted(progress: float, total: float | None, message: str | None) -> None:
            note(progress, total, message)

        given = cast(types.RequestParamsMeta, meta) if meta else None
        result = await self._client.call_tool(
            tool,
            arguments,
            progress_callback=noted,
            meta=given,
            input_responses=_responses(answered) if answered else None,
            request_state=answered.question.state if answered else None,
        )
        return self._result(result)

    def _result(self, result: types.CallToolResult) -> CallResult:
        spilled = (result.meta or {}).get(SPILLED)
        if spilled is not None and self._pipes and (line := self._pipes.spilled.pop(spilled, None)):
            return CallResult(spilled=line)
        return result_of(result)

    def _failure(self, error: MCPError, call: CallDeadline) -> ToolError:
        """The engine must know whether the call may have had an effect. An error that the server itself answers ends
        the call with a known outcome (`sent` stays False); silence after sending does not."""
        trouble = self._http.trouble if self._http else ""
        if error.code in (TOO_LONG, UNREADABLE, types.PARSE_ERROR) or error.message.startswith(_NO_ANSWER):
            return ToolError(error.message, cause="bad_result", sent=call.sent)
        if call.status in (401, 403):
            return self._unauthorized(call.status, trouble)
        if call.status == 404 or self._session_lost(error, call):
            return ToolError(f"The server does not know this session: {error.message}", cause="session_gone")
        if self._closed(error) or call.status >= 500 or (self._http and call.status == 0):
            why = trouble or "it closed the connection"
            return ToolError(f"The server went away: {why}.", cause="server_gone", sent=call.sent)
        return ToolError(f"The server refused the call: {error.message}", cause="rpc_error")

    def _unauthorized(self, status: int, trouble: str) -> ToolError:
        """The server has not run the call. What it needs is a person's to give."""
        if self._sign_in is None:
            return ToolError(f"Not allowed: {trouble}.", cause="unauthorized", hint="Check the server's headers.")
        if scope := self._sign_in.challenge.scope:
            return ToolError(f"The sign-in does not cover this. Sign in again for {scope}.", cause="unauthorized")
        if status == 401:
            return ToolError(f"The sign-in has ended: {trouble}. Sign in again.", cause="unauthorized")
        return ToolError(f"Not allowed: {trouble}.", cause="unauthorized")

    def _session_lost(self, error: MCPError, call: CallDeadline) -> bool:
        """Some servers say it with another status than 404, some inside an answer that says 200. Errors of tools are
        results; this one came from the protocol, so the call was not run."""
        if self._http is None:
            return False
        if 400 <= call.status < 500:
            return self._http.session_lost
        return call.status == 200 and error.code in _PROTOCOL_ERRORS and names_a_lost_session(error.message)

    def _closed(self, error: MCPError) -> bool:
        """The SDK reports a lost connection with a code that servers also use for errors of their own."""
        lost = self._pipes is not None and self._pipes.lost
        from_sdk = error.message.startswith(("Connection closed", "SSE stream"))
        return error.code == types.CONNECTION_CLOSED and (lost or from_sdk)


@asynccontextmanager
async def open_session(
    config: ServerConfig,
    headers: Mapping[str, str],
    make_process: MakeProcess,
    *,
    on_changed: OnChanged,
    on_lost: Callable[[], None],
    sign_in: SignIn | None = None,
) -> AsyncIterator[Session]:
    """Where an address does not take streamable HTTP, the older SSE is tried. Raises `SignInNeeded` or `AccessRefused`
    where trying again would not help."""
    sign_in = sign_in if config.signs_in else None
    async with AsyncExitStack() as stack:
        try:
            session = await stack.enter_async_context(
                _opened(config, headers, make_process, on_changed, on_lost, sign_in)
            )
        except _NotSpoken as other:
            older = replace(config, transport="sse")
            try:
                opening = _opened(older, headers, make_process, on_changed, on_lost, sign_in)
                session = await stack.enter_async_context(opening)
            except Unavailable:
                raise Unavailable(other.message) from other  # the answer to what was tried first tells more
        yield session


class _NotSpoken(Unavailable):
    """The address answered, and not as streamable HTTP does."""


@asynccontextmanager
async def _opened(
    config: ServerConfig,
    headers: Mapping[str, str],
    make_process: MakeProcess,
    on_changed: OnChanged,
    on_lost: Callable[[], None],
    sign_in: SignIn | None,
) -> AsyncIterator[Session]:
    pipes = Pipes(make_process, on_lost) if config.transport == "stdio" else None
    http = McpHttpClient(config, headers, sign_in) if pipes is None else None
    calls: list[CallDeadline] = []
    client = Client(
        cast(Any, pipes or _streams(config, cast(McpHttpClient, http))),
        mode="auto" if config.transport != "sse" else "legacy",  # that wire is older than the stateless era
        message_handler=_changes(on_changed),
        elicitation_callback=_questions(calls),
        client_info=types.Implementation(name="windlass", version="0.1"),
        cache=None,
    )
    opened = False
    try:
        async with client:
            opened = True
            _skip_result_checks(client)
            _note_questions(client)
            yield Session(config, client, calls, pipes, http, sign_in)
    except (MCPError, ExceptionGroup, httpx2.HTTPError) as error:
        if opened or http is None or not http.trouble:
            raise
        raise _not_opened(config, http, sign_in) from error


def _not_opened(config: ServerConfig, http: McpHttpClient, sign_in: SignIn | None) -> Unavailable:
    status = http.status
    if http.asked_to_sign_in and status != 403:
        return SignInNeeded(f"{urlsplit(config.url).hostname} asks for a sign-in.")
    if status in (401, 403):
        advice = "The account that is signed in may not be allowed there." if sign_in else "Check the server's headers."
        return AccessRefused(f"{http.trouble}. {advice}")
    if config.transport == "http" and status in _OTHER_WIRE:
        return _NotSpoken(f"{http.trouble}.")
    return Unavailable(f"{http.trouble}.")


def _skip_result_checks(client: Client) -> None:
    """The SDK would check results with a second, slower JSON Schema library, list the tools again to do so, and discard
    the result of a tool that violates its own output schema. The result is worth more than the schema."""
    client.session.validate_tool_result = _no_check  # type: ignore[method-assign]


def _note_questions(client: Client) -> None:
    """The SDK asks the question and repeats the call by itself; what a later repeat would need is recorded here."""
    plain = client.session.call_tool

    async def noted(*args: Any, **options: Any) -> Any:
        result = await plain(*args, **options)
        call = current.get()
        if call and isinstance(result, types.InputRequiredResult):
            requests = list(result.input_requests or ())
            call.asked = (requests[0], result.request_state) if len(requests) == 1 else ("", None)
        return result

    client.session.call_tool = noted  # type: ignore[method-assign]


def _responses(answered: Answered) -> types.InputResponses:
    answer = answered.answer
    content = _content(answer, answered.question)
    return {answered.question.request: types.ElicitResult(action=answer.action, content=content)}


def _streams(config: ServerConfig, http: McpHttpClient) -> AbstractAsyncContextManager[Streams]:
    open_streams = http_streams if config.transport == "http" else sse_streams
    return open_streams(config.url, http, config.line_cap)


async def watch_changes(session: Session, on_changed: OnChanged, listening: asyncio.Event) -> None:
    """In the stateless era changes are subscribed to; in the handshake era they come unasked. Returns when the server
    refuses. `listening` is set once no change can be missed, or none will be announced."""
    client = session._client
    tools = client.server_capabilities.tools
    of_tools = tools is not None and bool(tools.list_changed)
    of_resources, of_prompts = session.requests.announces_resources, session.requests.announces_prompts
    try:
        if client.session.discover_result is not None and (of_tools or of_resources or of_prompts):
            async with client.listen(
                tools_list_changed=of_tools, resources_list_changed=of_resources, prompts_list_changed=of_prompts
            ) as changes:
                listening.set()
                async for change in changes:
                    if kind := _ANNOUNCED.get(type(change)):
                        on_changed(kind)
    except (MCPError, SubscriptionLost, TimeoutError):
        return
    finally:
        listening.set()


def _changes(on_changed: OnChanged) -> MessageHandlerFnT:
    async def on_message(message: IncomingMessage) -> None:
        if kind := _ANNOUNCED.get(type(message)):
            on_changed(kind)

    return on_message


_ANNOUNCED: dict[type, ListKind] = {
    types.ToolListChangedNotification: "tools",
    types.ResourceListChangedNotification: "resources",
    types.PromptListChangedNotification: "prompts",
    ToolsListChanged: "tools",
    ResourcesListChanged: "resources",
    PromptsListChanged: "prompts",
}


def _questions(calls: list[CallDeadline]) -> ElicitationFnT:
    """In the stateless era a question is asked inside its own call. In the handshake era it does not name its call, and
    belongs most likely to the one that began last."""

    async def ask(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        call = current.get() or next((one for one in reversed(calls) if one.on_input), None)
        if call is None or call.on_input is None:
            return types.ElicitResult(action="cancel")
        question = replace(_question(params), request=call.asked[0], state=call.asked[1])
        with call.person_answers():
            answer = await _unless_over(call, question)
        return types.ElicitResult(action=answer.action, content=_content(answer, question))

    return ask


async def _unless_over(call: CallDeadline, question: Question) -> InputReply:
    """The answer, or a cancel once the call has ended: the server must not wait for a person on behalf of nobody."""
    assert call.on_input is not None  # noqa: S101 - looked at by the caller
    asking = asyncio.ensure_future(call.on_input(question))
    over = asyncio.ensure_future(call.over.wait())
    try:
        await asyncio.wait({asking, over}, return_when=asyncio.FIRST_COMPLETED)
        return asking.result() if asking.done() else InputReply("cancel")
    finally:
        asking.cancel()
        over.cancel()


def _question(params: types.ElicitRequestParams) -> Question:
    if isinstance(params, types.ElicitRequestURLParams):
        return Question(params.message, url=params.url)
    return Question(params.message, params.requested_schema)


def _content(answer: InputReply, question: Question) -> dict[str, Any] | None:
    """Fields the person left out get the default that the form shows."""
    if answer.action != "accept" or question.schema is None:
        return None
    fields = question.schema.get("properties") or {}
    defaults = {
        name: field["default"] for name, field in fields.items() if isinstance(field, dict) and "default" in field
    }
    return {**defaults, **(answer.content or {})}


async def _no_check(name: str, result: types.CallToolResult) -> None:
    return None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _definition_of(tool: types.Tool) -> ToolDefinition:
    annotations = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else None
    return ToolDefinition(
        tool.name,
        tool.title or "",
        tool.description or "",
        tool.input_schema,
        tool.output_schema,
        annotations,
        needs_task=tool.execution is not None and tool.execution.task_support == "required",
    )


def result_of(result: types.CallToolResult) -> CallResult:
    parts = tuple(part_of(block) for block in result.content)
    return CallResult(parts, result.structured_content, result.is_error, raw=_raw_of(result))


def _raw_of(result: types.CallToolResult) -> Mapping[str, Any] | None:
    """The whole result as the server sent it, where our own values hold less."""
    if result.structured_content is None and all(_plain(block) for block in result.content):
        return None
    return result.model_dump(by_alias=True, exclude_none=True, mode="json")


def _plain(block: types.ContentBlock) -> bool:
    return isinstance(block, types.TextContent) and block.annotations is None
