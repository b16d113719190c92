"""What each turn waits for. A wait is announced once it has lasted a while, so a turn that moves announces nothing; one
that is known to last is announced at once. An announced wait holds until the turn's next event."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from windlass.core.ports import InputNeeded, ToolProgress, Waiting

NAMED_AFTER_S = 3.0
_NEEDS = {"person": 0, "sign_in": 1}  # a person, the more urgent first

Announce = Callable[[str, str, Waiting], None]
Ended = Callable[[str], None]


@dataclass(slots=True)
class _Wait:
    conversation_id: str
    turn_id: str
    waiting: Waiting
    due: float
    announced: bool = False


class Waits:
    """Of each turn one for each running call, and one under "" for everything else."""

    def __init__(self, announce: Announce, ended: Ended = lambda _: None) -> None:
        """`ended` is called with the conversation in which an announced wait is over."""
        self._announce = announce
        self._ended = ended
        self._turns: dict[str, dict[str, _Wait]] = {}
        self._unannounced: dict[tuple[str, str], _Wait] = {}  # the first is due first: all of them wait equally long
        self._timer: asyncio.TimerHandle | None = None

    def __contains__(self, turn_id: str) -> bool:
        return turn_id in self._turns

    def begin(self, conversation_id: str, turn_id: str, waiting: Waiting) -> None:
        """It takes the place of the wait before it; after an announced one it is announced at once."""
        waits = self._turns.setdefault(turn_id, {})
        before = waits.get(waiting.call_id)
        loop = asyncio.get_running_loop()
        wait = _Wait(conversation_id, turn_id, waiting, loop.time() + NAMED_AFTER_S)
        waits[waiting.call_id] = wait
        self._unannounced.pop((turn_id, waiting.call_id), None)
        if (before and before.announced) or _lasts(waiting):
            self._say(wait)
        else:
            self._schedule(wait)

    def asked(self, conversation_id: str, turn_id: str, asked: InputNeeded) -> None:
        """The call waits for a person now, and its server for the answer."""
        before = self._turns.get(turn_id, {}).get(asked.call_id)
        server = before.waiting.server if before else ""
        self.begin(conversation_id, turn_id, Waiting("person", time.time(), server=server, call_id=asked.call_id))

    def answered(self, turn_id: str, call_id: str) -> None:
        wait = self._turns.get(turn_id, {}).get(call_id)
        if wait and wait.waiting.for_ == "person":
            self.begin(wait.conversation_id, turn_id, replace(wait.waiting, for_="tool", since=time.time()))

    def progressed(self, turn_id: str, progress: ToolProgress) -> None:
        """The wait for this call begins again: what is waited for is its next sign of life."""
        if wait := self._turns.get(turn_id, {}).get(progress.call_id):
            if wait.announced:
                self._ended(wait.conversation_id)
            wait.announced, now, waiting = False, time.time(), wait.waiting
            until = now + waiting.until - waiting.since if waiting.until else None
            self.begin(wait.conversation_id, turn_id, replace(waiting, since=now, until=until))

    def over(self, turn_id: str, call_id: str = "") -> None:
        """The event that ends it takes an announced wait of another call from the screen as well: that is repeated."""
        waits = self._turns.get(turn_id)
        over = waits.pop(call_id, None) if waits else None
        if waits is None or over is None:
            return
        if over.announced:
            self._ended(over.conversation_id)
        self._unannounced.pop((turn_id, call_id), None)
        if not waits:
            del self._turns[turn_id]
        elif any(wait.announced for wait in waits.values()):
            asyncio.get_running_loop().call_soon(self._repeat, turn_id)

    def forget(self, turn_id: str) -> None:
        for call_id, wait in self._turns.pop(turn_id, {}).items():
            self._unannounced.pop((turn_id, call_id), None)
            if wait.announced:
                self._ended(wait.conversation_id)

    def current(self, turn_id: str) -> Waiting | None:
        """What needs a person before all else, then what has lasted longest."""
        waits = self._turns.get(turn_id)
        return _foremost(waits).waiting if waits else None

    def current_announced(self, turn_id: str) -> Waiting | None:
        waits = self._turns.get(turn_id)
        foremost = _foremost(waits) if waits else None
        return foremost.waiting if foremost and foremost.announced else None

    def announced(self, conversation_id: str, turn_id: str | None) -> Iterator[tuple[str, Waiting]]:
        """For a watcher that joins now."""
        turns = self._turns.items() if turn_id is None else [(turn_id, self._turns.get(turn_id))]
        for found_id, waits in turns:
            foremost = _foremost(waits) if waits else None
            if foremost and foremost.announced and foremost.conversation_id == conversation_id:
                yield found_id, foremost.waiting

    def _schedule(self, wait: _Wait) -> None:
        self._unannounced[wait.turn_id, wait.waiting.call_id] = wait
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_at(wait.due, self._announce_due)

    def _announce_due(self) -> None:
        self._timer, loop = None, asyncio.get_running_loop()
        while self._unannounced:
            key, wait = next(iter(self._unannounced.items()))
            if wait.due > loop.time():
                self._timer = loop.call_at(wait.due, self._announce_due)
                return
            del self._unannounced[key]
            self._say(wait)

    def _repeat(self, turn_id: str) -> None:
        waits = self._turns.get(turn_id)
        if waits and (foremost := _foremost(waits)).announced:
            self._announce(foremost.conversation_id, turn_id, foremost.waiting)

    def _say(self, wait: _Wait) -> None:
        wait.announced = True
        if _foremost(self._turns[wait.turn_id]) is wait:
            self._announce(wait.conversation_id, wait.turn_id, wait.waiting)


def _lasts(waiting: Waiting) -> bool:
    if waiting.for_ in ("person", "sign_in"):
        return True
    return waiting.for_ == "rate_limit" and (waiting.until or 0) - time.time() >= NAMED_AFTER_S


def _foremost(waits: dict[str, _Wait]) -> _Wait:
    return min(waits.values(), key=lambda wait: (_NEEDS.get(wait.waiting.for_, 2), wait.waiting.since))
