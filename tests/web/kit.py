"""A whole server in the test's own process, on a port of its own, and a plain client for it."""

import asyncio
import io
import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import uvicorn

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import until
from windlass.app import App, open_app
from windlass.config import Config, ProviderSettings
from windlass.testing import StrictLLM
from windlass.web.auth import Access
from windlass.web.origin import reach_of
from windlass.web.protocol import protocol_behind
from windlass.web.server import build

TOKEN = "the-token-of-the-tests"
STOP_S = 0.1  # for answers that nobody reads any more


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: Any
    headers: dict[str, str]
    text: str

    @property
    def code(self) -> str:
        return str(self.body["error"]["code"])


@dataclass(slots=True)
class Site:
    app: App
    access: Access
    port: int
    session: aiohttp.ClientSession = field(repr=False)
    connections: set[Any] = field(repr=False)  # the server's ends of them

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: dict[str, str] | None = None,
        token: str = TOKEN,
        raw: bytes | None = None,
    ) -> Reply:
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        data = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        if data is not None:
            sent["Content-Type"] = "application/json"
        sent |= headers or {}
        async with self.session.request(
            method,
            self.url + path,
            data=io.BytesIO(data) if data is not None else None,
            headers=sent,
            allow_redirects=False,
        ) as answer:
            text = (await answer.read()).decode()
            is_json = answer.content_type == "application/json" and bool(text)
            return Reply(answer.status, json.loads(text) if is_json else None, dict(answer.headers), text)

    def browser(self, *, key: str = "", token: str = TOKEN) -> dict[str, str]:
        """What a page that has just signed in sends with each request."""
        session = self.access.log_in(key=key, token="" if key else token)
        return {"Cookie": f"windlass_{self.port}={session.cookie}", "X-Windlass-Session": session.half}

    def token(self, *scopes: str, name: str = "", expires_at: float | None = None) -> str:
        """The secret of a new token with these scopes."""
        return self.access.tokens.make(name or " and ".join(scopes), list(scopes), expires_at)[1]

    async def get(self, path: str) -> Any:
        return await self._fine("GET", path)

    async def post(self, path: str, body: object = None) -> Any:
        return await self._fine("POST", path, body)

    async def conversation(self, **fields: object) -> str:
        return str((await self.post("/conversations", fields))["conversation"]["id"])

    async def add_ledger(self, ledger: Ledger, *options: str, slug: str = "ledger", **fields: object) -> str:
        command, *args = ledger.argv(*options)
        added = await self.post("/servers", {"name": slug, "slug": slug, "command": command, "args": args, **fields})
        await self.post(f"/servers/{slug}/confirm", {"argv": added["server"]["argv"]})
        started = await self.post(f"/servers/{slug}/start")
        assert started["server"]["status"] == "running", started
        return str(added["server"]["id"])

    async def enable(self, conversation_id: str, *tools: str, server: str = "ledger", **fields: object) -> None:
        for tool in tools:
            body = {"server_id": server, "tool_name": tool, **fields}
            await self.post(f"/conversations/{conversation_id}/tools", body)

    def events(
        self,
        path: str,
        *,
        after: int | None = None,
        method: str = "GET",
        body: object = None,
        credentials: dict[str, str] | None = None,
    ) -> "Events":
        headers = {**(credentials or {"Authorization": f"Bearer {TOKEN}"}), "Accept": "text/event-stream"}
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        return Events(self.session.request(method, self.url + path, headers=headers, json=body))

    async def _fine(self, method: str, path: str, body: object = None) -> Any:
        reply = await self.call(method, path, body)
        assert reply.status < 300, (method, path, reply.status, reply.text)
        return reply.body


@dataclass(frozen=True, slots=True)
class SseEvent:
    id: int | None
    event: str
    data: dict[str, Any]


class Events:
    """`async with site.events(...) as events: async for event in events`"""

    def __init__(self, request: Any) -> None:
        self._request = request
        self._rest = b""
        self._blocks: deque[bytes] = deque()

    async def __aenter__(self) -> "Events":
        self.response: aiohttp.ClientResponse = await self._request.__aenter__()
        return self

    async def __aexit__(self, *problem: object) -> None:
        self.response.close()
        await self._request.__aexit__(*problem)

    async def __aiter__(self) -> AsyncIterator[SseEvent]:
        """Going on after a break goes on where it was."""
        while True:
            while self._blocks:
                fields = dict(line.split(": ", 1) for line in self._blocks.popleft().decode().split("\n"))
                if "event" in fields:
                    id = int(fields["id"]) if "id" in fields else None
                    yield SseEvent(id, fields["event"], json.loads(fields["data"]))
            chunk = await self.response.content.readany()
            if not chunk:
                return
            *blocks, self._rest = (self._rest + chunk).split(b"\n\n")
            self._blocks.extend(blocks)

    async def until(self, name: str) -> list[SseEvent]:
        found: list[SseEvent] = []
        async for event in self:
            found.append(event)
            if event.event == name:
                return found
        raise AssertionError(f"the stream ended without {name}: {[event.event for event in found]}")


@asynccontextmanager
async def open_site(
    home: Path, llm: StrictLLM | None = None, *, auth: bool = True, **settings: Any
) -> AsyncIterator[Site]:
    providers = [ProviderSettings(llm.base_url, "strict-model", "key-of-the-tests", name="strict")] if llm else []
    config = Config(home=home, token=TOKEN, auth=auth, providers=providers, demo=llm is None, **settings)
    async with open_app(config, grace_s=0) as app:
        access = Access(home, token=TOKEN, open_to_all=not auth)
        asgi = build(
            app.services,
            access,
            version="0.0.test",
            hosts=config.allow_hosts,
            requests_min=config.limits.requests_min,
            reach=reach_of(config.public_url, config.trusted_proxies),
        )
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.bind(("127.0.0.1", 0))
        listener.listen(512)
        server = _Server(
            uvicorn.Config(
                asgi,
                http=protocol_behind(lambda address: asgi.reach.is_proxy(address)),
                ws="none",
                log_config=None,
                access_log=False,
                lifespan="off",
                proxy_headers=False,
            )
        )
        serving = asyncio.create_task(server.serve([listener]))
        try:
            async with aiohttp.ClientSession() as session:
                yield Site(app, access, listener.getsockname()[1], session, server.server_state.connections)
        finally:
            await app.runner.drain(0)
            server.closing.set()
            await serving
            listener.close()


class _Server(uvicorn.Server):
    """Ends as soon as it is told to; uvicorn's own looks for that every tenth of a second, and rests for another."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.closing = asyncio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.closing.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        state = self.server_state
        for server in self.servers:
            server.close()
        for connection in list(state.connections):
            connection.transport.abort()
        await until(lambda: not state.connections, "the connections to close")
        if state.tasks:
            await asyncio.wait(state.tasks, timeout=STOP_S)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the test runner's."""
        yield
