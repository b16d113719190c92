"""HTTP/1.1 by hand on a kept-alive connection: as little as a client can do."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import httptools

OnBody = Callable[[bytes], None]
IDLE_S = 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes


class Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._pieces: list[bytes] = []
        self._status = 0
        self._used_at = 0.0
        self._on_body: OnBody | None = None
        self._waiter: asyncio.Future[Answer] | None = None
        self._transport: asyncio.Transport

    async def ask(self, request: bytes, on_body: OnBody | None = None) -> Answer:
        self._pieces.clear()
        self._on_body = on_body
        self._waiter = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._waiter

    def close(self) -> None:
        self._transport.close()

    @property
    def is_fresh(self) -> bool:
        """Servers close what nobody has used for some seconds; while others have their round, that goes unnoticed."""
        return not self._transport.is_closing() and time.monotonic() - self._used_at < IDLE_S

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_exception(exc or ConnectionError("the server hung up"))

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)
        if self._on_body:
            self._on_body(piece)

    def on_message_complete(self) -> None:
        self._used_at = time.monotonic()
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(Answer(self._status, b"".join(self._pieces)))


async def connect(port: int) -> Connection:
    _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
    return connection


def request(
    method: str, path: str, port: int, body: bytes = b"", *, token: str = "", accept: str = "application/json"
) -> bytes:
    auth = f"Authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{auth}Accept: {accept}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
