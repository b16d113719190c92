"""How many calls one provider gets at once. It halves when the provider says it is too many, grows again slowly, and
holds everyone back while the provider asked for a pause, so that fifty turns do not come back as one."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

MOST = 256


class Limiter:
    def __init__(self, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._limit = float(most)
        self._active = 0
        self._clock = clock
        self._until = 0.0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._alarm: asyncio.TimerHandle | None = None

    @property
    def limit(self) -> int:
        return int(self._limit)

    @property
    def active(self) -> int:
        return self._active

    async def acquire(self) -> None:
        """Wait for a slot, first come, first served."""
        if not self._queue and self._free():  # never past those who wait
            self._active += 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(waiter)
        self._admit()
        try:
            await waiter
        except asyncio.CancelledError:
            self._give_up(waiter)
            raise

    def release(self) -> None:
        self._active -= 1
        if self._queue:
            self._admit()

    def went_well(self) -> None:
        if self._limit < self._most:
            self._limit = min(self._most, self._limit + 1 / self._limit)

    def slow_down(self, pause_s: float) -> None:
        """The provider had too many requests; `pause_s` is the pause it asked for, 0 for none."""
        self._limit = float(max(1, min(self.limit, self._active) // 2))
        self._until = max(self._until, self._clock() + pause_s)

    def _free(self) -> bool:
        return self._active < self.limit and self._clock() >= self._until

    def _admit(self) -> None:
        while self._queue and self._free():
            waiter = self._queue.popleft()
            if not waiter.done():
                # Counted when it is granted, not when the waiter wakes: in between another could take the same slot.
                self._active += 1
                waiter.set_result(None)
        pause = self._until - self._clock()
        if self._queue and pause > 0 and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(pause, self._wake)

    def _wake(self) -> None:
        self._alarm = None
        self._admit()

    def _give_up(self, waiter: "asyncio.Future[None]") -> None:
        if waiter.done() and not waiter.cancelled():
            # Granted and cancelled at once: without this the slot would be lost for good.
            self.release()
            return
        if waiter in self._queue:
            self._queue.remove(waiter)
