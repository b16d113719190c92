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

from windlass.core.values import value_object


class Gate:
    """Holds a reply at one point: `await gate.reached()` in the test, then `gate.open()`."""

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


@value_object
class FileGate:
    """A gate for a server in another process: opens when the file exists; `PATH.reached` says that it is waited for."""

    path: Path

    async def wait(self) -> None:
        await asyncio.to_thread(self.path.with_name(self.path.name + ".reached").touch)
        while not await asyncio.to_thread(self.path.exists):  # noqa: ASYNC110 - another process makes the file
            await asyncio.sleep(0.005)


@value_object
class Text:
    text: str


@value_object
class Reasoning:
    text: str


@value_object
class ScriptedCall:
    """`arguments` is sent as it stands, JSON or not. Without an id the server mints one; an empty id is sent empty."""

    name: str
    arguments: str
    id: str | None = None


@value_object
class Pause:
    gate: Gate | FileGate | asyncio.Event


@value_object
class Headers:
    """Status and headers go out here, before anything else is known."""


@value_object
class Hang:
    """Nothing more is ever sent; the connection stays open."""


@value_object
class RawDelta:
    """A `delta` object as it stands, for what no well-behaved provider sends. Streamed replies only."""

    delta: Mapping[str, object]


@value_object
class RawEvent:
    """One `data:` line as it stands. Streamed replies only."""

    payload: str


Part = Text | Reasoning | ScriptedCall | Pause | Headers | Hang | RawDelta | RawEvent


@value_object
class ScriptedUsage:
    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0


@value_object
class CutStream:
    after: int
    cleanly: bool


@value_object
class ScriptedReply:
    """One answer of the model. `natural` means what a healthy provider would send."""

    parts: tuple[Part, ...] = ()
    finish_reason: str | None = "natural"
    usage: ScriptedUsage | Literal["natural"] | None = "natural"
    done: bool = True
    piece_chars: int | None = None
    byte_sizes: tuple[int, ...] = ()
    cut: CutStream | None = None
    despite_choice: bool = False

    def __add__(self, more: "ScriptedReply") -> "ScriptedReply":
        """The parts of both; where both set an option, the right one counts."""
        left = {f.name: getattr(self, f.name) for f in fields(self) if getattr(more, f.name) == f.default}
        return replace(more, **{**left, "parts": self.parts + more.parts})

    @property
    def calls(self) -> tuple[ScriptedCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ScriptedCall))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def reasoning(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Reasoning))

    def ending(self, finish_reason: str | None = "natural", done: bool = True) -> "ScriptedReply":
        """End with this finish reason (None: with none at all), and without `[DONE]` if so asked."""
        return replace(self, finish_reason=finish_reason, done=done)

    def using(self, usage: ScriptedUsage | None) -> "ScriptedReply":
        return replace(self, usage=usage)

    def in_pieces(self, chars: int) -> "ScriptedReply":
        """Text, reasoning and arguments in deltas of this many characters."""
        return replace(self, piece_chars=chars)

    def in_bytes(self, *sizes: int) -> "ScriptedReply":
        """The body in writes of these sizes, over and over, so that lines and characters are torn."""
        return replace(self, byte_sizes=sizes)

    def cut_after(self, count: int, *, cleanly: bool = False) -> "ScriptedReply":
        """Drop the connection after `count` bytes of the body; `cleanly` ends the body as if it were whole."""
        return replace(self, cut=CutStream(count, cleanly))

    def anyway(self) -> "ScriptedReply":
        """Call tools even though the request forbade it with `tool_choice: none`."""
        return replace(self, despite_choice=True)


@value_object
class Failure:
    status: int
    code: str | None
    message: str
    headers: Mapping[str, str]


@value_object
class RawBody:
    chunks: tuple[bytes, ...]
    status: int
    headers: Mapping[str, str]
    cut: bool = False


Scripted = ScriptedReply | Failure | RawBody


def say(*parts: str | ScriptedReply) -> ScriptedReply:
    return _joined(ScriptedReply((Text(part),)) if isinstance(part, str) else part for part in parts)


def think(*parts: str | ScriptedReply) -> ScriptedReply:
    """Reasoning, sent as `reasoning_content`."""
    return _joined(ScriptedReply((Reasoning(part),)) if isinstance(part, str) else part for part in parts)


def call(tool: str, /, **arguments: object) -> ScriptedReply:
    return raw_call(tool, json.dumps(arguments, ensure_ascii=False))


def raw_call(tool: str, arguments: str = "{}", id: str | None = None) -> ScriptedReply:
    """A call with its argument text, and if wanted its id, as they stand."""
    return ScriptedReply((ScriptedCall(tool, arguments, id),))


def calls(*replies: ScriptedReply) -> ScriptedReply:
    return _joined(replies)


def wait_for(gate: Gate | FileGate | asyncio.Event | Path | str) -> ScriptedReply:
    """Pause here. A path is a gate that opens when the file appears."""
    return ScriptedReply((Pause(FileGate(Path(gate)) if isinstance(gate, Path | str) else gate),))


def headers() -> ScriptedReply:
    return ScriptedReply((Headers(),))


def hang() -> ScriptedReply:
    return ScriptedReply((Hang(),))


def raw_delta(**delta: object) -> ScriptedReply:
    return ScriptedReply((RawDelta(delta),))


def raw_event(payload: str) -> ScriptedReply:
    return ScriptedReply((RawEvent(payload),))


def stream_error(code: str, message: str) -> ScriptedReply:
    """An error object in mid-stream, as some providers send it."""
    return raw_event(json.dumps({"error": {"code": code, "message": message}})).ending(None)


def error(status: int, code: str | None, message: str, headers: Mapping[str, str] | None = None) -> Failure:
    return Failure(status, code, message, headers or {})


def raw_chunks(
    *chunks: bytes, status: int = 200, content_type: str = "text/event-stream", cut: bool = False
) -> RawBody:
    """A body as it stands, one write per chunk; `cut` drops the connection after the last."""
    return RawBody(chunks, status, {"Content-Type": content_type}, cut)


def _joined(replies: Iterable[ScriptedReply]) -> ScriptedReply:
    return sum(replies, start=ScriptedReply())
