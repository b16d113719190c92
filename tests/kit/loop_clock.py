"""The clock of the running event loop, put forward by a test: a deadline passes in the very moment the test means, and
on a slow machine never before it."""

import asyncio

import pytest


class LoopClock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self._really = loop.time
        self._ahead = 0.0
        monkeypatch.setattr(loop, "time", self.time)

    def time(self) -> float:
        return self._really() + self._ahead

    def jump(self, seconds: float) -> None:
        """What is due by then is done in the next turn of the loop."""
        self._ahead += seconds
