"""Standard input and output on one side, a running Windlass on the other: messages pass as they are. Where Windlass was
restarted meanwhile, the bridge begins a new session by itself, since desktop programs never would. Standard output
carries the protocol and nothing else."""

from contextlib import suppress
from urllib.parse import quote, urlsplit

from windlass.core.errors import BadInput, Unavailable, WindlassError
from windlass.gateway.sdk import (
    ReadStream,
    SessionMessage,
    WriteStream,
    anyio,
    httpx2,
    stdio_server,
    streamable_http_client,
    types,
)

Message = types.JSONRPCMessage
LOST = {"Session not found", "Session terminated"}
AGAIN = "windlass-again"  # id of the handshake that the bridge makes itself
PATIENCE = httpx2.Timeout(30, read=300)  # a stream that waits for a person has a sign of life every 15 s
FAREWELL_S = 3.0
NOT_SPOKEN = "This side speaks the protocol with a handshake: send initialize."
UNREACHABLE = "Windlass cannot be reached at {}."
OUTCOME_UNKNOWN = (
    "The connection to Windlass was lost while this call ran. Its outcome is unknown: it may have had its effect or "
    "not. Do not repeat it unless the person asks for that."
)


async def bridge(url: str, token: str, server: str = "") -> None:
    """Until standard input is closed."""
    address = f"{url.rstrip('/')}/mcp" + (f"/{quote(server, safe='')}" if server else "")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    at_home = urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=not at_home) as http:
        await _check(http, address)
        async with stdio_server() as (read, write), write:  # it stays until nothing more can be written
            await Bridge(http, address, write).run(read)


async def _check(http: httpx2.AsyncClient, address: str) -> None:
    """A refused token is said before anything else, in words that a program shows in its log."""
    try:
        answer = await http.request("DELETE", address)
    except httpx2.HTTPError as error:
        raise Unavailable(
            UNREACHABLE.format(address), hint="Is `windlass serve` running there?", detail=str(error)
        ) from None
    if answer.status_code in (401, 403, 421):
        raise _refused(answer)


def _refused(answer: httpx2.Response) -> WindlassError:
    hint = "Set WINDLASS_TOKEN to a token with the scope `chat`: `windlass token new NAME --scope chat` makes one."
    try:
        message = str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"The server answered {answer.status_code}."
    return BadInput(message, hint=hint)


class Bridge:
    def __init__(self, http: httpx2.AsyncClient, address: str, to_program: WriteStream[SessionMessage]) -> None:
        self._http = http
        self._address = address
        self._to_program = to_program
        self._to_server: WriteStream[SessionMessage] | None = None
        self._connected = anyio.Event()
        self._gone = anyio.Event()
        self._reading = anyio.CancelScope()
        self._over = False
        self._greeting: types.JSONRPCRequest | None = None
        self._waiting: dict[types.RequestId, types.JSONRPCRequest] = {}
        self._again: list[types.JSONRPCRequest] = []  # were refused for want of a session, so they were not run

    async def run(self, from_program: ReadStream[SessionMessage | Exception]) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._stay_connected)
            async for item in from_program:
                if isinstance(item, SessionMessage):
                    await self._from_program(item)
            self._over = True
            self._reading.cancel()
            with anyio.move_on_after(FAREWELL_S):
                await self._gone.wait()
            group.cancel_scope.cancel()

    async def _stay_connected(self) -> None:
        while not self._over:
            with suppress(httpx2.HTTPError, ExceptionGroup):
                async with streamable_http_client(self._address, http_client=self._http, max_sse_event_size=None) as (
                    read,
                    write,
                ):
                    self._to_server = write
                    await self._begin_again()
                    with anyio.CancelScope() as self._reading:
                        async for item in read:
                            if isinstance(item, SessionMessage):
                                await self._from_server(item)
            await self._give_up_waiting()
        self._gone.set()

    async def _begin_again(self) -> None:
        """A new session with the same words as the first; it is open once the answer is here."""
        if self._greeting is None or self._to_server is None:
            self._connected.set()
            return
        again = self._greeting.model_copy(update={"id": AGAIN})
        await self._to_server.send(SessionMessage(again))

    async def _from_program(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, types.JSONRPCRequest):
            if message.method == "server/discover":
                return await self._fail(message.id, types.METHOD_NOT_FOUND, NOT_SPOKEN)
            if message.method == "initialize":
                self._greeting = message
            self._waiting[message.id] = message
        await self._connected.wait()
        if self._to_server:
            await self._to_server.send(item)

    async def _from_server(self, item: SessionMessage) -> None:
        message = item.message
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return await self._to_program.send(item)
        if message.id == AGAIN:
            return await self._began_again(message)
        request = self._waiting.pop(message.id, None) if message.id is not None else None
        if isinstance(message, types.JSONRPCError) and request and message.error.message in LOST:
            self._again.append(request)
            self._connected = anyio.Event()
            self._reading.cancel()
        elif isinstance(message, types.JSONRPCError) and request and message.error.code == types.CONNECTION_CLOSED:
            await self._fail(request.id, types.CONNECTION_CLOSED, self._why_lost(request, message.error.message))
        else:
            await self._to_program.send(item)

    async def _began_again(self, answer: types.JSONRPCResponse | types.JSONRPCError) -> None:
        if isinstance(answer, types.JSONRPCError):
            again, self._again = self._again, []
            for request in again:
                await self._fail(request.id, types.CONNECTION_CLOSED, UNREACHABLE.format(self._address))
            self._connected.set()
            return
        assert self._to_server is not None  # noqa: S101 - it brought this answer
        ready = types.JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")
        await self._to_server.send(SessionMessage(ready))
        again, self._again = self._again, []
        for request in again:
            self._waiting[request.id] = request
            await self._to_server.send(SessionMessage(request))
        self._connected.set()

    async def _give_up_waiting(self) -> None:
        """What was under way in a session that has ended gets no answer any more."""
        waiting, self._waiting = self._waiting, {}
        for request in waiting.values():
            await self._fail(request.id, types.CONNECTION_CLOSED, self._why_lost(request, "The connection was lost."))

    def _why_lost(self, request: types.JSONRPCRequest, otherwise: str) -> str:
        return OUTCOME_UNKNOWN if request.method == "tools/call" else otherwise

    async def _fail(self, id: types.RequestId, code: int, message: str) -> None:
        error = types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=code, message=message))
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._to_program.send(SessionMessage(error))
