"""People's words against each other and against the turn's own steps, in every order: one end, no effect twice, none
after a stop, and the second word changes nothing."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.core.memory import Script, says
from tests.test_runner import HELLO, House
from windlass.core.errors import Conflict, WindlassError
from windlass.core.events import (
    CallDecided,
    CallJudged,
    CallResolved,
    Event,
    ModelReplied,
    StopRequested,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from windlass.core.messages import ToolCall, ToolOutput
from windlass.core.ports import Hear
from windlass.store import Conversation

Word = Callable[["Stage"], Coroutine[Any, Any, object]]


@dataclass
class Stage:
    """A turn with one call that asks; its tool and its model wait for a tick each, so that words fit between."""

    house: House
    turn: str = ""
    call: str = ""
    ran: list[str] = field(default_factory=list)

    async def open(self) -> None:
        script = self.house.script
        script.lines = [says("", "send"), says("done")]
        script.judge_as = lambda call: CallJudged(call.id, "ask")
        script.tool = self._tool
        conversation = await self.house.store.conversations.create(Conversation(""))
        self.turn = (await self.house.runner.start(conversation.id, HELLO)).turn_id
        await self.house.runner.settled(self.turn)
        self.call = next(c.id for e in self.log() if isinstance(e, ModelReplied) for c in e.calls)

    def _tool(self, call: ToolCall, hear: Hear) -> "asyncio.Future[ToolOutput]":
        self.ran.append(call.id)
        return asyncio.ensure_future(self._slowly())

    async def _slowly(self) -> ToolOutput:
        for _ in range(3):
            await asyncio.sleep(0)
        return ToolOutput("sent")

    def log(self) -> list[Event]:
        return [row.event for row in self.house.store.conversations.log(self.turn)]


async def stop(stage: Stage) -> object:
    await stage.house.runner.stop(stage.turn)
    return True


async def stop_call(stage: Stage) -> object:
    await stage.house.runner.stop(stage.turn, stage.call)
    return True


async def allow(stage: Stage) -> object:
    return await stage.house.runner.decide(stage.turn, CallDecided(stage.call, allow=True))


async def deny(stage: Stage) -> object:
    return await stage.house.runner.decide(stage.turn, CallDecided(stage.call, allow=False))


async def resolve(stage: Stage) -> object:
    try:
        return await stage.house.runner.resolve(stage.turn, CallResolved(stage.call, "retry"))
    except Conflict:
        return False


WORDS: tuple[Word, ...] = (stop, stop_call, allow, deny, resolve)
GAPS = (0, 1, 2, 3, 5, 8)  # turns of the loop between one word and the next
CASES = [
    (first, second, gap)
    for first, second in itertools.product(WORDS, repeat=2)
    for gap in GAPS
    if {first, second} & {stop, allow, deny, stop_call}
]


@pytest.mark.parametrize(("first", "second", "gap"), CASES, ids=lambda value: getattr(value, "__name__", str(value)))
async def test_whatever_the_order_of_words_there_is_one_end(
    first: Word, second: Word, gap: int, tmp_path: Path
) -> None:
    house = House(tmp_path, Script())
    stage = Stage(house)
    await stage.open()
    try:
        one = asyncio.create_task(first(stage))
        for _ in range(gap):
            await asyncio.sleep(0)
        two = asyncio.create_task(second(stage))
        said = await asyncio.gather(one, two, return_exceptions=True)
        assert all(not isinstance(word, Exception) or isinstance(word, WindlassError) for word in said), said
        await house.runner.settled(stage.turn, 5)
        if not isinstance(stage.log()[-1], TurnFinished):
            await stop(stage)
            await house.runner.settled(stage.turn, 5)
        _check(stage)
    finally:
        await house.runner.drain(0)
        await house.store.close()


def _check(stage: Stage) -> None:
    log = stage.log()
    assert sum(isinstance(event, TurnFinished) for event in log) == 1 and isinstance(log[-1], TurnFinished)
    assert sum(isinstance(event, ToolFinished) for event in log) == 1
    assert sum(isinstance(event, CallDecided) for event in log) <= 1
    assert len(stage.ran) <= 1
    stops = [n for n, event in enumerate(log) if isinstance(event, StopRequested) and not event.call_id]
    assert not any(isinstance(event, ToolStarted) for event in (log[stops[0] :] if stops else []))
    denied = any(isinstance(event, CallDecided) and not event.allow for event in log)
    assert not (denied and stage.ran)
