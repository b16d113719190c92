"""A log in memory and small scripted parts, for tests of the core alone."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from windlass.core.errors import Fenced, ModelError
from windlass.core.events import CallJudged, Event, Settings, TurnClaimed, TurnFinished, TurnStarted
from windlass.core.fold import TurnView
from windlass.core.messages import ChatMessage, PastTurn, ToolCall, ToolOutput, Toolset
from windlass.core.ports import DraftCall, Emit, LiveEvent, ModelRequest, Reply
from windlass.search.rules import completed
from windlass.store.fence import KeyedFence


def started(text: str = "hello", settings: Settings | None = None) -> TurnStarted:
    return TurnStarted((ChatMessage("user", text),), settings or Settings())


class MemoryLog:
    """Core's `Log` port over a list."""

    def __init__(self, *events: Event) -> None:
        self.turn_id = "turn-x"
        self.events: list[Event] = list(events) or [started()]
        self.written: list[Sequence[Event]] = []  # what came together
        self.epoch = self.fence = 0
        self._grown = asyncio.Event()

    async def read(self) -> Sequence[Event]:
        return tuple(self.events)

    async def claim(self) -> None:
        self.fence += 1
        self.epoch = self.fence
        self.add(TurnClaimed("memory", self.epoch))

    def record(self, *facts: Event) -> "asyncio.Future[bool]":
        return self._put(facts, None)

    def begin(self, seen: int, *intents: Event, facts: Sequence[Event] = ()) -> "asyncio.Future[bool]":
        return self._put(intents, seen, facts)

    async def changed(self, seen: int, also: "asyncio.Future[Any] | None" = None) -> None:
        grown = self._grown
        if also:
            also.add_done_callback(lambda _: grown.set())
        while len(self.events) <= seen and not (also and also.done()):
            await self._grown.wait()

    def add(self, *events: Event) -> None:
        self.events.extend(events)
        self._grown.set()
        self._grown = asyncio.Event()

    async def until(self, met: Callable[[list[Event]], bool]) -> None:
        while not met(self.events):
            await self._grown.wait()

    def _put(self, events: Sequence[Event], seen: int | None, facts: Sequence[Event] = ()) -> "asyncio.Future[bool]":
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self.epoch != self.fence:
            future.set_exception(Fenced("another driver"))
            return future
        open_ = not isinstance(self.events[-1], TurnFinished)
        lands = open_ and seen in (None, len(self.events))
        if open_:
            self.written.append((*facts, *(events if lands else ())))
            self.add(*self.written[-1])
        future.set_result(lands)
        return future


@dataclass
class Script:
    """A model that replies with its lines, scripted tools, and no history."""

    fence = KeyedFence(b"key")

    lines: list[Reply | ModelError] = field(default_factory=list)
    judge_as: Callable[[ToolCall], CallJudged] = lambda call: CallJudged(call.id, "auto")
    tool: Callable[[ToolCall, Emit], "asyncio.Future[ToolOutput] | ToolOutput | Exception"] = lambda call, emit: (
        ToolOutput(f"{call.name} done")
    )
    later: str | None = None
    asked: list[ModelRequest] = field(default_factory=list)
    emitted: list[LiveEvent] = field(default_factory=list)
    ran: list[ToolCall] = field(default_factory=list)
    toolset: Toolset = field(default_factory=Toolset)
    hangs: bool = False

    async def reply(self, request: ModelRequest, emit: Emit) -> Reply:
        self.asked.append(request)
        if self.hangs:
            await asyncio.Event().wait()
        line = self.lines.pop(0)
        if isinstance(line, ModelError):
            raise line
        return line

    def listed(self, view: TurnView) -> Toolset:
        return self.toolset

    def judge(self, call: ToolCall, log: Sequence[Event]) -> CallJudged:
        return self.judge_as(call)

    async def completed(self, view: TurnView, replying: Awaitable[Reply], forced: str) -> Reply:
        return await completed(view, replying, forced)

    async def run(self, call: ToolCall, emit: Emit) -> ToolOutput:
        self.ran.append(call)
        result = self.tool(call, emit)
        if isinstance(result, Exception):
            raise result
        return await result if isinstance(result, asyncio.Future) else result

    def alarm(self, limit_s: float, sound: Callable[[], object]) -> Callable[[], None]:
        return asyncio.get_running_loop().call_later(limit_s, sound).cancel

    async def before(self, turn_id: str, history_from: str) -> tuple[PastTurn, ...]:
        return (PastTurn("turn-before", (ChatMessage("user", f"earlier, from {history_from or 'the start'}"),)),)

    async def shorten(self, turn_id: str, log: Sequence[Event]) -> str | None:
        return self.later


def says(text: str, *names: str, finish: str = "stop") -> Reply:
    return Reply(text, tuple(DraftCall(name) for name in names), finish=finish)
