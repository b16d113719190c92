"""How long a turn has worked. While everything that runs waits for a person's answer, its time stands still."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager


class WorkClock:
    def __init__(self) -> None:
        self._open: dict[str, int] = {}  # the calls that run, and how many questions of each are open
        self._stood_s = 0.0
        self._stands_since: float | None = None

    async def worked(self, limit_s: float) -> None:
        """Return once so much work was done."""
        ends, left = time.monotonic() - self._stood() + limit_s, limit_s
        while left > 0:
            await asyncio.sleep(left)
            left = ends + self._stood() - time.monotonic()

    @contextmanager
    def running(self, call_id: str) -> Iterator[None]:
        self._open[call_id] = 0
        self._look()
        try:
            yield
        finally:
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
