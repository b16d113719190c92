"""Watches what running servers use: memory, processes, and whether hidden files in folders they may write to are still
covered. One thread looks at all of them once a second and stops what is over its bound. That is after the fact: a limit
of the kernel on memory would kill Node and Chromium, which reserve far more than they use."""

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

from windlass.servers.isolation.process_tree import descendants, memory_of

EVERY_S = 1.0
log = logging.getLogger("windlass.servers")


@dataclass(slots=True)
class Watched:
    """`over` is called once, in the thread, with the reason in words."""

    pid: int
    memory: int  # bytes; 0 for no bound
    processes: int
    covers: dict[str, tuple[int, int]]
    over: Callable[[str], None]

    def fault(self) -> str:
        if lost := next((path for path, inode in self.covers.items() if inode_of(path) != inode), ""):
            return (
                f"It was stopped: {lost} was replaced, which would have opened it to the server. Start it again, or "
                "keep such a file out of the folders it may write to."
            )
        pids = descendants(self.pid)
        if self.processes and len(pids) > self.processes:
            return (
                f"It was stopped: it had {len(pids)} processes, {self.processes} are allowed. "
                "`processes` under `inside` of this server changes that."
            )
        used = memory_of(pids) if self.memory else 0
        if used > self.memory:
            return (
                f"It was stopped: it used {used >> 20} MiB of memory, {self.memory >> 20} are allowed. "
                "`memory_mib` under `inside` of this server changes that."
            )
        return ""


class BoundsWatch:
    """The thread runs while there is a server to watch."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        self._lock = threading.Lock()
        self._watched: dict[int, Watched] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, watched: Watched) -> None:
        with self._lock:
            self._watched[watched.pid] = watched
            if self._thread is None:
                self._stop = threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(self._stop,), name="windlass-bounds", daemon=True
                )
                self._thread.start()

    def drop(self, pid: int) -> None:
        with self._lock:
            self._watched.pop(pid, None)
            if not self._watched and self._thread:
                self._stop.set()
                self._thread = None

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(self._every_s):
            with self._lock:
                every = list(self._watched.values())
            for watched in every:
                try:
                    if fault := watched.fault():
                        self._report(watched, fault)
                except Exception:  # the root of this thread, which must go on for the other servers
                    log.exception("The bounds of a server could not be looked at")

    def _report(self, watched: Watched, fault: str) -> None:
        with self._lock:
            known = self._watched.pop(watched.pid, None) is watched
        if known:
            watched.over(fault)


def inode_of(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino
