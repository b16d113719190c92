"""The processes below one process, and what they use, as Linux shows them in /proc."""

import os
from collections.abc import Iterable

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
ProcessId = tuple[int, int]  # a pid and when it started: a number alone may belong to another process by now


def descendants(root: int) -> list[int]:
    """Parents before their children; `root` itself is the first. Only these processes are looked at where the kernel
    lists children, which most do: the cost does not grow with what else runs on the machine."""
    found = [root]
    for pid in found:
        found += _children(pid)
    return found


def identities(pids: Iterable[int]) -> set[ProcessId]:
    return {(pid, started) for pid in pids if (started := _started(pid))}


def any_lives(known: Iterable[ProcessId]) -> bool:
    return any(_started(pid) == started for pid, started in known)


def memory_of(pids: Iterable[int]) -> int:
    """Bytes that are theirs alone."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                _, resident, shared, *_ = file.read().split()
        except (OSError, ValueError):
            continue
        total += (int(resident) - int(shared)) * PAGE
    return total


def _children(pid: int) -> list[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found: list[int] = []
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
        except FileNotFoundError:
            if os.path.exists(f"/proc/{pid}/task/{thread}"):
                return _children_by_parent(pid)
        except OSError:
            continue
    return found


def _children_by_parent(parent: int) -> list[int]:
    """For kernels without a list of children: every process is asked."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _field(int(name), 1) == parent]


def _started(pid: int) -> int:
    """0 for one that has ended, also when nobody has reaped it."""
    return 0 if _state(pid) in ("", "Z", "X") else _field(pid, 19)


def _state(pid: int) -> str:
    fields = _fields(pid)
    return fields[0].decode() if fields else ""


def _field(pid: int, index: int) -> int:
    fields = _fields(pid)
    return int(fields[index]) if len(fields) > index else 0


def _fields(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2].split()
    except OSError:
        return []
