"""The body of a model server's response, read under its deadlines and in whatever form it comes: a stream of events,
one JSON body, or something that is no reply at all."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from windlass.providers.assembly import Assembly
from windlass.providers.failures import INVALID, WEB_PAGE, BadAnswer, Cut, Patience, failure, shown
from windlass.providers.sse import EventStream, LineTooLong

REPLY_CAP = 64 * 1024 * 1024
_BLANK = b"\xef\xbb\xbf \t\r\n"

Expire = Callable[[TimeoutError], None]


class Body(Protocol):
    """What is needed of an `HttpConnection`."""

    async def readany(self) -> bytes: ...

    def at_eof(self) -> bool: ...


class Deadline:
    """Renewed by the model's output, never by keep-alives. Its timer is moved only when the deadline gets earlier; a
    timer that fires too early sets itself again."""

    def __init__(self, patience: Patience, expire: Expire) -> None:
        self._patience = patience
        self._expire = expire
        self._loop = asyncio.get_running_loop()
        self._last_at = self._loop.time() + patience.total_s
        self._stage = f"no answer within {patience.first_byte_s:g} s"
        self._at = min(self._loop.time() + patience.first_byte_s, self._last_at)
        self._timer = self._loop.call_at(self._at, self._check)
        self.first_at = 0.0
        self._pieces = 0

    def answered(self) -> None:
        self._stage = f"no output for {self._patience.silence_s:g} s"
        self._set(self._patience.silence_s)

    def progressed(self, assembly: Assembly) -> None:
        self.note_first(assembly)
        if assembly.done:
            self._set(self._patience.hang_up_s)
        elif assembly.finished:
            self._set(self._patience.linger_s)
        elif assembly.pieces > self._pieces:
            self._pieces = assembly.pieces
            self._set(self._patience.silence_s)

    def note_first(self, assembly: Assembly) -> None:
        if not self.first_at and assembly.started:
            self.first_at = time.monotonic()

    def cancel(self) -> None:
        self._timer.cancel()

    def _set(self, seconds: float) -> None:
        at = self._loop.time() + seconds
        if at > self._last_at:
            self._stage = f"not finished within {self._patience.total_s:g} s"
            at = self._last_at
        if at < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(at, self._check)
        self._at = at

    def _check(self) -> None:
        if self._loop.time() < self._at:
            self._timer = self._loop.call_at(self._at, self._check)
        else:
            self._expire(TimeoutError(self._stage))


async def read_answer(body: Body, assembly: Assembly, deadline: Deadline) -> None:
    """Feed the assembly until the body ends. A connection that breaks after the reply's own end loses nothing
    and is no error."""
    try:
        await _read(body, assembly, deadline)
    except (BadAnswer, Cut) as error:
        if not assembly.finished:
            raise assembly.interrupted("the connection was cut") from error
    except LineTooLong as error:
        raise failure(INVALID, str(error), wait_s=assembly.backoff_s, partial=assembly.text) from error


async def read_up_to(body: Body, most: int) -> bytes:
    """The body's beginning, or all of it if it is short; what came before a break is enough to see what went wrong."""
    pieces, size = [], 0
    try:
        while size < most and (piece := await body.readany()):
            pieces.append(piece)
            size += len(piece)
    except (BadAnswer, Cut):
        pass
    return b"".join(pieces)[:most]


async def _read(body: Body, assembly: Assembly, deadline: Deadline) -> None:
    head = b""
    while not head.lstrip(_BLANK):
        piece = await body.readany()
        if not piece:
            raise assembly.interrupted("the answer is empty")
        head = head[-4096:] + piece
    opening = head.lstrip(_BLANK)[:1]
    if opening in (b"{", b"["):
        assembly.feed_whole(await _whole(body, head))
        deadline.note_first(assembly)
    elif opening == b"<":
        raise failure(WEB_PAGE, shown(head.decode(errors="replace")), status=200)
    else:
        await _stream(body, head, assembly, deadline)


async def _whole(body: Body, head: bytes) -> bytes:
    pieces, size = [head], len(head)
    while piece := await body.readany():
        pieces.append(piece)
        size += len(piece)
        if size > REPLY_CAP:
            raise LineTooLong(f"a reply of more than {REPLY_CAP} bytes")
    return b"".join(pieces)


async def _stream(body: Body, head: bytes, assembly: Assembly, deadline: Deadline) -> None:
    stream, piece, size = EventStream(), head, 0
    while piece:
        size += len(piece)
        if size > REPLY_CAP:
            raise LineTooLong(f"a reply of more than {REPLY_CAP} bytes")
        events = stream.feed(piece)
        assembly.feed(*events)
        if assembly.done and body.at_eof():
            deadline.note_first(assembly)
            return
        if events:
            deadline.progressed(assembly)
        piece = await body.readany()
    assembly.feed(*stream.close())
    if not (assembly.fed or assembly.done):
        raise failure(INVALID, shown(head.decode(errors="replace")), wait_s=assembly.backoff_s, status=200)
