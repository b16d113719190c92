"""The API in the same process: the app is opened here and closed with the client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from typing import Any, ParamSpec, TypeVar
from urllib.parse import unquote

from starlette.types import ASGIApp, Message

from windlass.api import routes, schemas
from windlass.api.events import NAMES, TurnEvent
from windlass.api.route import Route
from windlass.app import open_app
from windlass.bus import ConversationChanged, Frame, Stream
from windlass.config import Config
from windlass.core.events import Recorded
from windlass.core.ports import Model
from windlass.toolbox import Function

READY_S = 10.0
LOOK_S = 0.1
P = ParamSpec("P")
R = TypeVar("R")
NEED_TOOLS: frozenset[Route[..., Any]] = frozenset(
    {
        *(routes.servers.all, routes.servers.tools, routes.servers.call_tool, routes.tools.available),
        *(routes.tools.enable, routes.turns.retry, routes.search.test),
    }
)


class InProcess:
    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._waited = False

    async def open(
        self, config: Config, functions: tuple[Function, ...], model: Model | None, *, recover: bool
    ) -> "InProcess":
        self.app = await self._stack.enter_async_context(
            open_app(config, functions=functions, model=model, recover=recover)
        )
        return self

    async def call(self, route: Route[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if route in NEED_TOOLS:
            await self._servers_up()
        return await self.app.services.method(route)(*args, **kwargs)

    async def ask(self, conversation_id: str, request: schemas.ChatRequest) -> schemas.Turn:
        await self._servers_up()
        return await self.app.services.turns.ask(conversation_id, request)

    async def chat(self, conversation_id: str, request: schemas.ChatRequest) -> AsyncIterator[TurnEvent]:
        await self._servers_up()
        async for event in _events(await self.app.services.turns.chat_watched(conversation_id, request)):
            yield event

    async def watch(self, turn_id: str, after: int = 0) -> AsyncIterator[TurnEvent]:
        async for event in _events(self.app.services.turns.watch(turn_id, after)):
            yield event

    async def raw(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Through the very app that a server would run, without a socket."""
        await self._servers_up()
        return await _request(self.app.asgi(), method, path, body)

    async def aclose(self) -> None:
        await self._stack.aclose()

    async def _servers_up(self) -> None:
        """An app just opened has its servers still starting; the first question should not find them missing."""
        if self._waited:
            return
        self._waited = True
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_S):
                for config in self.app.servers.configs():
                    # One that failed is tried again by itself, which is nothing to wait for.
                    while self.app.servers.status(config.id).state == "starting":
                        await self.app.servers.wait_ready(config.id, LOOK_S)


async def _request(app: ASGIApp, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
    bare, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(bare),
        "raw_path": bare.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 80),
    }
    status, content = 0, b""

    async def receive() -> Message:
        return {"type": "http.request", "body": body or b""}

    async def send(message: Message) -> None:
        nonlocal status, content
        status = message.get("status", status)
        content += message.get("body", b"")

    await app(scope, receive, send)
    return status, content


async def _events(stream: Stream) -> AsyncIterator[TurnEvent]:
    try:
        while not stream.ended:
            for frame in await stream.frames():
                stream.passed(frame)
                yield _event(frame)
    finally:
        stream.close()


def _event(frame: Frame) -> TurnEvent:
    match frame.what:
        case Recorded(number=number, event=event):
            return TurnEvent(NAMES[type(event)], frame.turn_id, event, number)
        case ConversationChanged():
            raise AssertionError("a stream of one turn has none of the list")
        case transient:
            return TurnEvent(NAMES[type(transient)], frame.turn_id, transient)
