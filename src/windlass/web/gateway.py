"""`/mcp`: admits requests as any other route, and passes them to the MCP server, which is loaded with the first one."""

import asyncio
from importlib import import_module
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from windlass.api.route import Route
from windlass.services.gateway import Caller, Gateway
from windlass.web.endpoints import Endpoint, read_body
from windlass.web.errors import Unauthorized
from windlass.web.origin import browser_origin
from windlass.web.principal import Principal, principal_of

_LATE = "windlass.gateway.protocol"
PAGE = "/ui/activity"


class GatewayHost:
    """The MCP server behind all its routes. A task of its own opens and closes it: the SDK wants both in one."""

    def __init__(self, gateway: Gateway, most_body: int) -> None:
        self._gateway = gateway
        self._most_body = most_body
        self._protocol: Any = None
        self._served: asyncio.Future[Any] | None = None
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._watched: dict[Principal, asyncio.Task[None]] = {}

    def check_server(self, server: str) -> None:
        self._gateway.check_server(server)

    async def handle(self, server: str, scope: Scope, receive: Receive, send: Send) -> None:
        if self._served is None:
            self._served = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._serve(self._served))
            self._gateway.closing.append(self._close)
        http = await asyncio.shield(self._served)
        principal = principal_of(scope)
        if principal not in self._watched:
            self._watched[principal] = asyncio.create_task(self._end_with(principal, http))
        caller = Caller(token_id=principal.id, token_name=principal.name, may_approve="approve" in principal.allows)
        origin = browser_origin(scope)
        entry = self._protocol.RequestEntry(caller, server, f"{origin.url}{PAGE}")
        await http.handle(entry, scope, receive, send)

    async def _end_with(self, principal: Principal, http: Any) -> None:
        """Sessions and calls end with the token that began them, wherever they wait."""
        void = asyncio.Event()
        with principal.reading(void.set):
            await void.wait()
        await http.end_sessions(principal.id)
        await self._gateway.stop_all(principal.id)
        del self._watched[principal]

    async def _serve(self, served: "asyncio.Future[Any]") -> None:
        try:
            self._protocol = await asyncio.to_thread(import_module, _LATE)
            async with self._protocol.http_server(self._gateway, self._most_body) as http:
                served.set_result(http)
                await self._over.wait()
        except Exception as error:  # the root of this task: each request that waits for it is told
            if served.done():
                raise
            served.set_exception(error)

    async def _close(self) -> None:
        for watch in self._watched.values():
            watch.cancel()
        self._over.set()
        if self._task:
            await self._task


class GatewayEndpoint(Endpoint):
    """One method of `/mcp`. What it answers has no end of its own, so a revoked token ends it."""

    def __init__(self, route: Route[..., Any], host: GatewayHost, most: int) -> None:
        super().__init__(route, _no_verb, most)
        self._host = host
        self.counts = route.method == "POST"

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        server = scope["path_params"].get("server", "")
        self._host.check_server(server)
        body = await read_body(scope, receive, self._most) if scope["method"] == "POST" else b""
        out = _Started(send)
        ended = asyncio.get_running_loop().create_future()
        work = asyncio.ensure_future(self._host.handle(server, scope, _replayed(body, receive), out))
        try:
            with principal_of(scope).reading(lambda: None if ended.done() else ended.set_result(None)):
                await asyncio.wait({work, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait({work})
        if ended.done():
            return await out.break_off()
        await work


class _Started:
    """What is sent, and whether it began."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._began = self._ended = False

    async def __call__(self, message: Message) -> None:
        self._began = True
        self._ended = self._ended or (message["type"] == "http.response.body" and not message.get("more_body"))
        await self._send(message)

    async def break_off(self) -> None:
        if not self._began:
            raise Unauthorized("The token was revoked.", hint="Use another token.")
        if not self._ended:
            await self._send({"type": "http.response.body", "body": b""})


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body again, and then what comes after it: the end of the connection."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


async def _no_verb() -> None:
    """The MCP server answers."""
