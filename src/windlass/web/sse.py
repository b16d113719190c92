"""Server-sent events: frames of the bus as bytes, pings in quiet times, an end when the turn or the reader is gone."""

import asyncio

import msgspec
from starlette.types import Receive, Send

from windlass.api.events import NAMES
from windlass.bus import ConversationChanged, Frame, Stream
from windlass.core.events import Recorded
from windlass.core.ports import Waiting
from windlass.turns.views import event_position, waiting_shown
from windlass.web.principal import Principal

PING_S = 15
PIECE = 64 * 1024  # of one write: a socket whose reader stalls then holds little more than that
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
HELLO = b"retry: 1000\n\n"
PING = b"event: ping\ndata: {}\n\n"
_encode = msgspec.json.Encoder().encode


def number(text: str) -> int:
    """Where a reader left off. What is no number of ours starts at the beginning."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0


async def send_stream(stream: Stream, principal: Principal, receive: Receive, send: Send) -> None:
    """Ends with the turn, when the reader goes, or with the session or token that opened it; the turn itself does not
    notice."""
    me = running_task()
    gone = asyncio.create_task(disconnected(receive))
    gone.add_done_callback(lambda done: None if done.cancelled() else me.cancel())
    try:
        with principal.reading(me.cancel):
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            await _pump(stream, send)
    except asyncio.CancelledError:
        # The reader is gone, may read no longer, or the server goes down. In all cases the stream is over and so is
        # this task; a reader that still listens sees the end and reconnects by itself, if it is admitted.
        me.uncancel()
        stream.close()  # before the last write, for which a reader that stalls may let us wait
        if not gone.done():
            await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        stream.close()


async def _pump(stream: Stream, send: Send) -> None:
    """Each write costs as much as a step of the turn, so the greeting goes with the first frames and the last frames
    with the end."""
    body = HELLO + _bytes(stream, stream.at_once())
    pings = Pings(stream)
    try:
        while not stream.ended:
            if len(body) > PIECE:
                body = await _send_all_but_last(send, body)
            await send({"type": "http.response.body", "body": body, "more_body": True})
            body = _bytes(stream, await stream.frames()) or (b"" if stream.ended else PING)
    finally:
        pings.stop()
    if len(body) > PIECE:
        body = await _send_all_but_last(send, body)
    await send({"type": "http.response.body", "body": body})


async def _send_all_but_last(send: Send, body: bytes) -> bytes:
    """Piece by piece, each once the reader has taken most of those before; gives the last."""
    last = (len(body) - 1) // PIECE * PIECE
    for start in range(0, last, PIECE):
        await send({"type": "http.response.body", "body": body[start : start + PIECE], "more_body": True})
    return body[last:]


class Pings:
    """Wakes a stream now and then, so that a quiet one is not taken for a dead one."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(PING_S, self._ping)

    def stop(self) -> None:
        self._timer.cancel()

    def _ping(self) -> None:
        self._stream.nudge()
        self._timer = self._loop.call_later(PING_S, self._ping)


def running_task() -> asyncio.Task[object]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a request is answered in a task")
    return task


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _bytes(stream: Stream, frames: list[Frame]) -> bytes:
    parts: list[bytes] = []
    for frame in frames:
        stream.passed(frame)
        if frame.encoded is None:
            frame.encoded = _encoded(stream, frame)
        parts.append(frame.encoded)
    return b"".join(parts)


def _encoded(stream: Stream, frame: Frame) -> bytes:
    match frame.what:
        case Recorded() as row:
            return _durable(frame, row)
        case ConversationChanged() as change:
            return b"event: conversation_changed\ndata: " + _encode(change) + b"\n\n"
        case _:
            return _passing(stream, frame)


def _durable(frame: Frame, row: Recorded) -> bytes:
    position = _encode(event_position(frame.turn_id, frame.conversation_id, frame.parent_id, row))
    head = f"id: {row.number}\nevent: {NAMES[type(row.event)]}\ndata: ".encode()
    return head + position[:-1] + b"," + (row.body or _encode(row.event))[1:] + b"\n\n"


def _passing(stream: Stream, frame: Frame) -> bytes:
    position = _encode({"turn_id": frame.turn_id, "seq": stream.seq_of(frame.turn_id)})
    shown = waiting_shown(frame.what) if isinstance(frame.what, Waiting) else frame.what
    return f"event: {NAMES[type(frame.what)]}\ndata: ".encode() + position[:-1] + b"," + _encode(shown)[1:] + b"\n\n"
