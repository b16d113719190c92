"""Random schedules over the real loop and the real store: crashes, second drivers, stops, people who answer early, late
and twice. One seed is one schedule; what it breaks, it breaks again."""

import asyncio
import contextlib
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.kit.waiting import turns_of_the_loop
from windlass.core.engine import run_turn
from windlass.core.errors import Fenced, ModelError
from windlass.core.events import (
    CallDecided,
    CallJudged,
    CallResolved,
    Event,
    Limits,
    ModelFailed,
    ModelReplied,
    Settings,
    StopRequested,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnFinished,
    TurnStarted,
)
from windlass.core.fold import TurnView
from windlass.core.messages import ChatMessage, ToolCall, ToolOutput, Toolset
from windlass.core.ports import DraftCall, Emit, ModelRequest, Reply
from windlass.core.steps import AwaitPerson, next_step
from windlass.search.rules import completed
from windlass.store import ConversationRow, Store, TurnLog
from windlass.store.turnlog import TurnLogs

SAFE = {"read"}
DRIVERS = itertools.count()


@dataclass
class World:
    """What is true outside: how often each call reached its tool, and which came back."""

    rng: random.Random
    script: list[Reply | ModelError]
    ran: Counter[str] = field(default_factory=Counter)
    came_back: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    toolset: Toolset = field(default_factory=Toolset)
    moment: Callable[[], None] = lambda: None  # told when a driver is about to act

    async def reply(self, request: ModelRequest, emit: Emit) -> Reply:
        await asyncio.sleep(self.rng.random() * 0.003)  # these pauses are the schedule
        heard = [message for message in request.prompt.current if message.role == "assistant"]
        step = self.script[len(heard) + self._failures_before(len(heard), request.attempt)]
        if isinstance(step, ModelError):
            raise step
        return step

    def _failures_before(self, replies: int, attempt: int) -> int:
        """The script holds failures between replies; an attempt after the first skips the one already met."""
        place = met = 0
        while met < replies:
            met += isinstance(self.script[place], Reply)
            place += 1
        return place - replies + min(attempt - 1, int(isinstance(self.script[place], ModelError)))

    def listed(self, view: TurnView) -> Toolset:
        return self.toolset

    def judge(self, call: ToolCall, log: Sequence[Event]) -> CallJudged:
        self.names[call.id] = call.name
        self.moment()
        return CallJudged(call.id, "ask" if call.name == "delete" else "auto", "rule 1", safe=call.name in SAFE)

    async def completed(self, view: TurnView, replying: Awaitable[Reply], forced: str) -> Reply:
        return await completed(view, replying, forced)

    async def run(self, call: ToolCall, emit: Emit) -> ToolOutput:
        self.ran[call.id] += 1
        await asyncio.sleep(self.rng.random() * 0.006)
        self.came_back.add(call.id)
        self.moment()
        if call.name == "boom":
            raise OSError("boom")
        return ToolOutput("done")

    def alarm(self, limit_s: float, sound: Callable[[], object]) -> Callable[[], None]:
        return asyncio.get_running_loop().call_later(limit_s, sound).cancel


class NotedLog(TurnLog):
    """Notes the facts that landed although another driver had claimed the turn."""

    def __init__(self, logs: TurnLogs, turn_id: str, driver: str) -> None:
        super().__init__(logs, turn_id, driver)
        self.late: list[Event] = []

    def record(self, *facts: Event) -> "asyncio.Future[bool]":
        claims = [event.epoch for event in self._live.events if isinstance(event, TurnClaimed)]
        done = super().record(*facts)
        if max(claims) > self._epoch:
            done.add_done_callback(lambda over: self._note(over, facts))
        return done

    def _note(self, over: "asyncio.Future[bool]", facts: Sequence[Event]) -> None:
        if not over.cancelled() and not over.exception() and over.result():
            self.late.extend(facts)


@dataclass
class Schedule:
    """One seed's story."""

    seed: int
    folder: Path
    met: Counter[str] = field(default_factory=Counter)
    logs: list["NotedLog"] = field(default_factory=list)

    async def play(self) -> Counter[str]:
        self.rng = random.Random(self.seed)
        self.world = World(self.rng, _script(self.rng))
        self.store = Store(self.folder)
        conversation = await self.store.conversations.create(ConversationRow(""))
        started = TurnStarted((ChatMessage("user", "go"),), Settings(limits=Limits(claims=100)))
        self.turn = (await self.store.logs.create(conversation.id, started)).turn_id
        self.crashes = self.rng.choice([0, 0, 1, 2, 3])
        self.stop_in = self.rng.randint(0, 12) if self.rng.random() < 0.3 else None
        self.task: asyncio.Task[object] | None = None
        self.older: list[asyncio.Task[object]] = []
        self.world.moment = self._at_a_bad_moment
        for _ in range(20_000):
            if isinstance(self._events()[-1], TurnFinished):
                break
            await self._tick()
        await self._end()
        self._check()
        return self.met

    def _events(self) -> list[Event]:
        return [row.event for row in self.store.logs.read(self.turn)]

    async def _tick(self) -> None:
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._drive())
        chance = self.rng.random()
        if self.crashes and chance < 0.08:
            await self._crash()
        elif chance < 0.12:
            self.met["second drivers"] += 1
            self.older.append(self.task)
            self.task = None
        else:
            await self._people()
            await asyncio.sleep(self.rng.random() * 0.004)

    async def _drive(self) -> None:
        log = NotedLog(self.store.logs, self.turn, f"driver-{next(DRIVERS)}")
        self.logs.append(log)
        with contextlib.suppress(Fenced):
            await run_turn(log, self.world, self.world, self.store.history, lambda _: None)

    async def _crash(self) -> None:
        """kill -9: what is queued vanishes, the tasks vanish, the file stays as it is."""
        self.crashes -= 1
        self.met["crashes"] += 1
        self.store.abandon()
        await _gone([self.task, *self.older])
        self.task, self.older = None, []
        self.store = Store(self.folder)

    async def _people(self) -> None:
        events = self._events()
        for event in events:
            if isinstance(event, CallJudged) and event.verdict == "ask" and self.rng.random() < 0.3:
                decided = CallDecided(event.call_id, allow=self.rng.random() < 0.7)
                first = await self.store.logs.append(self.turn, (decided,))
                second = await self.store.logs.append(self.turn, (decided,))
                assert not (first and second), f"seed {self.seed}: decided twice"
        step = next_step(events)
        if isinstance(step, AwaitPerson):
            for call_id in step.unknown:
                self.met["unknown"] += 1
                resolved = CallResolved(call_id, "skip" if self.rng.random() < 0.5 else "done")
                await self.store.logs.append(self.turn, (resolved,))
        if self.stop_in is not None:
            self.stop_in -= 1
            if self.stop_in < 0:
                self.stop_in = None
                self.met["stops"] += 1
                await self.store.logs.append(self.turn, (StopRequested(),))

    def _at_a_bad_moment(self) -> None:
        """A stop that arrives while the driver decides, so that its intent meets a longer log."""
        if self.stop_in is not None and self.rng.random() < 0.3:
            self.stop_in = None
            self.met["stops"] += 1
            self.older.append(asyncio.create_task(self._stop_after(self.rng.randint(0, 12))))

    async def _stop_after(self, steps: int) -> None:
        await turns_of_the_loop(steps)
        await self.store.logs.append(self.turn, (StopRequested(),))

    async def _end(self) -> None:
        await _gone([self.task, *self.older])
        self.log = self._events()
        await self.store.close()

    def _check(self) -> None:
        where = f"seed {self.seed}: {self.log}"
        ends = Counter(event.call_id for event in self.log if isinstance(event, ToolFinished))
        calls = [call.id for event in self.log if isinstance(event, ModelReplied) for call in event.calls]
        assert all(ends[call] == 1 for call in calls), f"not one terminal state each, {where}"
        unsafe = [call for call in calls if self.world.names[call] not in SAFE]
        assert all(self.world.ran[call] <= 1 for call in unsafe), f"an unsafe call ran twice, {where}"
        late = [fact for log in self.logs for fact in log.late]
        assert not late, f"written by a driver that another had followed: {late}, {where}"
        assert isinstance(self.log[-1], TurnFinished), f"never finished, {where}"
        assert sum(isinstance(event, TurnFinished) for event in self.log) == 1, f"finished twice, {where}"
        stops = [place for place, event in enumerate(self.log) if isinstance(event, StopRequested)]
        after = self.log[stops[0] :] if stops else []
        assert not any(isinstance(event, ToolStarted) for event in after), f"dispatched after a stop, {where}"
        if not self.met["crashes"] and not self.met["second drivers"] and not self.met["stops"]:
            told = {e.call_id for e in self.log if isinstance(e, ToolFinished) and e.state in ("ok", "error")}
            assert self.world.came_back <= told, f"a result was lost, {where}"
        self.met[self.log[-1].outcome] += 1
        self.met["model failures"] += sum(isinstance(event, ModelFailed) for event in self.log)


async def _gone(tasks: Sequence["asyncio.Task[object] | None"]) -> None:
    for task in tasks:
        if task:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


def _script(rng: random.Random) -> list[Reply | ModelError]:
    steps: list[Reply | ModelError] = []
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.3:
            steps.append(ModelError("busy", "503", retryable=True))
        names = [rng.choice(["read", "send", "delete", "boom"]) for _ in range(rng.randint(1, 4))]
        steps.append(Reply("", tuple(DraftCall(name) for name in names)))
    return [*steps, Reply("the answer")]


async def play(seeds: Sequence[int], folder: Path, said: Callable[[int], None] = lambda _: None) -> Counter[str]:
    met: Counter[str] = Counter()
    for seed in seeds:
        met += await Schedule(seed, folder / str(seed)).play()
        said(seed)
    return met
