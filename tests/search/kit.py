"""A small web on loopback: pages by path, names by a table, and a note of every address that was dialled."""

import asyncio
import errno
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from yarl import URL

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Site:
    port: int
    requests: list[web.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def url(self, host: str = "127.0.0.1", path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"


@asynccontextmanager
async def site(answer: Answer) -> AsyncIterator[Site]:
    """A server on a port of its own that answers everything with `answer` and keeps what it was asked."""
    here = Site(0)

    async def note(request: web.Request) -> web.StreamResponse:
        here.requests.append(request)
        here.bodies.append(await request.read())
        return await answer(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", note)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        here.port = runner.addresses[0][1]
        yield here
    finally:
        await runner.cleanup()


def says(text: str = "", *, status: int = 200, kind: str = "text/html", **headers: str) -> Answer:
    async def answer(request: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(body=text.encode(), status=status, headers={"Content-Type": kind, **named})

    return answer


@dataclass(slots=True)
class Names:
    """A name service. Each name has a list of answers, used in turn; the last stays. Numbers are read as C does."""

    table: Mapping[str, list[list[str]]]
    asked: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        answers = self.table.get(host.rstrip(".").lower())
        if answers:
            return answers[min(self.asked.count(host), len(answers)) - 1]
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        return [str(entry[4][0]) for entry in found]


async def fetch_without_a_guard(url: str, names: Names) -> None:
    """What a careless client does: connect to whatever the name service says, and follow every redirect."""
    for _ in range(3):
        parsed = URL(url)
        head = b""
        for address in await names.resolve(parsed.raw_host or "", parsed.port or 80):
            with suppress(OSError):
                head = await _head(address, parsed)
        location = re.search(rb"\r\nLocation: ([^\r]+)", head)
        if location is None:
            return
        url = location[1].decode()


async def _head(address: str, url: URL) -> bytes:
    reader, writer = await asyncio.open_connection(address, url.port)
    writer.write(f"GET {url.raw_path_qs} HTTP/1.1\r\nHost: {url.raw_host}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    return head


@dataclass(slots=True)
class Dialled:
    """Every address a connection was tried to. Only loopback is really connected to; the rest is refused here."""

    addresses: list[tuple[str, int]] = field(default_factory=list)

    def besides(self, port: int) -> list[tuple[str, int]]:
        return [address for address in self.addresses if address[1] != port]


def watch_dialling(monkeypatch: pytest.MonkeyPatch) -> Dialled:
    dialled = Dialled()
    loop_class = type(asyncio.get_running_loop())
    really = loop_class.sock_connect

    async def connect(loop: asyncio.AbstractEventLoop, sock: socket.socket, address: tuple[str, int]) -> None:
        dialled.addresses.append((address[0], address[1]))
        if not address[0].startswith("127."):
            raise OSError(errno.ECONNREFUSED, "not dialled in tests")
        await really(loop, sock, address)

    monkeypatch.setattr(loop_class, "sock_connect", connect)
    return dialled
