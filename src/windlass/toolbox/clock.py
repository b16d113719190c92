"""How long a turn has worked. While everything that runs waits for a person's answer, its time stands still."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager


class WorkClock:
    def __init__(self) -> None:
        self._open: dict[str, int] = {}  # the calls that run, and how many questions of each are open
        self._goes = asyncio.Event()
        self._stands = asyncio.Event()
        self._goes.set()

    async def worked(self, limit_s: float) -> None:
        """Return once so much work was done."""
        left = limit_s
        while True:
            await self._goes.wait()
            began = time.monotonic()
            try:
                async with asyncio.timeout(left):
                    await self._stands.wait()
            except TimeoutError:
                return
            left -= time.monotonic() - began

    @contextmanager
    def running(self, call_id: str) -> Iterator[None]:
        self._open[call_id] = 0
        self._set()
        try:
            yield
        finally:
            del self._open[call_id]
            self._set()

    @contextmanager
    def asking(self, call_id: str) -> Iterator[None]:
        self._open[call_id] += 1
        self._set()
        try:
            yield
        finally:
            if call_id in self._open:
                self._open[call_id] -= 1
                self._set()

    def _set(self) -> None:
        stands = bool(self._open) and all(self._open.values())
        now, then = (self._stands, self._goes) if stands else (self._goes, self._stands)
        then.clear()
        now.set()
