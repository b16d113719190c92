"""What waits for the disk, in a thread of its own: flushing the journal, and chores that nobody waits for."""

import asyncio
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from windlass.core.faults import reach

BUSY_MS = 5000
QUICK_S = 0.001
TRUST_AFTER = 8
_flush = getattr(os, "fdatasync", os.fsync)

Then = Callable[[Any, Exception | None], None]


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
    connection.execute(f"pragma busy_timeout = {BUSY_MS}")
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma secure_delete = on")
    return connection


class Disk:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._journal = -1
        self._quick = 0  # flushes in a row
        self._connection: sqlite3.Connection | None = None
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[tuple[Callable[[], Any], Then] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="windlass-disk", daemon=True)
        self._thread.start()

    def do(self, work: Callable[[], Any], then: Then) -> None:
        """One thing after another, each in the thread; `then` hears on the loop what came of it."""
        self._queue.put((work, then))

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    @property
    def is_quick(self) -> bool:
        """Of late nobody waited longer for it than for a hand-over to the thread and back."""
        return self._quick >= TRUST_AFTER

    def flush(self) -> None:
        """Everything committed before this is on the disk after it."""
        reach("journal_unflushed")
        began = time.perf_counter()
        if self._journal < 0:
            self._journal = os.open(f"{self._path}-wal", os.O_RDWR)
            self._flush_folder()
        _flush(self._journal)
        self._quick = self._quick + 1 if time.perf_counter() - began < QUICK_S else 0

    def checkpoint(self) -> None:
        """Move the journal's rows into the database, as far as nobody reads them there. It keeps nobody waiting."""
        self._own().execute("pragma wal_checkpoint(passive)").fetchall()

    def empty_journal(self) -> None:
        self._own().execute("pragma wal_checkpoint(truncate)").fetchall()

    def chore(self, work: Callable[[sqlite3.Connection], bool]) -> Callable[[], bool]:
        def run() -> bool:
            db = self._own()
            try:
                return work(db)
            except BaseException:  # whatever ends it, the next chore finds no transaction open
                if db.in_transaction:
                    db.execute("rollback")
                raise

        return run

    def _run(self) -> None:
        while item := self._queue.get():
            work, then = item
            result, error = None, None
            try:
                result = work()
            except Exception as caught:  # the thread's root: whoever asked hears of it
                error = caught
            with suppress(RuntimeError):  # the loop may be gone
                self._loop.call_soon_threadsafe(then, result, error)
        if self._connection:
            self._connection.close()
        if self._journal >= 0:
            os.close(self._journal)

    def _own(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self._path)
        return self._connection

    def _flush_folder(self) -> None:
        """A new file lasts only once its folder has it."""
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(self._path.parent, os.O_DIRECTORY)
            os.fsync(folder)
            os.close(folder)
