"""Which isolation works here. Tried, not looked up: containers and some distributions forbid what is installed."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from windlass.core.values import value_object
from windlass.servers.isolation.bubblewrap import base_arguments
from windlass.servers.isolation.landlock import landlock_version

IsolationLevel = Literal["bwrap", "landlock", "none"]
LAUNCHER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py")))
TRIAL_S = 10
SCOPE_VERSION = 6
_COUNT = "set -- /proc/[0-9]*; test ! -w /etc && echo $#"
_ONE_TRIAL = threading.Lock()
_FEW = 8  # processes that a fresh namespace shows; ours has more
_NPROC = 8
_MANY_FORKS = "for n in 1 2 3; do /bin/true & done; wait"


@value_object
class IsolationTrial:
    level: IsolationLevel
    why: str  # in words, when it is not bubblewrap
    bwrap: str = ""
    scope: bool = False  # abstract sockets are closed
    counts_processes: bool = False  # a limit on processes counts one server's alone


def trial() -> IsolationTrial:
    """Takes some 50 ms, once per process. Blocks."""
    with _ONE_TRIAL:
        return _trial(os.environ.get("PATH", os.defpath))


def launched(order: Mapping[str, object], argv: Sequence[str]) -> tuple[str, ...]:
    """The command that carries out an order in the server's own process, then runs `argv`."""
    return (*LAUNCHER, json.dumps({**order, "landlock": landlock_version()}), "--", *argv)


@cache
def _trial(path: str) -> IsolationTrial:
    if sys.platform != "linux":
        return IsolationTrial("none", f"there is no isolation for {_SYSTEMS.get(sys.platform, sys.platform)} yet")
    why = "bubblewrap is not installed"
    if bwrap := shutil.which("bwrap", path=path):
        found = _bubblewrap_trial(bwrap)
        if isinstance(found, IsolationTrial):
            return found
        why = f"bubblewrap does not work here ({found})"
    version = landlock_version()
    if version and not (fault := _landlock_fault()):
        return IsolationTrial(
            "landlock", f"{why}: Landlock keeps it from files, not from sockets in them", scope=version >= 6
        )
    return IsolationTrial(
        "none", f"{why}, and {'Landlock fails: ' + fault if version else 'this kernel has no Landlock'}"
    )


_SYSTEMS = {"darwin": "macOS", "win32": "Windows"}


def _bubblewrap_trial(bwrap: str) -> IsolationTrial | str:
    """Why it does not work, if so."""
    base = (bwrap, *base_arguments())
    if landlock_version() >= SCOPE_VERSION and not _fault(launched({"scope": True}, base)):
        return IsolationTrial("bwrap", "", bwrap, True, _counts_processes(base))
    if fault := _fault(base):
        return fault
    why = "abstract sockets of other programs can be reached: closing them needs a kernel with Landlock 6"
    return IsolationTrial("bwrap", why, bwrap, False, _counts_processes(base))


def _counts_processes(base: Sequence[str]) -> bool:
    """Whether a limit counts only the namespace: before Linux 5.14 it counted all processes of the user, and for root
    it counts nothing."""
    prlimit = shutil.which("prlimit")
    if prlimit is None or os.geteuid() == 0:
        return False
    return _run([*base, "--", prlimit, f"--nproc={_NPROC}", "/bin/sh", "-c", _MANY_FORKS]).returncode == 0


def _fault(base: Sequence[str]) -> str:
    """Why it does not isolate; "" when it does."""
    done = _run([*base, "--", "/bin/sh", "-c", _COUNT])
    shown = done.stdout.strip()
    if done.returncode == 0 and shown.isdigit() and int(shown) < _FEW:
        return ""
    return done.stderr.strip().partition("\n")[0][:200] or f"code {done.returncode}, {shown} processes in sight"


def _landlock_fault() -> str:
    done = _run(launched({"scope": landlock_version() >= SCOPE_VERSION}, ["/bin/true"]))
    return "" if done.returncode == 0 else done.stderr.strip().rpartition("\n")[2][:200]


def _run(argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            argv, capture_output=True, text=True, timeout=TRIAL_S, env={"PATH": "/usr/bin:/bin"}, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(argv, 1, "", str(error))
