"""How many calls one provider gets at once. After a refusal there are fewer, and none before the pause is over that the
provider asked for; then there are more again, by accepted calls and by time. The oldest turn is let in first, so that
fifty turns neither come back as one nor overtake each other."""

import asyncio
from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass, field

MOST = 256
AFTER_PAUSE = 8  # at most, after a refusal of a single call: the pause itself says what is wrong, and it is over
CALM_S = 20.0  # without a refusal, before more are tried; doubled by each refusal after such a try
LONGEST_CALM_S = 320.0
NOTIFY_S = 1.0  # between two reports to those who wait

Notify = Callable[[int, float], None]


@dataclass(slots=True, order=True)
class _Waiter:
    order: str
    number: int
    admitted: "asyncio.Future[None]" = field(compare=False)
    notify: Notify | None = field(compare=False)
    notified: tuple[int, float] | None = field(compare=False, default=None)


class Limiter:
    """`limit` is how many may be under way, `ceiling` how far it grows with accepted calls."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._limit = self._ceiling = most
        self._active = 0
        self._count = 0
        self._until = 0.0
        self._refused_at = -1.0  # all times are those of the loop's clock
        self._calm_s, self._grow_at = CALM_S, 0.0
        self._tried = False  # since the last refusal, more than were safe
        self._queue: list[_Waiter] = []  # in order
        self._alarm: asyncio.TimerHandle | None = None

    @property
    def limit(self) -> int:
        self._grow()
        return self._limit

    @property
    def active(self) -> int:
        return self._active

    async def acquire(self, order: str = "", notify: Notify | None = None) -> float:
        """Wait for a slot; the lowest `order` goes first, and first come, first served within it. Gives the time it was
        granted, for `refused`. `notify` gets how many are ahead and how long the pause lasts, at once and on change."""
        if not self._queue and self._free():  # never past those who wait
            self._active += 1
            return self._clock()
        self._count += 1
        waiter = _Waiter(order, self._count, asyncio.get_running_loop().create_future(), notify)
        insort(self._queue, waiter)
        self._admit()
        if not waiter.admitted.done():
            self._notify(waiter, bisect_left(self._queue, waiter))
        try:
            await waiter.admitted
        except asyncio.CancelledError:
            self._give_up(waiter)
            raise
        return self._clock()

    def release(self) -> None:
        self._active -= 1
        if self._queue:
            self._admit()

    def accepted(self) -> None:
        """The provider began to answer a call: room for one more."""
        if self._limit < self._ceiling:
            self._limit += 1
            if self._queue:
                self._admit()

    def refused(self, sent_at: float, pause_s: float) -> None:
        """The provider had too many requests; `pause_s` is the pause it asked for, 0 for none. Calls that were sent
        together are refused together: each of them beyond the first only shows how few would have been accepted."""
        now = self._clock()
        if sent_at <= self._refused_at:
            self._limit = self._ceiling = max(1, min(self._limit, self._active - 1))
        elif self._active <= 1:
            self._limit = min(self._limit, AFTER_PAUSE)
        else:
            self._limit = self._ceiling = max(1, min(self._limit, self._active) // 2)
        if self._tried:
            self._calm_s, self._tried = min(2 * self._calm_s, LONGEST_CALM_S), False
        self._refused_at = now
        self._until = max(self._until, now + pause_s)
        self._grow_at = self._until + self._calm_s

    def _grow(self) -> None:
        """By time alone: a call that never ends, or never begins, must not keep the others out."""
        while self._limit < self._most and self._clock() >= self._grow_at:
            self._ceiling = min(self._most, 2 * self._ceiling)
            self._limit = min(self._ceiling, self._limit + 1)
            self._grow_at += self._calm_s
            self._tried = True
            if self._ceiling == self._most:
                self._calm_s = CALM_S

    def _free(self) -> bool:
        return self._active < self.limit and self._clock() >= self._until

    def _admit(self) -> None:
        while self._queue and self._free():
            waiter = self._queue.pop(0)
            if not waiter.admitted.done():
                # Counted when it is granted, not when the waiter wakes: in between another could take the same slot.
                self._active += 1
                waiter.admitted.set_result(None)
        if self._queue and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(self._look_s(), self._wake)

    def _clock(self) -> float:
        return asyncio.get_running_loop().time()

    def _look_s(self) -> float:
        pause = self._until - self._clock()
        return min(NOTIFY_S, pause) if pause > 0 else NOTIFY_S

    def _wake(self) -> None:
        self._alarm = None
        self._admit()
        for ahead, waiter in enumerate(self._queue):
            self._notify(waiter, ahead)

    def _notify(self, waiter: _Waiter, ahead: int) -> None:
        until = self._until if self._until > self._clock() else 0.0
        if waiter.notify and waiter.notified != (ahead, until):
            waiter.notified = (ahead, until)
            waiter.notify(ahead, max(0.0, until - self._clock()))

    def _give_up(self, waiter: _Waiter) -> None:
        if waiter.admitted.done() and not waiter.admitted.cancelled():
            # Granted and cancelled at once: without this the slot would be lost for good.
            self.release()
            return
        if waiter in self._queue:
            self._queue.remove(waiter)
