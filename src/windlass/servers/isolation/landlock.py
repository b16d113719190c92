"""What a server may open where bubblewrap does not work. Landlock only allows: so everything beside what is hidden is
listed, in as few paths as possible. What is made later beside a hidden entry is seen after the next start."""

import ctypes
import os
import sys
from collections.abc import Sequence

from windlass.servers.isolation.hidden_paths import RUN_KEPT, is_under

# Not `shm`, `pts` and `tty`, which hold what is other programs'.
_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
_TERMINALS = ("/dev/ptmx", "/dev/tty")
_CLOSED = ("/tmp", "/var/tmp", "/run", "/dev")  # noqa: S108
MOST_PATHS = 10_000
Rules = dict[str, list[str]]
_CREATE_RULESET, _ASK_VERSION = 444, 1


def landlock_version() -> int:
    """What the kernel answers; 0 where it has no Landlock, or has it switched off."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)))


def allowed(hidden: Sequence[str], read: Sequence[str], write: Sequence[str], protected: Sequence[str]) -> Rules:
    """`read` and `write` are opened although they lie in something that is closed. What is hidden inside them stays
    closed, and what is protected can only be read."""
    kept = [f"/run/{name}" for name in RUN_KEPT]
    opened = [path for folder in read for path in _beside(folder, hidden)]
    written = [path for folder in write for path in _beside(folder, [*hidden, *protected])]
    seen = [path for folder in write for path in _beside(folder, hidden)]
    return {
        "read": [*_beside("/", [*hidden, *_CLOSED]), *kept, *opened, *seen],
        "write": [*written, *_DEVICES, *(_TERMINALS if "/dev/pts" in write else ())],
    }


def _beside(folder: str, closed: Sequence[str]) -> list[str]:
    if folder in closed:
        return []
    inside = [path for path in closed if is_under(path, folder)]
    if not inside:
        return [folder]
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    paths = [os.path.join(folder, name) for name in names]
    return [found for path in paths if not os.path.islink(path) for found in _beside(path, inside)][:MOST_PATHS]
