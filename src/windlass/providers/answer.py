"""The body of a model server's response, read under its deadlines and in whatever form it comes: a stream of events,
one JSON body, or something that is no reply at all."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from windlass.providers.assembly import Assembly
from windlass.providers.failures import INVALID, WEB_PAGE, BadAnswer, Cut, OutOfTime, Patience, failure, shown
from windlass.providers.sse import EventStream, LineTooLong

REPLY_CAP = 64 * 1024 * 1024
_BLANK = b"\xef\xbb\xbf \t\r\n"

QUIET_S = 10.0  # without output, before it is called a silence

Expire = Callable[[TimeoutError], None]
Quiet = Callable[[float, float], None]
Begun = Callable[[], None]


class Body(Protocol):
    """What is needed of an `HttpConnection`."""

    async def readany(self) -> bytes: ...

    def at_eof(self) -> bool: ...


@dataclass(slots=True)
class Spent:
    """Time of one request with the request out, in all its attempts: until the first byte, and without output."""

    first_byte_s: float = 0
    silence_s: float = 0


class Deadline:
    """Renewed by the model's output, never by keep-alives. Its timer is moved only when the deadline gets earlier; a
    timer that fires too early sets itself again. `quiet` is called once in each silence, with its beginning and its
    end on the loop's clock, `begun` with the first output."""

    def __init__(
        self,
        patience: Patience,
        expire: Expire,
        *,
        before: Spent | None = None,
        quiet: Quiet = lambda since, until: None,
        begun: Begun = lambda: None,
    ) -> None:
        before = before or Spent()
        self._patience = patience
        self._silence_s = patience.silence_s - before.silence_s
        self._all = " in all its attempts" if before.first_byte_s or before.silence_s else ""
        self._expire = expire
        self._quiet = quiet
        self._begun = begun
        self._loop = asyncio.get_running_loop()
        self._sent_at = self._output_at = self._loop.time()
        self._answered_at = 0.0
        self._last_at = self._sent_at + patience.total_s
        self._stage = f"{{model}} at {{host}} did not answer within {patience.first_byte_s:g} s{self._all}"
        self._at = min(self._sent_at + patience.first_byte_s - before.first_byte_s, self._last_at)
        self._is_quiet = False
        self._timer = self._loop.call_at(self._next_look(), self._check)
        self.first_at = 0.0
        self._pieces = 0

    @property
    def spent(self) -> Spent:
        """By now. The silence counts that is going on, not those that ended with output."""
        now = self._loop.time()
        return Spent((self._answered_at or now) - self._sent_at, now - self._output_at if self._answered_at else 0)

    @property
    def until(self) -> float:
        return self._at

    def answered(self) -> None:
        self._stage = f"{{model}} at {{host}} sent nothing for {self._patience.silence_s:g} s{self._all}"
        self._answered_at = self._set(self._silence_s)

    def progressed(self, assembly: Assembly) -> None:
        self.note_first(assembly)
        if assembly.done:
            self._set(self._patience.hang_up_s)
        elif assembly.finished:
            self._set(self._patience.linger_s)
        elif assembly.pieces > self._pieces:
            self._pieces = assembly.pieces
            self._set(self._silence_s)

    def note_first(self, assembly: Assembly) -> None:
        if not self.first_at and assembly.started:
            self.first_at = time.monotonic()
            self._begun()

    def cancel(self) -> None:
        self._timer.cancel()

    def _set(self, seconds: float) -> float:
        now = self._output_at = self._loop.time()
        at = now + seconds
        if at > self._last_at:
            self._stage = f"the reply of {{model}} at {{host}} was not finished within {self._patience.total_s:g} s"
            at = self._last_at
        self._at = at
        if at < self._timer.when() or self._is_quiet:
            self._is_quiet = False
            self._timer.cancel()
            self._timer = self._loop.call_at(self._next_look(), self._check)
        return now

    def _check(self) -> None:
        now = self._loop.time()
        if now >= self._at:
            return self._expire(OutOfTime(self._stage))
        if not self._is_quiet and now >= self._output_at + QUIET_S:
            self._is_quiet = True
            self._quiet(self._output_at, self._at)
        self._timer = self._loop.call_at(self._next_look(), self._check)

    def _next_look(self) -> float:
        return self._at if self._is_quiet else min(self._at, self._output_at + QUIET_S)


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
