"""Waiting for a turn: until it ends, needs a decision, or a tool asks something."""

import asyncio
from collections.abc import Callable
from contextlib import closing, suppress

from windlass.bus import Bus
from windlass.bus.streams import Stream
from windlass.core.events import Event, Recorded
from windlass.core.ports import InputNeeded
from windlass.runner import Runner


class TurnWaiter:
    def __init__(self, bus: Bus, runner: Runner) -> None:
        self._runner = runner
        self._asked: dict[str, list[asyncio.Future[None]]] = {}
        bus.listen(InputNeeded, self._question)

    async def settled(self, turn_id: str, timeout_s: float | None = None) -> None:
        asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked.setdefault(turn_id, []).append(asked)
        settled = asyncio.ensure_future(self._runner.settled(turn_id, timeout_s))
        try:
            await asyncio.wait({settled, asked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            settled.cancel()
            self._asked[turn_id].remove(asked)
            if not self._asked[turn_id]:
                del self._asked[turn_id]

    async def until(self, stream: Stream, met: Callable[[Event], bool], timeout_s: float) -> None:
        """Until an event is in the log, or the time is up."""
        with closing(stream), suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while True:
                    for frame in await stream.frames():
                        if isinstance(frame.what, Recorded) and met(frame.what.event):
                            return

    def _question(self, turn_id: str, asked: InputNeeded) -> None:
        for waiter in self._asked.get(turn_id, ()):
            if not waiter.done():
                waiter.set_result(None)
