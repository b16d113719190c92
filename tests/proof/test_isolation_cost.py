"""What isolation adds to the start of a server: the time from the order to start it until its tools are known."""

import sys
import time
from pathlib import Path

import pytest

from tests.kit.isolation_probes import landlock_trial
from tests.kit.waiting import PATIENCE_S
from tests.proof.figures import FULL, note
from tests.servers.kit import program
from tests.servers.small_servers import WRITER
from windlass.servers import Isolation, Servers
from windlass.servers.isolation import trial

STARTS = 20 if FULL else 4
MOST_S = 0.1 if FULL else 1.0  # a small run shares the machine with other tests


@pytest.mark.skipif(trial().level != "bwrap", reason=trial().why)
async def test_b1_an_isolated_start_takes_hardly_longer(tmp_path: Path) -> None:
    """The three take turns, so that a busy moment of the machine hits all of them; the quickest are compared."""
    took: dict[str, list[float]] = {"off": [], "bwrap": [], "landlock": []}
    for level in [*took] * STARTS:
        took[level].append(await start(level, tmp_path))
    outside, *inside = (min(times) for times in took.values())
    for level, quickest in zip(("bwrap", "landlock"), inside, strict=True):
        note("isolated start", level=level, ms=1000 * (quickest - outside), outside_ms=1000 * outside)
        sys.stdout.write(f"{level}: {quickest:.3f} s, outside {outside:.3f} s\n")
    assert max(inside) - outside < MOST_S


async def start(level: str, data: Path) -> float:
    servers = Servers(isolation=Isolation(data, tried=landlock_trial if level == "landlock" else trial))
    config = program([sys.executable, "-S", "-E", "-c", WRITER], sandbox="off" if level == "off" else "default")
    await servers.put(config)
    began = time.monotonic()
    servers.start(config.id)
    assert (await servers.wait_ready(config.id, PATIENCE_S)).state == "running"
    took = time.monotonic() - began
    await servers.aclose()
    return took
