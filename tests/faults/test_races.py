"""People's words against each other and against the turn's own steps, in every order: one end, no effect twice, none
after a stop, and the second word changes nothing."""

import asyncio
import itertools
import threading
import types
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.core.memory import Script, says
from tests.kit.waiting import PATIENCE_S, turns_of_the_loop
from tests.proof.checker import broken_promises
from tests.proof.figures import FULL, note
from tests.test_runner import HELLO, OpenedApp
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
from windlass.core.ports import Emit
from windlass.store import ConversationRow

Word = Callable[["Stage"], Coroutine[Any, Any, object]]


@dataclass
class Stage:
    """A turn with one call that asks; its tool and its model wait for a tick each, so that words fit between."""

    app: OpenedApp
    turn: str = "turn-raced"
    call: str = "call_none"  # until the model has asked for one
    ran: list[str] = field(default_factory=list)

    async def open(self) -> None:
        script = self.app.script
        script.lines = [says("", "send"), says("done")]
        script.judge_as = lambda call: CallJudged(call.id, "ask")
        script.tool = self._tool
        conversation = await self.app.store.conversations.create(ConversationRow(""))
        await self.app.runner.start(conversation.id, HELLO, turn_id=self.turn)
        await self.app.runner.settled(self.turn)
        self.call = next((c.id for c in self.calls()), self.call)

    def _tool(self, call: ToolCall, emit: Emit) -> "asyncio.Future[ToolOutput]":
        self.ran.append(call.id)
        return asyncio.ensure_future(self._slowly())

    async def _slowly(self) -> ToolOutput:
        await turns_of_the_loop(3)
        return ToolOutput("sent")

    def calls(self) -> list[ToolCall]:
        return [call for event in self.log() if isinstance(event, ModelReplied) for call in event.calls]

    def log(self) -> list[Event]:
        return [row.event for row in self.app.store.conversations.log(self.turn)]


async def stop(stage: Stage) -> object:
    await stage.app.runner.stop(stage.turn)
    return True


async def stop_call(stage: Stage) -> object:
    await stage.app.runner.stop(stage.turn, stage.call)
    return True


async def allow(stage: Stage) -> object:
    return await stage.app.runner.decide(stage.turn, CallDecided(stage.call, allow=True))


async def deny(stage: Stage) -> object:
    return await stage.app.runner.decide(stage.turn, CallDecided(stage.call, allow=False))


async def resolve(stage: Stage) -> object:
    try:
        return await stage.app.runner.resolve(stage.turn, CallResolved(stage.call, "retry"))
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
    app = OpenedApp(tmp_path, Script())
    stage = Stage(app)
    await stage.open()
    try:
        one = asyncio.create_task(first(stage))
        await turns_of_the_loop(gap)
        two = asyncio.create_task(second(stage))
        said = await asyncio.gather(one, two, return_exceptions=True)
        assert all(not isinstance(word, Exception) or isinstance(word, WindlassError) for word in said), said
        await app.runner.settled(stage.turn, PATIENCE_S)
        if not isinstance(stage.log()[-1], TurnFinished):
            await stop(stage)
            await app.runner.settled(stage.turn, PATIENCE_S)
        _check(stage)
    finally:
        await app.runner.drain(0)
        await app.store.close()


def _check(stage: Stage) -> None:
    log = stage.log()
    assert sum(isinstance(event, TurnFinished) for event in log) == 1 and isinstance(log[-1], TurnFinished)
    assert sum(isinstance(event, ToolFinished) for event in log) == len(stage.calls())
    assert sum(isinstance(event, CallDecided) for event in log) <= 1
    assert len(stage.ran) <= 1
    stops = [n for n, event in enumerate(log) if isinstance(event, StopRequested) and not event.call_id]
    assert not any(isinstance(event, ToolStarted) for event in (log[stops[0] :] if stops else []))
    denied = any(isinstance(event, CallDecided) and not event.allow for event in log)
    assert not (denied and stage.ran)


Speak = Callable[[], Coroutine[Any, Any, object]]


@dataclass
class Explorer:
    """Speaks at one named fault point of a turn's life, the n-th time it is reached; without a place it only writes
    down which are reached. `at_once`, the word is on its way before the point is left; else it is as late as a word
    can be that came before. A point of the writer's thread is held until the word is on its way."""

    speak: Speak | None = None
    place: tuple[str, int] = ("", 0)
    at_once: bool = False
    reached: "Counter[str]" = field(default_factory=Counter)
    places: list[tuple[str, int]] = field(default_factory=list)
    spoken: "asyncio.Task[object] | None" = None

    def __post_init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def __call__(self, point: str) -> None:
        self.reached[point] += 1
        self.places.append((point, self.reached[point]))
        if self.speak is None or self.places[-1] != self.place:
            return
        if threading.get_ident() == self._thread:
            self._begin(self.speak)
        else:
            begun = threading.Event()
            self._loop.call_soon_threadsafe(self._begin, self.speak, begun)
            assert begun.wait(20)

    def _begin(self, speak: Speak, begun: threading.Event | None = None) -> None:
        self.spoken = self._loop.create_task(_begun(speak()) if self.at_once else speak())
        if begun:  # the word's own first step comes before this
            self._loop.call_soon(begun.set)


def _begun(word: Coroutine[Any, Any, object]) -> Coroutine[Any, Any, object]:
    """Its first step is taken here and now; what is left of it is for a task."""
    try:
        waits_for = word.send(None)
    except StopIteration as over:
        return _over(over.value)
    except WindlassError as error:
        return _over(error)
    return _rest(word, waits_for)


async def _over(value: object) -> object:
    return value


@types.coroutine
def _rest(word: Coroutine[Any, Any, object], waits_for: Any) -> Generator[Any, Any, object]:
    while True:
        try:
            yield waits_for
            waits_for = word.send(None)
        except StopIteration as over:
            return over.value


def listen(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every point is armed, and what it does is the explorer's; the product itself stays as it is."""
    for module in ("windlass.runner", "windlass.core.engine", "windlass.store.turnlog"):
        monkeypatch.setattr(f"{module}.reach", explorer)


RIVALS = (stop, stop_call, allow, deny) if FULL else (stop, allow)
MANNERS = (True, False) if FULL else (True,)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("second", RIVALS, ids=lambda word: word.__name__)
@pytest.mark.parametrize("first", RIVALS, ids=lambda word: word.__name__)
async def test_a_word_at_any_fault_point_of_a_turn_leaves_one_end(
    first: Word, second: Word, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first word is said when the turn waits for one, the second at each point that such a turn reaches."""
    places = (await _explored(first, None, ("", 0), tmp_path / "first", monkeypatch)).places
    assert len(places) > 10
    for number, (place, at_once) in enumerate(itertools.product(places, MANNERS)):
        met = await _explored(first, second, place, tmp_path / str(number), monkeypatch, at_once)
        assert met.spoken, f"{place} was not reached again"
    note("interleavings", count=len(places) * len(MANNERS))


async def _explored(
    first: Word,
    second: Word | None,
    place: tuple[str, int],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    at_once: bool = False,
) -> Explorer:
    app = OpenedApp(folder, Script())
    stage = Stage(app)
    explorer = Explorer((lambda: second(stage)) if second else None, place, at_once)
    try:
        with monkeypatch.context() as patch:
            listen(explorer, patch)
            await stage.open()
            said = [await asyncio.gather(first(stage), return_exceptions=True)]
            await app.runner.settled(stage.turn, PATIENCE_S)
            if explorer.spoken:
                said.append(await asyncio.gather(explorer.spoken, return_exceptions=True))
            await app.runner.settled(stage.turn, PATIENCE_S)
        odd = [word for words in said for word in words if isinstance(word, BaseException)]
        assert all(isinstance(word, WindlassError) for word in odd), f"{place}: {odd}"
        _check(stage)
    finally:
        await app.runner.drain(0)
        await app.store.close()
    faulty = broken_promises(folder / "windlass.db", folder / "no ledger")
    assert faulty == [], f"{first.__name__}, {second}, {place}: {faulty}"
    return explorer
