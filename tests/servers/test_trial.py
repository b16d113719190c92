"""The trial of isolation: tried once, by whoever comes first, and again where it could not be told."""

import os
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from windlass.servers.isolation import IsolationTrial, trial
from windlass.servers.isolation.landlock import landlock_version

COUNT = """#!/bin/sh
echo tried >> {log}
exec {bwrap} "$@"
"""


@pytest.fixture
def bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in place of bubblewrap, found first."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    program = tmp_path / "bwrap"
    program.touch()
    program.chmod(0o755)
    return program


def test_b1_bubblewrap_that_is_installed_and_does_not_work_is_not_counted_on(bwrap: Path) -> None:
    bwrap.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    found = trial()
    assert found.level == ("landlock" if landlock_version() else "none")
    assert "bubblewrap does not work here (bwrap: setting up uid map: Permission denied)" in found.why


def test_b1_bubblewrap_that_runs_and_isolates_nothing_is_not_counted_on(bwrap: Path) -> None:
    bwrap.write_text('#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"\n')
    assert trial().level != "bwrap"


@pytest.mark.skipif(trial().level != "bwrap", reason=trial().why)
def test_servers_that_start_at_once_try_it_once(bwrap: Path, tmp_path: Path) -> None:
    real = shutil.which("bwrap", path=os.environ["PATH"].partition(os.pathsep)[2])
    bwrap.write_text(COUNT.format(log=tmp_path / "log", bwrap=real))
    together = threading.Barrier(8)

    def ask() -> IsolationTrial:
        together.wait()
        return trial()

    with ThreadPoolExecutor(8) as threads:
        levels = {outcome.result().level for outcome in [threads.submit(ask) for _ in range(8)]}
    assert levels == {"bwrap"}
    alone = len((tmp_path / "log").read_text().splitlines())
    trial()
    assert alone <= 3 and len((tmp_path / "log").read_text().splitlines()) == alone


@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
def test_what_took_too_long_is_tried_again(bwrap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["windlass.servers.isolation.trial"], "TRIAL_S", 0.5)
    bwrap.write_text("#!/bin/sh\nexec sleep 5\n")
    assert "within" in trial().why
    bwrap.write_text("#!/bin/sh\nexit 1\n")
    assert "code 1" in trial().why
