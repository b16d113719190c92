"""The orphan guard by itself: it kills the groups it was given when its pipe closes, and nothing else."""

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
    orphan_guard = OrphanGuard()
    known, dropped, other = sleeper(), sleeper(), sleeper()
    try:
        orphan_guard.add(known.pid)
        orphan_guard.add(dropped.pid)
        orphan_guard.drop(dropped.pid)
        orphan_guard.close()
        assert known.wait(timeout=PATIENCE_S) == -9
        assert dropped.poll() is None and other.poll() is None
    finally:
        for process in (known, dropped, other):
            process.kill()
            process.wait()


def test_it_is_not_started_before_it_is_needed_and_not_twice() -> None:
    orphan_guard = OrphanGuard()
    before = orphan_guard.pid
    orphan_guard.close()
    process = sleeper()
    try:
        orphan_guard.add(process.pid)
        first = orphan_guard.pid
        orphan_guard.add(process.pid)
        assert before is None and first is not None and orphan_guard.pid == first
    finally:
        orphan_guard.close()
        process.wait(timeout=PATIENCE_S)
    assert not alive(first)


def test_an_orphan_guard_that_was_killed_is_replaced_with_all_it_knew() -> None:
    orphan_guard = OrphanGuard()
    known, later = sleeper(), sleeper()
    try:
        orphan_guard.add(known.pid)
        killed = orphan_guard.pid
        assert killed is not None
        os.kill(killed, 9)
        wait_for(lambda: not alive(killed), "the orphan guard to die")
        orphan_guard.add(later.pid)
        orphan_guard.close()
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
