"""A model that says what it is told to, for tests: no network, no surprises.

    model = ScriptedModel(call("list_directory", path="/docs"), say("Two ", "files."))

Each request takes the next line. A line may also be a `ModelError` to raise, or a function of the request.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

from windlass.core.errors import ModelError
from windlass.core.messages import Source, Usage
from windlass.core.ports import CallDelta, DraftCall, Hear, ModelRequest, ReasoningDelta, Reply, TextDelta
from windlass.core.values import frozen


@frozen
class Line:
    """A reply in the pieces it is heard in. Lines add up: `say("Let me see. ") + call("look")`."""

    pieces: tuple["str | DraftCall | _Thought | asyncio.Event", ...] = ()
    usage: Usage = Usage(10, 5)
    finish: str = ""
    sources: tuple[Source, ...] = ()

    def __add__(self, more: "Line") -> "Line":
        return replace(
            self,
            pieces=self.pieces + more.pieces,
            finish=more.finish or self.finish,
            sources=self.sources + more.sources,
        )

    def ending(self, finish: str) -> "Line":
        return replace(self, finish=finish)

    def citing(self, *sources: Source) -> "Line":
        return replace(self, sources=sources)

    def reply(self) -> Reply:
        calls = tuple(piece for piece in self.pieces if isinstance(piece, DraftCall))
        return Reply(
            "".join(piece for piece in self.pieces if isinstance(piece, str)),
            calls,
            "".join(piece.text for piece in self.pieces if isinstance(piece, _Thought)),
            self.usage,
            self.finish or ("tool_calls" if calls else "stop"),
            "scripted",
            sources=self.sources,
        )


@frozen
class _Thought:
    text: str


Script = Line | ModelError | Callable[[ModelRequest], Line | ModelError]


def say(*pieces: str | asyncio.Event) -> Line:
    """Text in these pieces. At an event the reply waits until it is set."""
    return Line(pieces)


def think(*pieces: str) -> Line:
    return Line(tuple(_Thought(piece) for piece in pieces))


def call(tool: str, /, **arguments: object) -> Line:
    return Line((DraftCall(tool, json.dumps(arguments, ensure_ascii=False)),))


def draft(one: DraftCall) -> Line:
    """A call exactly as given: broken, repaired, with a wire id."""
    return Line((one,))


class ScriptedModel:
    """A `Model`. What it was asked is kept in `requests`."""

    def __init__(self, *script: Script) -> None:
        self._script = list(script)
        self.requests: list[ModelRequest] = []

    @property
    def left(self) -> int:
        return len(self._script)

    def then(self, *script: Script) -> None:
        self._script += script

    async def reply(self, request: ModelRequest, hear: Hear) -> Reply:
        self.requests.append(request)
        if not self._script:
            raise ModelError("script_over", f"The script has no line for request {len(self.requests)}.")
        line = self._script.pop(0)
        if not isinstance(line, Line | ModelError):
            line = line(request)
        if isinstance(line, ModelError):
            raise line
        await _speak(line, request.attempt, hear)
        return line.reply()


async def _speak(line: Line, attempt: int, hear: Hear) -> None:
    calls = 0
    for piece in line.pieces:
        match piece:
            case str(text):
                hear(TextDelta(attempt, text))
            case _Thought(text):
                hear(ReasoningDelta(attempt, text))
            case DraftCall(name, arguments):
                hear(CallDelta(attempt, calls, name, arguments))
                calls += 1
            case asyncio.Event():
                await piece.wait()
