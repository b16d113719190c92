"""The guardian by itself: it kills what it was told of when its pipe closes, and nothing else."""

import os
import subprocess
import sys
import time

from tests.servers.kit import alive
from windlass.servers.guardian import Guardian
from windlass.servers.stdio import group_lives

SLEEPER = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(60)"]


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(SLEEPER, start_new_session=True)


def test_it_kills_the_groups_it_knows_when_the_pipe_closes() -> None:
    guardian = Guardian()
    known, dropped, other = sleeper(), sleeper(), sleeper()
    try:
        guardian.add(known.pid)
        guardian.add(dropped.pid)
        guardian.drop(dropped.pid)
        guardian.close()
        assert known.wait(timeout=5) == -9
        assert dropped.poll() is None and other.poll() is None
    finally:
        for process in (known, dropped, other):
            process.kill()
            process.wait()


def test_it_is_not_started_before_it_is_needed_and_not_twice() -> None:
    guardian = Guardian()
    before = guardian.pid
    guardian.close()
    process = sleeper()
    try:
        guardian.add(process.pid)
        first = guardian.pid
        guardian.add(process.pid)
        assert before is None and first is not None and guardian.pid == first
    finally:
        guardian.close()
        process.wait(timeout=5)
    assert not alive(first)


def test_a_guardian_that_was_killed_is_replaced_with_all_it_knew() -> None:
    guardian = Guardian()
    known, later = sleeper(), sleeper()
    try:
        guardian.add(known.pid)
        assert guardian.pid is not None
        os.kill(guardian.pid, 9)
        deadline = time.monotonic() + 5
        while alive(guardian.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        guardian.add(later.pid)
        guardian.close()
        assert known.wait(timeout=5) == -9 and later.wait(timeout=5) == -9
    finally:
        for process in (known, later):
            process.kill()
            process.wait()


def test_a_group_of_the_dead_does_not_live() -> None:
    process = sleeper()
    assert group_lives(process.pid)
    process.kill()
    deadline = time.monotonic() + 5
    while group_lives(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not group_lives(process.pid)  # a zombie until it is waited for
    process.wait()
