"""Owns running turns: starts them, drives them, records people's decisions, resumes what a restart left."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from windlass.bus import Bus
from windlass.core.engine import run_turn
from windlass.core.errors import Conflict, Fenced, NotFound, ToolError, Unavailable
from windlass.core.events import CallDecided, CallJudged, CallResolved, Event, ModelFailed, StopRequested, TurnStarted
from windlass.core.faults import reach
from windlass.core.fold import CallView, TurnView, fold
from windlass.core.ids import new_id
from windlass.core.messages import ToolCall, ToolOutput, Toolset
from windlass.core.ports import Emit, Model, Reply, Tools, Waiting
from windlass.core.steps import AwaitPerson, Close, Done, next_step
from windlass.store import HEAD, Created, Store, TurnLog

log = logging.getLogger("windlass.runner")
STORE_RETRY_S = 2.0
NOTIFY_S = 1.0  # between two reports to turns that queue
LONGEST_RETRY_S = 60.0  # each try may ask the model again, which costs


class ToolboxPort(Protocol):
    def for_turn(self, conversation_id: str, turn_id: str, started: TurnStarted) -> Tools: ...

    def was_unsent(self, call_id: str) -> bool:
        """Its start was written down, and nothing of it was sent."""
        ...


class Runner:
    def __init__(self, store: Store, bus: Bus, model: Model, toolbox: ToolboxPort, *, at_once: int = 32) -> None:
        self._store = store
        self._bus = bus
        self._model = model
        self._toolbox = toolbox
        self._slots = TurnSlots(at_once)
        self._driver = new_id("driver")
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._draining = False
        self._recovery: asyncio.TimerHandle | None = None  # at most one: it serves every request that failed
        bus.listen(CallJudged, self._judged)

    async def start(
        self,
        conversation_id: str,
        started: TurnStarted,
        *following: Event,
        parent_id: str | None = HEAD,
        turn_id: str = "",
        title: str = "",
    ) -> Created:
        """A new turn, on disk before this returns, and on its way. The same client message id gives the same turn."""
        if self._draining:
            raise Unavailable("Windlass is shutting down.", hint="Try again in a moment.", code="shutting_down")
        reach("request_parsed")
        turn_log = TurnLog(self._store.logs, turn_id or new_id("turn"), self._driver, unborn=True)
        try:
            created = await self._store.logs.create(
                conversation_id,
                started,
                *following,
                parent_id=parent_id,
                driver=self._driver,
                turn_id=turn_log.turn_id,
                title=title,
            )
        except BaseException as error:  # raised again; the turn, should it land all the same, is opened by its recovery
            turn_log.close()
            if isinstance(error, Unavailable | asyncio.CancelledError):
                self._recover_soon()
            raise
        reach("turn_created")
        if created.is_new and created.turn_id not in self._driving:
            self._drive(conversation_id, created.turn_id, turn_log)
        else:
            turn_log.close()
        return created

    async def stop(self, turn_id: str, call_id: str = "") -> None:
        """Idempotent: a stop of what has ended changes nothing. What the model was just saying is kept with it."""
        view = self._view(turn_id)
        if call_id:
            _call(view, turn_id, call_id)
        partial = "" if call_id or view.stop else self._bus.partial_text(turn_id)
        broken_off = [ModelFailed("stopped", "Stopped in the middle of the reply.", partial=partial)] if partial else []
        await self._append(turn_id, *broken_off, StopRequested(call_id=call_id))
        self._slots.hurry(turn_id)

    async def decide(self, turn_id: str, decided: CallDecided) -> bool:
        """False when the call was decided already; then nothing changes."""
        call = _call(self._view(turn_id), turn_id, decided.call_id)
        if call.judged is None or call.judged.verdict != "ask":
            raise Conflict("This call does not wait for approval.", code="not_waiting")
        return await self._append(turn_id, decided)

    async def resolve(self, turn_id: str, resolved: CallResolved) -> bool:
        call = _call(self._view(turn_id), turn_id, resolved.call_id)
        if call.open and not call.interrupted:
            raise Conflict("The outcome of this call is not in question.", code="not_unknown")
        if call.finished and call.finished.cause != "person":
            raise Conflict("This call has ended.", hint="Run it again with its retry.", code="call_ended")
        return await self._append(turn_id, resolved, key=f"resolved:{resolved.call_id}:{call.starts}")

    async def settled(self, turn_id: str, timeout_s: float | None = None) -> None:
        """Return once the turn has finished or waits for a person, or when the time is up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while task := self._driving.get(turn_id):
                    await asyncio.wait([task])

    def recover(self) -> int:
        """Drive every unfinished turn. A turn that waits for a person is looked at and left to wait."""
        if self._draining:
            return 0
        left = [turn for turn in self._store.conversations.unfinished() if turn.id not in self._driving]
        for turn in left:
            self._drive(turn.conversation_id, turn.id)
        return len(left)

    async def drain(self, grace_s: float) -> None:
        """Take nothing new, let what runs come to an end, then let go: the next start picks the rest up."""
        self._draining = True
        try:
            if self._driving:
                await asyncio.wait(self._driving.values(), timeout=grace_s)
        finally:  # also when the caller is cancelled
            for task in list(self._driving.values()):
                task.cancel()
            await asyncio.gather(*self._driving.values(), return_exceptions=True)

    @property
    def draining(self) -> bool:
        return self._draining

    @property
    def running(self) -> int:
        return len(self._driving)

    def _view(self, turn_id: str) -> TurnView:
        return fold([row.event for row in self._store.conversations.log(turn_id)])

    async def _append(self, turn_id: str, *events: Event, key: str = "") -> bool:
        turn = self._store.conversations.turn(turn_id)
        try:
            landed = await self._store.logs.append(turn_id, events, key=key)
        except (Unavailable, asyncio.CancelledError):
            self._recover_soon()
            raise
        reach("decision_recorded")
        if landed:
            self._update_waiting(turn_id)
        if landed and turn_id not in self._driving and not self._draining:
            self._drive(turn.conversation_id, turn_id)
        return landed

    def _recover_soon(self) -> None:
        """What was to be written may land all the same, although the caller got an error: then its turn must run."""
        if self._recovery is None:
            self._recovery = asyncio.get_running_loop().call_later(STORE_RETRY_S, self._recover_when_written)

    def _recover_when_written(self) -> None:
        """The file may be held for longer than we waited; what is still to land lands before the check does."""
        if not self._draining:
            checked = self._store.check()
            checked.add_done_callback(self._recover_checked)

    def _recover_checked(self, checked: "asyncio.Future[None]") -> None:
        self._recovery = None
        if checked.exception():
            self._recover_soon()
        else:
            self.recover()

    def _drive(self, conversation_id: str, turn_id: str, new_log: TurnLog | None = None) -> None:
        """The task owns the log of a new turn from here on."""
        task = asyncio.create_task(self._until_settled(conversation_id, turn_id, new_log), name=turn_id)
        self._driving[turn_id] = task
        task.add_done_callback(lambda done: self._forget(turn_id, done, new_log))

    def _forget(self, turn_id: str, task: "asyncio.Task[None]", new_log: TurnLog | None) -> None:
        if new_log and task.cancelled():
            new_log.close()  # a task that ran did so itself; this one may have been cancelled before it began
        if self._driving.get(turn_id) is task:
            del self._driving[turn_id]
            self._bus.settled(turn_id)

    async def _until_settled(self, conversation_id: str, turn_id: str, new_log: TurnLog | None) -> None:
        retry_s = STORE_RETRY_S
        with new_log or TurnLog(self._store.logs, turn_id, self._driver) as turn_log:
            while True:
                try:
                    if self._slots.taken and not isinstance(next_step(await turn_log.read()), Close):
                        # A stop may have come before, when nothing was queued.
                        await self._slots.queue(turn_id, self._notifier(conversation_id, turn_id))
                    with self._slots:
                        step = await self._run(conversation_id, turn_log)
                except Fenced:
                    return
                except Unavailable as error:
                    log.error("Turn %s is paused: %s %s", turn_id, error.message, error.hint)
                    await _until_changed(turn_log, retry_s)
                    retry_s = min(2 * retry_s, LONGEST_RETRY_S)
                except Exception as error:  # the root of a turn's task: an internal error ends it with a typed outcome
                    if not await self._record_defect(turn_id, error):
                        return
                else:
                    if isinstance(step, AwaitPerson) and await self._send_unsent(turn_id, step):
                        continue
                    if isinstance(step, Done) or next_step(await turn_log.read()) == step:
                        # Nothing awaits between this check and the end of the task, so no decision can slip in between.
                        return self._record_waiting(conversation_id, turn_id, step)
                turn_log.give_up_claim()

    async def _send_unsent(self, turn_id: str, step: AwaitPerson) -> bool:
        """Interrupted calls of which nothing was sent need nobody to say so."""
        unsent = [CallResolved(call_id, "retry") for call_id in step.unknown if self._toolbox.was_unsent(call_id)]
        return bool(unsent) and await self._store.logs.append(turn_id, unsent)

    async def _record_defect(self, turn_id: str, error: Exception) -> bool:
        """False when the turn is not there any more: its conversation was deleted."""
        try:
            noted = await self._store.logs.append(turn_id, (StopRequested("defect"),))
        except NotFound:
            return False
        except Unavailable:
            noted = False
        log.error("Internal error in turn %s", turn_id, exc_info=error)
        if not noted:  # nothing can be written, or closing it failed as well: no use in trying again at once
            await asyncio.sleep(STORE_RETRY_S)
        return True

    async def _run(self, conversation_id: str, turn_log: TurnLog) -> AwaitPerson | Done:
        view = fold(await turn_log.read())
        if view.stop:
            tools: Tools = NoTools()
        else:
            tools = self._toolbox.for_turn(conversation_id, turn_log.turn_id, view.started)

        emit = partial(self._bus.emit, conversation_id, turn_log.turn_id)
        try:
            return await run_turn(turn_log, self._model, tools, self._store.history, emit)
        except* (Fenced, Unavailable) as known:
            raise known.exceptions[0] from None

    def _update_waiting(self, turn_id: str) -> None:
        """What still waits for a person after a decision: lists show it while the turn runs."""
        calls = [call for call in self._view(turn_id).calls if call.open]
        asked = [call for call in calls if call.judged and call.judged.verdict == "ask" and not call.decided]
        unknown = [call for call in calls if call.interrupted and not call.safe and not call.resolved]
        self._show_waiting(turn_id, len(asked), len(unknown))

    def _judged(self, turn_id: str, judged: CallJudged) -> None:
        """A call that asks is shown in lists at once, also while others of its turn still run."""
        if judged.verdict == "ask":
            self._update_waiting(turn_id)

    def _show_waiting(self, turn_id: str, approvals: int, unknowns: int) -> None:
        conversation_id = self._store.conversations.turn(turn_id).conversation_id
        written = self._store.conversations.waits(turn_id, approvals, unknowns)
        written.add_done_callback(lambda _: self._bus.changed(conversation_id))

    def _record_waiting(self, conversation_id: str, turn_id: str, step: AwaitPerson | Done) -> None:
        reach("turn_settled")
        self._driving.pop(turn_id, None)
        self._bus.settled(turn_id)
        if isinstance(step, AwaitPerson):
            self._show_waiting(turn_id, len(step.approvals), len(step.unknown))
            since = self._store.conversations.log(turn_id)[-1].at
            call_id = (*step.approvals, *step.unknown)[0]
            self._bus.emit(conversation_id, turn_id, Waiting("person", since, call_id=call_id))

    def _notifier(self, conversation_id: str, turn_id: str) -> Callable[[int], None]:
        since = time.time()
        return lambda ahead: self._bus.emit(conversation_id, turn_id, Waiting("slot", since, ahead=ahead))


def _call(view: TurnView, turn_id: str, call_id: str) -> CallView:
    if call_id not in view.by_call:
        raise NotFound(f"There is no call {call_id} in turn {turn_id}.", hint="GET /turns/{id} shows its calls.")
    return view.by_call[call_id]


async def _until_changed(turn_log: TurnLog, most_s: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(most_s):
            await turn_log.changed(len(await turn_log.read()))


class NoTools:
    """For a turn that only has to be closed; its own tools may be what broke it."""

    toolset = Toolset()

    def listed(self, view: TurnView) -> Toolset:
        return self.toolset

    def judge(self, call: ToolCall, log: Sequence[Event]) -> CallJudged:
        return CallJudged(call.id, "refuse", refusal="unknown_tool", reason="This turn is being closed.")

    async def completed(self, view: TurnView, replying: Awaitable[Reply], forced: str) -> Reply:
        return await replying

    async def run(self, call: ToolCall, emit: Emit) -> ToolOutput:
        raise ToolError("This turn is being closed.")

    def alarm(self, limit_s: float, sound: Callable[[], object]) -> Callable[[], None]:
        return asyncio.get_running_loop().call_later(limit_s, sound).cancel


class TurnSlots:
    """So many turns at once; the rest queue in order. A stop does not have to queue."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._queue: dict[str, QueuedTurn] = {}
        self._timer: asyncio.TimerHandle | None = None

    @property
    def taken(self) -> bool:
        return self._free <= 0

    async def queue(self, turn_id: str, notify: Callable[[int], None]) -> None:
        """`notify` is called with how many are ahead, at once and when that has changed."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queued = QueuedTurn(waiter, notify)
        queued.notify_ahead(len(self._queue))
        self._queue[turn_id] = queued
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(NOTIFY_S, self._notify)
        try:
            await waiter
        finally:
            self._queue.pop(turn_id, None)

    def __enter__(self) -> None:
        self._free -= 1

    def __exit__(self, *_: object) -> None:
        self._free += 1
        if self._free > 0 and self._queue:
            self.hurry(next(iter(self._queue)))

    def hurry(self, turn_id: str) -> None:
        if (queued := self._queue.pop(turn_id, None)) and not queued.waiter.done():
            queued.waiter.set_result(None)

    def _notify(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(NOTIFY_S, self._notify) if self._queue else None
        for ahead, queued in enumerate(self._queue.values()):
            queued.notify_ahead(ahead)


@dataclass(slots=True)
class QueuedTurn:
    waiter: "asyncio.Future[None]"
    notify: Callable[[int], None]
    notified: int = -1

    def notify_ahead(self, ahead: int) -> None:
        if ahead != self.notified:
            self.notified = ahead
            self.notify(ahead)
