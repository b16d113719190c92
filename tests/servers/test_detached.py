"""Processes that left their server's session and family end with it, at every level: when it is stopped, when it
crashes, and when Windlass is killed."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.isolation_probes import landlock_trial, nothing_trial
from tests.kit.waiting import PATIENCE_S, until
from tests.proof.figures import note
from tests.servers.kit import Census, alive, family, program, run
from tests.servers.small_servers import STUBBORN
from windlass.servers import Isolation, SandboxRules, ServerConfig, Servers
from windlass.servers.isolation import IsolationTrial, trial
from windlass.servers.isolation.landlock import landlock_version

ROOT = Path(__file__).parents[2]
TRIALS: dict[str, Callable[[], IsolationTrial]] = {"landlock": landlock_trial, "none": nothing_trial}
LEAST = 3  # the server and two that left it, besides what stands around it
WITHOUT_BWRAP = pytest.mark.skipif(trial().level != "bwrap", reason=f"the trial of bubblewrap: {trial().why}")
LEVELS = pytest.mark.parametrize(
    "level",
    [
        pytest.param("default", marks=WITHOUT_BWRAP),
        pytest.param("strict", marks=WITHOUT_BWRAP),
        pytest.param("landlock", marks=pytest.mark.skipif(not landlock_version(), reason="no Landlock")),
        "none",
        "off",
    ],
)


def isolation_at(level: str, data: Path) -> Isolation:
    return Isolation(data, tried=TRIALS.get(level, trial))


def stubborn(level: str) -> ServerConfig:
    sandbox = level if level in ("strict", "off") else "default"
    rules = SandboxRules(read=(os.path.realpath(sys.base_prefix),))
    argv = [os.path.realpath(sys.executable), "-S", "-E", "-c", STUBBORN]
    return program(argv, sandbox=sandbox, sandbox_rules=rules)


async def started(servers: Servers, level: str) -> list[int]:
    await run(servers, stubborn(level))
    await until(lambda: len(living(servers)) >= LEAST + servers_own(level), "its processes")
    return living(servers)


def living(servers: Servers) -> list[int]:
    return [pid for pid in family(servers, "server") if alive(pid)]


def servers_own(level: str) -> int:
    """What of ours stands around a server."""
    return 2 if level in ("default", "strict") else 1


@LEVELS
async def test_b2_what_left_a_server_is_gone_after_a_stop(tmp_path: Path, level: str) -> None:
    census = Census()
    servers = Servers(isolation=isolation_at(level, tmp_path))
    processes = await started(servers, level)
    await servers.stop("server")
    left = [pid for pid in processes if alive(pid)]
    note("detached", count=len(processes), left=len(left))
    assert left == []
    await servers.aclose()
    assert await census.newcomers_gone() == []


@LEVELS
async def test_b2_what_left_a_server_is_gone_after_its_crash(tmp_path: Path, level: str) -> None:
    census = Census()
    servers = Servers(isolation=isolation_at(level, tmp_path))
    processes = await started(servers, level)
    os.kill(processes[servers_own(level)], signal.SIGKILL)
    await until(lambda: not any(alive(pid) for pid in processes), "the end of all its processes")
    note("detached", count=len(processes), left=0)
    await servers.aclose()
    assert await census.newcomers_gone() == []


@LEVELS
async def test_b2_what_left_a_server_is_gone_after_windlass_is_killed(tmp_path: Path, level: str) -> None:
    argv = [sys.executable, "-m", "tests.servers.test_detached", level, str(tmp_path)]
    host = await asyncio.create_subprocess_exec(*argv, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    try:
        assert host.stdout is not None
        processes = json.loads(await asyncio.wait_for(host.stdout.readline(), PATIENCE_S))
        assert sum(alive(pid) for pid in processes) >= LEAST
    finally:
        host.kill()
        await host.wait()
    await until(lambda: not any(alive(pid) for pid in processes), "the end of all its processes")
    note("detached", count=len(processes), left=0)


async def _host(level: str, data: Path) -> None:
    servers = Servers(isolation=isolation_at(level, data))
    sys.stdout.write(json.dumps(await started(servers, level)) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_host(sys.argv[1], Path(sys.argv[2])))
