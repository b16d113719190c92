"""How long a turn has worked. While everything that runs waits for a person's answer, its time stands still."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LEAST_S = 0.05  # between two looks


class WorkClock:
    def __init__(self) -> None:
        self._open: dict[str, int] = {}  # the calls that run, and how many questions of each are open
        self._stood_s = 0.0
        self._stands_since: float | None = None

    def alarm(self, limit_s: float, sound: Callable[[], object]) -> Callable[[], None]:
        """Sound once so much work was done from now on. Gives what calls it off."""
        return _Alarm(self, self.worked_s + limit_s, sound).cancel

    @property
    def worked_s(self) -> float:
        """Since some moment in the past."""
        return time.monotonic() - self._stood()

    def begun(self, call_id: str) -> None:
        self._open[call_id] = 0
        self._look()

    def over(self, call_id: str) -> None:
        del self._open[call_id]
        self._look()

    @contextmanager
    def asking(self, call_id: str) -> Iterator[None]:
        self._open[call_id] += 1
        self._look()
        try:
            yield
        finally:
            if call_id in self._open:
                self._open[call_id] -= 1
                self._look()

    def _look(self) -> None:
        stands = bool(self._open) and all(self._open.values())
        if stands and self._stands_since is None:
            self._stands_since = time.monotonic()
        elif not stands and self._stands_since is not None:
            self._stood_s = self._stood()
            self._stands_since = None

    def _stood(self) -> float:
        return self._stood_s + (time.monotonic() - self._stands_since if self._stands_since is not None else 0.0)


class _Alarm:
    def __init__(self, clock: WorkClock, due_s: float, sound: Callable[[], object]) -> None:
        self._clock = clock
        self._due_s = due_s
        self._sound = sound
        self._look()

    def cancel(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        left_s = self._due_s - self._clock.worked_s
        loop = asyncio.get_running_loop()
        if left_s > 0:  # while a person thinks, it stays what it is
            self._timer = loop.call_later(max(left_s, LEAST_S), self._look)
        else:
            self._timer = loop.call_later(0, self._sound)
