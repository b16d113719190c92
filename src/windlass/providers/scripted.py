"""A model that replies from a script, for tests: no network, no surprises.

    model = ScriptedModel(call("list_directory", path="/docs"), say("Two ", "files."))

Each request takes the next line. A line may also be a `ModelError` to raise, or a function of the request.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

from windlass.core.errors import ModelError
from windlass.core.messages import SourceLink, Usage
from windlass.core.ports import CallDelta, DraftCall, Emit, ModelRequest, ReasoningDelta, Reply, TextDelta
from windlass.core.values import value_object


@value_object
class ScriptedLine:
    """A reply in the pieces it is streamed in. Lines add up: `say("Let me see. ") + call("look")`."""

    pieces: tuple["str | DraftCall | _Thought | asyncio.Event", ...] = ()
    usage: Usage = Usage(10, 5)
    finish: str = ""
    sources: tuple[SourceLink, ...] = ()

    def __add__(self, more: "ScriptedLine") -> "ScriptedLine":
        return replace(
            self,
            pieces=self.pieces + more.pieces,
            finish=more.finish or self.finish,
            sources=self.sources + more.sources,
        )

    def ending(self, finish: str) -> "ScriptedLine":
        return replace(self, finish=finish)

    def citing(self, *sources: SourceLink) -> "ScriptedLine":
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


@value_object
class _Thought:
    text: str


Script = ScriptedLine | ModelError | Callable[[ModelRequest], ScriptedLine | ModelError]


def say(*pieces: str | asyncio.Event) -> ScriptedLine:
    """Text in these pieces. At an event the reply waits until it is set."""
    return ScriptedLine(pieces)


def think(*pieces: str) -> ScriptedLine:
    return ScriptedLine(tuple(_Thought(piece) for piece in pieces))


def call(tool: str, /, **arguments: object) -> ScriptedLine:
    return ScriptedLine((DraftCall(tool, json.dumps(arguments, ensure_ascii=False)),))


def draft(one: DraftCall) -> ScriptedLine:
    """A call exactly as given: broken, repaired, with a wire id."""
    return ScriptedLine((one,))


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

    async def reply(self, request: ModelRequest, emit: Emit) -> Reply:
        self.requests.append(request)
        if not self._script:
            raise ModelError("script_over", f"The script has no line for request {len(self.requests)}.")
        line = self._script.pop(0)
        if not isinstance(line, ScriptedLine | ModelError):
            line = line(request)
        if isinstance(line, ModelError):
            raise line
        await _speak(line, request.attempt, emit)
        return line.reply()


async def _speak(line: ScriptedLine, attempt: int, emit: Emit) -> None:
    calls = 0
    for piece in line.pieces:
        match piece:
            case str(text):
                emit(TextDelta(attempt, text))
            case _Thought(text):
                emit(ReasoningDelta(attempt, text))
            case DraftCall(name, arguments):
                emit(CallDelta(attempt, calls, name, arguments))
                calls += 1
            case asyncio.Event():
                await piece.wait()
