"""A flood from one server: what it costs in memory and in the loop's time while other calls go on."""

import asyncio
import json
import threading
import time

import psutil
import pytest

from tests.kit.ledger_file import Ledger
from tests.proof.figures import FULL, note
from tests.servers.kit import ledger_config, run, text_of
from windlass.core.errors import ToolError
from windlass.servers import Servers

MEGABYTES = 100 if FULL else 70  # either is more than is kept
MOST_MEMORY_MB = 64
MOST_LAG_S = 0.1


class Watch:
    """The highest memory and the loop's delays while it is open."""

    async def __aenter__(self) -> "Watch":
        self._process = psutil.Process()
        self._open = True
        self.delays: list[float] = []
        self._before = self._peak = self._process.memory_info().rss
        self._sampler = threading.Thread(target=self._sample)
        self._sampler.start()
        self._ticker = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._open = False
        await self._ticker
        self._sampler.join()

    @property
    def memory_mb(self) -> float:
        return (self._peak - self._before) / (1 << 20)

    @property
    def p99_s(self) -> float:
        return sorted(self.delays)[int(len(self.delays) * 0.99)]

    def _sample(self) -> None:
        while self._open:
            self._peak = max(self._peak, self._process.memory_info().rss)
            time.sleep(0.002)  # the samples' own pace

    async def _tick(self) -> None:
        while self._open:
            began = time.perf_counter()
            await asyncio.sleep(0.002)  # how late it wakes is what is measured
            self.delays.append(time.perf_counter() - began - 0.002)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["text", "structured", "image"] if FULL else ["text"])
async def test_a_huge_answer_costs_little_memory_and_holds_up_nobody(
    servers: Servers, ledger: Ledger, kind: str
) -> None:
    await run(servers, ledger_config(ledger, slug="flood"))
    await run(servers, ledger_config(ledger, slug="calm", parallel=20))
    flooding = True

    async def go_on() -> int:
        calls = 0
        while flooding:
            assert text_of(await servers.call("calm", "echo", '{"text": "on"}')) == "on"
            calls += 1
            await asyncio.sleep(0.05)  # as fast as models write, not as fast as the loop can turn
        return calls

    async with Watch() as watch, asyncio.TaskGroup() as group:
        others = [group.create_task(go_on()) for _ in range(20)]
        with pytest.raises(ToolError, match="longer than can be kept"):
            await servers.call("flood", "big", json.dumps({"megabytes": MEGABYTES, "kind": kind}))
        flooding = False
    note(
        "tool flood", megabytes=MEGABYTES, memory_mb=round(watch.memory_mb, 1), lag_p99_ms=round(watch.p99_s * 1000, 1)
    )
    assert all(other.result() > 0 for other in others)
    assert watch.memory_mb < MOST_MEMORY_MB
    if FULL:  # beside the other tests the machine itself is late
        assert watch.p99_s < MOST_LAG_S
    assert text_of(await servers.call("flood", "echo", '{"text": "still here"}')) == "still here"
