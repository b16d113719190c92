"""What the strict model server says, as plain values.

    say("Hello ", "world")                          two deltas, then the end
    call("list_directory", path="/docs")            one tool call
    call("a") + call("b", n=1)                      two calls in one reply
    say("Let me see. ") + call("a")                 text, then a call
    say("a", wait_for(gate), "b")                   the stream pauses until the gate opens
    headers() + hang()                              a 200, then silence
    say("abc").cut_after(40)                        the connection drops after 40 bytes of the body
    error(429, "1302", "slow down", {"Retry-After": "2"})

Everything but `error` and the raw bodies is a `Reply`; replies add up with `+`.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Literal

from windlass.core.values import frozen


class Gate:
    """Holds a reply at one place: `await gate.reached()` in the test, then `gate.open()`."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._open = asyncio.Event()

    async def reached(self) -> None:
        await self._reached.wait()

    def open(self) -> None:
        self._open.set()

    async def wait(self) -> None:
        self._reached.set()
        await self._open.wait()


@frozen
class FileGate:
    """A gate for a server in another process: opens when the file exists; `PATH.reached` says that it is waited for."""

    path: Path

    async def wait(self) -> None:
        await asyncio.to_thread(self.path.with_name(self.path.name + ".reached").touch)
        while not await asyncio.to_thread(self.path.exists):  # noqa: ASYNC110 - another process makes the file
            await asyncio.sleep(0.005)


@frozen
class Text:
    text: str


@frozen
class Reasoning:
    text: str


@frozen
class Call:
    """`arguments` is sent as it stands, JSON or not. Without an id the server mints one; an empty id is sent empty."""

    name: str
    arguments: str
    id: str | None = None


@frozen
class Pause:
    gate: Gate | FileGate | asyncio.Event


@frozen
class Headers:
    """Status and headers go out here, before anything else is known."""


@frozen
class Hang:
    """Nothing more is ever sent; the connection stays open."""


@frozen
class RawDelta:
    """A `delta` object as it stands, for what no well-behaved provider sends. Streamed replies only."""

    delta: Mapping[str, object]


@frozen
class RawEvent:
    """One `data:` line as it stands. Streamed replies only."""

    payload: str


Part = Text | Reasoning | Call | Pause | Headers | Hang | RawDelta | RawEvent


@frozen
class Usage:
    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0


@frozen
class Cut:
    after: int
    cleanly: bool


@frozen
class Reply:
    """One answer of the model. `natural` means what a healthy provider would send."""

    parts: tuple[Part, ...] = ()
    finish_reason: str | None = "natural"
    usage: Usage | Literal["natural"] | None = "natural"
    done: bool = True
    piece_chars: int | None = None
    byte_sizes: tuple[int, ...] = ()
    cut: Cut | None = None
    despite_choice: bool = False

    def __add__(self, more: "Reply") -> "Reply":
        """The parts of both; where both set an option, the right one counts."""
        left = {f.name: getattr(self, f.name) for f in fields(self) if getattr(more, f.name) == f.default}
        return replace(more, **{**left, "parts": self.parts + more.parts})

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(part for part in self.parts if isinstance(part, Call))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def reasoning(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Reasoning))

    def ending(self, finish_reason: str | None = "natural", done: bool = True) -> "Reply":
        """End with this finish reason (None: with none at all), and without `[DONE]` if so asked."""
        return replace(self, finish_reason=finish_reason, done=done)

    def using(self, usage: Usage | None) -> "Reply":
        return replace(self, usage=usage)

    def in_pieces(self, chars: int) -> "Reply":
        """Text, reasoning and arguments in deltas of this many characters."""
        return replace(self, piece_chars=chars)

    def in_bytes(self, *sizes: int) -> "Reply":
        """The body in writes of these sizes, over and over, so that lines and characters are torn."""
        return replace(self, byte_sizes=sizes)

    def cut_after(self, count: int, *, cleanly: bool = False) -> "Reply":
        """Drop the connection after `count` bytes of the body; `cleanly` ends the body as if it were whole."""
        return replace(self, cut=Cut(count, cleanly))

    def anyway(self) -> "Reply":
        """Call tools even though the request forbade it with `tool_choice: none`."""
        return replace(self, despite_choice=True)


@frozen
class Failure:
    status: int
    code: str | None
    message: str
    headers: Mapping[str, str]


@frozen
class RawBody:
    chunks: tuple[bytes, ...]
    status: int
    headers: Mapping[str, str]
    cut: bool = False


Scripted = Reply | Failure | RawBody


def say(*parts: str | Reply) -> Reply:
    return _joined(Reply((Text(part),)) if isinstance(part, str) else part for part in parts)


def think(*parts: str | Reply) -> Reply:
    """Reasoning, sent as `reasoning_content`."""
    return _joined(Reply((Reasoning(part),)) if isinstance(part, str) else part for part in parts)


def call(tool: str, /, **arguments: object) -> Reply:
    return raw_call(tool, json.dumps(arguments, ensure_ascii=False))


def raw_call(tool: str, arguments: str = "{}", id: str | None = None) -> Reply:
    """A call with its argument text, and if wanted its id, as they stand."""
    return Reply((Call(tool, arguments, id),))


def calls(*replies: Reply) -> Reply:
    return _joined(replies)


def wait_for(gate: Gate | FileGate | asyncio.Event | Path | str) -> Reply:
    """Pause here. A path is a gate that opens when the file appears."""
    return Reply((Pause(FileGate(Path(gate)) if isinstance(gate, Path | str) else gate),))


def headers() -> Reply:
    return Reply((Headers(),))


def hang() -> Reply:
    return Reply((Hang(),))


def raw_delta(**delta: object) -> Reply:
    return Reply((RawDelta(delta),))


def raw_event(payload: str) -> Reply:
    return Reply((RawEvent(payload),))


def stream_error(code: str, message: str) -> Reply:
    """An error object in mid-stream, as some providers send it."""
    return raw_event(json.dumps({"error": {"code": code, "message": message}})).ending(None)


def error(status: int, code: str | None, message: str, headers: Mapping[str, str] | None = None) -> Failure:
    return Failure(status, code, message, headers or {})


def raw_chunks(
    *chunks: bytes, status: int = 200, content_type: str = "text/event-stream", cut: bool = False
) -> RawBody:
    """A body as it stands, one write per chunk; `cut` drops the connection after the last."""
    return RawBody(chunks, status, {"Content-Type": content_type}, cut)


def _joined(replies: Iterable[Reply]) -> Reply:
    return sum(replies, start=Reply())
