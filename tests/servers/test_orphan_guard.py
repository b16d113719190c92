"""The guardian by itself: it kills what it was told of when its pipe closes, and nothing else."""

import os
import subprocess
import sys

from tests.kit.waiting import PATIENCE_S, wait_for
from tests.servers.kit import alive
from windlass.servers.orphan_guard import OrphanGuard
from windlass.servers.stdio import group_lives

SLEEPER = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(60)"]


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(SLEEPER, start_new_session=True)


def test_it_kills_the_groups_it_knows_when_the_pipe_closes() -> None:
    guardian = OrphanGuard()
    known, dropped, other = sleeper(), sleeper(), sleeper()
    try:
        guardian.add(known.pid)
        guardian.add(dropped.pid)
        guardian.drop(dropped.pid)
        guardian.close()
        assert known.wait(timeout=PATIENCE_S) == -9
        assert dropped.poll() is None and other.poll() is None
    finally:
        for process in (known, dropped, other):
            process.kill()
            process.wait()


def test_it_is_not_started_before_it_is_needed_and_not_twice() -> None:
    guardian = OrphanGuard()
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
        process.wait(timeout=PATIENCE_S)
    assert not alive(first)


def test_a_guardian_that_was_killed_is_replaced_with_all_it_knew() -> None:
    guardian = OrphanGuard()
    known, later = sleeper(), sleeper()
    try:
        guardian.add(known.pid)
        killed = guardian.pid
        assert killed is not None
        os.kill(killed, 9)
        wait_for(lambda: not alive(killed), "the guardian to die")
        guardian.add(later.pid)
        guardian.close()
        assert known.wait(timeout=PATIENCE_S) == -9 and later.wait(timeout=PATIENCE_S) == -9
    finally:
        for process in (known, later):
            process.kill()
            process.wait()


def test_a_group_of_the_dead_does_not_live() -> None:
    process = sleeper()
    assert group_lives(process.pid)
    process.kill()
    wait_for(lambda: not group_lives(process.pid), "the end of the group")  # a zombie until it is waited for
    process.wait()
