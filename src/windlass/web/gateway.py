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
from windlass.web.principal import principal_of

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

    def check_server(self, server: str) -> None:
        self._gateway.check_server(server)

    async def handle(self, caller: Caller, server: str, scope: Scope, receive: Receive, send: Send) -> None:
        if self._served is None:
            self._served = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._serve(self._served))
            self._gateway.closing.append(self._close)
        http = await asyncio.shield(self._served)
        origin = browser_origin(scope)
        entry = self._protocol.RequestEntry(caller, server, f"{origin.url}{PAGE}")
        await http.handle(entry, scope, receive, send)

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
        principal = principal_of(scope)
        caller = Caller(
            token_id=principal.token_id, token_name=principal.name, may_approve="approve" in principal.allows
        )
        server = scope["path_params"].get("server", "")
        self._host.check_server(server)
        body = await read_body(scope, receive, self._most) if scope["method"] == "POST" else b""
        out = _Started(send)
        ended = asyncio.get_running_loop().create_future()
        work = asyncio.ensure_future(self._host.handle(caller, server, scope, _replayed(body, receive), out))
        try:
            with principal.reading(lambda: None if ended.done() else ended.set_result(None)):
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
