"""What other programs on this machine could read of our process: its memory, a core dump, the environment it was
started with. The command line calls this; a program that embeds Windlass decides for itself and may do the same."""

import ctypes
import os
import sys
from collections.abc import Iterable

if sys.platform != "win32":
    import resource

_SET_DUMPABLE = 4


def harden_process() -> None:
    """No core dumps. On Linux also no debugger, no memory and no /proc/PID/environ for other programs of the same user.
    It does not pass on to programs that are started from here, and root can still read our memory."""
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def forget_environment(names: Iterable[str]) -> None:
    """Take these variables out of `os.environ`, and out of the memory that /proc/PID/environ shows: deleting one only
    unlinks its text, which would stay readable there for as long as the process lives."""
    for name in names:
        if name in os.environ:
            _overwrite(name)
            del os.environ[name]


def _overwrite(name: str) -> None:
    if sys.platform == "win32":
        return
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_void_p
    if address := getenv(os.fsencode(name)):
        ctypes.memset(address, 0, len(ctypes.string_at(address)))
