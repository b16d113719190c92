"""Which isolation works here. Tried, not looked up: containers and some distributions forbid what is installed."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from windlass.core.values import value_object
from windlass.servers.isolation.bubblewrap import CLOSE_RUN, base_arguments
from windlass.servers.isolation.landlock import landlock_version

IsolationLevel = Literal["bwrap", "landlock", "none"]
LAUNCHER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py")))
TRIAL_S = 10
SCOPE_VERSION = 6
_COUNT = "set -- /proc/[0-9]*; test ! -w /etc && echo $#"
TOO_SLOW = f"no answer within {TRIAL_S} s"
_ONE_TRIAL = threading.Lock()
_known: dict[str, "IsolationTrial"] = {}  # by PATH
_FEW = 8  # processes that a fresh namespace shows; ours has more
_NPROC = 8
_MANY_FORKS = "for n in 1 2 3; do /bin/true & done; wait"


@value_object
class IsolationTrial:
    level: IsolationLevel
    why: str  # in words, when it is not bubblewrap
    bwrap: str = ""
    scope: bool = False  # abstract sockets are closed
    filters: bool = False  # keyrings are closed, and with Landlock sockets in the file system too
    counts_processes: bool = False  # a limit on processes counts one server's alone

    def wrapped(self, argv: Sequence[str]) -> tuple[str, ...]:
        """With what bubblewrap does not do itself."""
        return _with(self.scope, self.filters, argv)


def trial() -> IsolationTrial:
    """Takes some 100 ms, once per process. Blocks; callers at the same time wait for the first one's. What a machine
    under load could not answer in time is tried again at the next call."""
    with _ONE_TRIAL:
        path = os.environ.get("PATH", os.defpath)
        if path not in _known:
            found = _trial(path)
            if TOO_SLOW in found.why:
                return found
            _known[path] = found
        return _known[path]


def launched(order: Mapping[str, object], argv: Sequence[str]) -> tuple[str, ...]:
    """The command that carries out an order in the server's own process, then runs `argv`."""
    return (*LAUNCHER, json.dumps({**order, "landlock": landlock_version()}), "--", *argv)


def _trial(path: str) -> IsolationTrial:
    if sys.platform != "linux":
        return IsolationTrial("none", f"there is no isolation for {_SYSTEMS.get(sys.platform, sys.platform)} yet")
    why = "bubblewrap is not installed"
    if bwrap := shutil.which("bwrap", path=path):
        found = _bubblewrap_trial(bwrap)
        if isinstance(found, IsolationTrial):
            return found
        why = f"bubblewrap does not work here ({found})"
    return _landlock_trial(why)


_SYSTEMS = {"darwin": "macOS", "win32": "Windows"}


def _bubblewrap_trial(bwrap: str) -> IsolationTrial | str:
    """Why it does not work, if so."""
    base = (bwrap, *base_arguments(), *CLOSE_RUN)
    has_scope = landlock_version() >= SCOPE_VERSION
    fault = ""
    for scope, filters in ((True, True), (False, True), (False, False)):
        if scope and not has_scope:
            continue
        if not (fault := _fault(_with(scope, filters, base))):
            why = "" if scope else "abstract sockets of other programs can be reached: closing them needs Linux 6.12"
            return IsolationTrial("bwrap", why, bwrap, scope, filters, _counts_processes(base))
    return fault


def _with(scope: bool, filters: bool, argv: Sequence[str]) -> tuple[str, ...]:
    order = {**({"scope": True} if scope else {}), **({"filter": "keyrings"} if filters else {})}
    return launched(order, argv) if order else tuple(argv)


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


def _landlock_trial(why: str) -> IsolationTrial:
    version = landlock_version()
    if not version:
        return IsolationTrial("none", f"{why}, and this kernel has no Landlock")
    scope = version >= SCOPE_VERSION
    if not _landlock_fault({"scope": scope, "filter": "sockets"}):
        return IsolationTrial("landlock", f"{why}: {_weaker(scope)}", scope=scope, filters=True)
    if fault := _landlock_fault({"scope": scope}):
        return IsolationTrial("none", f"{why}, and Landlock fails: {fault}")
    sockets = "sockets in the file system, such as D-Bus and Docker, can be reached, and so everything can"
    return IsolationTrial("landlock", f"{why}: {_weaker(scope)}; {sockets}", scope=scope)


def _weaker(scope: bool) -> str:
    found = "Landlock is used, which leaves other processes in sight"
    return found if scope else f"{found}, and lets it end them (closing that needs Linux 6.12)"


def _landlock_fault(order: Mapping[str, object]) -> str:
    done = _run(launched(order, ["/bin/true"]))
    return "" if done.returncode == 0 else done.stderr.strip().rpartition("\n")[2][:200] or f"code {done.returncode}"


def _run(argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            argv, capture_output=True, text=True, timeout=TRIAL_S, env={"PATH": "/usr/bin:/bin"}, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, 1, "", TOO_SLOW)
    except OSError as error:
        return subprocess.CompletedProcess(argv, 1, "", str(error))
