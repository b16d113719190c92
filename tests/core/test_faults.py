"""Fault points act at the time they were set for, and not otherwise."""

import os
import signal
import subprocess
import sys
import time

import pytest

from windlass.core import faults


def arm(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(faults, "_ARMED", fault)
    monkeypatch.setattr(faults._Count, "reached", 0)


def test_unarmed_points_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for fault in ("", "elsewhere:1:raise", "there:9:raise", "therein:1:raise"):
        arm(monkeypatch, fault)
        faults._reach("there")
        assert faults._Count.reached == (fault == "there:9:raise")


def test_a_point_acts_the_nth_time_it_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    arm(monkeypatch, "there:2:raise")
    faults._reach("there")
    with pytest.raises(RuntimeError, match="fault at there"):
        faults._reach("there")
    faults._reach("there")


def test_kill_and_sleep_act_on_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    did: list[tuple[object, ...]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: did.append((pid, number)))
    monkeypatch.setattr(time, "sleep", lambda seconds: did.append((seconds,)))
    for action in ("kill", "sleep"):
        arm(monkeypatch, f"there:1:{action}")
        faults._reach("there")
    assert did == [(os.getpid(), signal.SIGKILL), (faults._HOLD_S,)]


def test_the_environment_arms_a_point() -> None:
    program = "from windlass.core.faults import reach; reach('there'); print('passed')"
    env = {"WINDLASS_FAULT": "there:1:kill", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", -9)
