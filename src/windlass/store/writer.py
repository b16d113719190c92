"""The one way to write. Every job is committed on the loop, in the order in which it is asked for: a commit is a few
writes to the journal and waits for no disk. Where many turns are under way, the jobs of one round of the loop share a
commit. A promise is told only after the journal was flushed, mostly by a thread, and nothing committed after it is told
before it; one flush serves all that were committed before it began."""

import asyncio
import os
import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

from windlass.core.errors import Unavailable
from windlass.core.faults import reach

T = TypeVar("T")
U = TypeVar("U")
QUIET_S = 0.05
ROWS_TO_CHECKPOINT = 2000
BUSY_S = 5.0  # how long another program may hold the file
LOOK_AGAIN_S = 0.01
BUSY_MS = 5000  # the same for the other connections
QUICK_S = 0.001
TRUST_AFTER = 8
_flush = getattr(os, "fdatasync", os.fsync)

Then = Callable[[Any, Exception | None], None]


@dataclass(slots=True)
class _Job:
    work: Callable[[sqlite3.Connection], Any]
    durable: bool
    future: "asyncio.Future[Any]"
    then: Callable[[Any], Any] | None
    result: Any = None
    landed: bool = False
    error: BaseException | None = None
    busy_since: float = 0.0


class Writer:
    """`idle` does one chore, False when none is left; `lost` hears that a commit failed; `alone` says that at most one
    turn is under way. Chores write as well, in the disk's thread and on its own connection, so whatever comes meanwhile
    waits for the chore at hand."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        disk: "Disk",
        barriers: bool,
        idle: Callable[[sqlite3.Connection], bool],
        lost: Callable[[], None],
        alone: Callable[[], bool],
    ) -> None:
        self._connection = connection
        self._disk = disk
        self._barriers = barriers
        self._idle = idle
        self._lost = lost
        self._alone = alone
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Job] = deque()  # not committed yet
        self._untold: deque[_Job] = deque()  # committed, behind a promise that waits for the disk
        self._flushing = self._at_chores = self._abandoned = self._closing = False
        self._emptied: asyncio.Future[None] | None = None
        self._wrote_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._checkpointed = 0
        connection.execute("pragma synchronous = normal")  # flushing is done here, when a promise asks for it
        connection.execute("pragma busy_timeout = 0")  # who waits, and how long, is decided here
        connection.execute("pragma wal_autocheckpoint = 0")  # it would wait for the disk in the middle of a commit
        self._do_chore()

    @overload
    def put(self, work: Callable[[sqlite3.Connection], T], *, durable: bool = ...) -> "asyncio.Future[T]": ...

    @overload
    def put(
        self, work: Callable[[sqlite3.Connection], T], *, durable: bool = ..., then: Callable[[T], U]
    ) -> "asyncio.Future[U]": ...

    def put(
        self,
        work: Callable[[sqlite3.Connection], Any],
        *,
        durable: bool = False,
        then: Callable[[Any], Any] | None = None,
    ) -> "asyncio.Future[Any]":
        """Commit a job now, among others at the end of the loop's round, or as soon as the file is free. When it may be
        told, `then` runs before any waiter wakes, and gives the future its result."""
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append(_Job(work, durable and self._barriers, future, then))
        if len(self._waiting) == 1:
            if self._alone():
                self._commit_waiting()
            else:
                self._loop.call_soon(self._commit_waiting)
        return future

    async def close(self) -> None:
        """Chores that are left are done after the next start."""
        self._closing = True
        while self._waiting or self._untold or self._at_chores:
            self._emptied = self._loop.create_future()
            await self._emptied
        self._silence()
        await asyncio.to_thread(self._disk.close)
        self._connection.close()

    def abandon(self) -> None:
        """Leave everything as a crash would: what waits is lost, what is committed stays and nobody is told."""
        self._abandoned = True
        self._silence()
        self._disk.close()

    def _commit_waiting(self) -> None:
        while self._waiting and not (self._at_chores or self._abandoned):
            if not self._commit([*self._waiting]):
                self._loop.call_later(LOOK_AGAIN_S, self._commit_waiting)
                return
        self._look_if_empty()

    def _commit(self, jobs: list[_Job]) -> bool:
        """In one transaction. Whether they are over, well or not; False when another program holds the file."""
        try:
            if not self._begin(jobs[0]):
                return False
            if len(jobs) == 1:
                jobs[0].result = jobs[0].work(self._connection)
            else:
                for job in jobs:
                    self._do_among_others(job)
            self._connection.execute("commit")
        except Exception as error:  # a job's own refusal as well, told to whoever asked for it
            self._undo(jobs, error)
        for job in jobs:
            self._waiting.popleft()
            job.landed = job.error is None
        for job in jobs:
            self._tell_in_order(job)
        if self._untold and not self._flushing:
            self._flush()
        return True

    def _begin(self, job: _Job) -> bool:
        try:
            self._connection.execute("begin immediate")
        except sqlite3.OperationalError as error:
            job.busy_since = job.busy_since or self._loop.time()
            if "locked" not in str(error) or self._loop.time() - job.busy_since > BUSY_S:
                raise
            return False
        return True

    def _do_among_others(self, job: _Job) -> None:
        """What a job wrote before it was refused is taken back, and only that."""
        self._connection.execute("savepoint job")
        try:
            job.result = job.work(self._connection)
        except Exception as error:  # its own refusal, told to whoever asked for it
            if not self._connection.in_transaction:
                raise  # a full disk, say, has ended it for the others too
            self._connection.execute("rollback to job")
            job.error = self._as_told(error)
        self._connection.execute("release job")

    def _undo(self, jobs: list[_Job], error: Exception) -> None:
        if self._connection.in_transaction:
            self._connection.execute("rollback")
        told = self._as_told(error)
        for job in jobs:
            job.error = job.error or told

    def _as_told(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.Error) or isinstance(error, sqlite3.IntegrityError):
            return error
        self._lost()
        return _unavailable(error)

    def _tell_in_order(self, job: _Job) -> None:
        waits = job.durable and job.landed
        if not self._untold and (not waits or self._flushed_here(job)):
            self._tell(job)
        else:
            self._untold.append(job)

    def _flushed_here(self, job: _Job) -> bool:
        """Where nobody else waits for the loop, a quick disk is waited for here: the way to the thread and back would
        take longer than the disk does."""
        if not (self._disk.is_quick and self._alone()):
            return False
        try:
            self._disk.flush()
        except OSError as error:
            job.error = _unavailable(error)
        return True

    def _flush(self) -> None:
        count = len(self._untold)
        self._flushing = True
        self._disk.do(self._disk.flush, lambda _, error: self._flushed(count, error))

    def _flushed(self, count: int, error: Exception | None) -> None:
        """What could not be flushed is committed all the same, and may survive or not: those who watch are told, and
        whoever asked for a promise hears that there is none."""
        self._flushing = False
        for _ in range(count):
            job = self._untold.popleft()
            if error and job.durable:
                job.error = job.error or _unavailable(error)
            self._tell(job)
        while self._untold and not self._untold[0].durable:
            self._tell(self._untold.popleft())
        if self._untold:
            self._flush()
        self._look_if_empty()

    def _tell(self, job: _Job) -> None:
        if job.landed and job.then:
            try:
                job.result = job.then(job.result)
            except Exception as error:  # what was committed stays; only this job's own waiter may hear of it
                job.error = error
        if not job.future.done():
            if job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)
                job.future.exception()  # a driver that was cancelled no longer waits, and that is no defect
        self._wrote_at = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(QUIET_S, self._look_for_quiet)

    def _look_for_quiet(self) -> None:
        left = self._wrote_at + QUIET_S - self._loop.time()
        written = self._connection.total_changes - self._checkpointed
        if left > 0 and written < 2 * ROWS_TO_CHECKPOINT:
            self._timer = self._loop.call_later(left, self._look_for_quiet)
            return
        self._timer = None
        if written > ROWS_TO_CHECKPOINT:
            self._checkpointed += written
            self._disk.do(self._disk.checkpoint, lambda _, error: None)
        self._do_chore()

    def _do_chore(self) -> None:
        if not (self._at_chores or self._abandoned):
            self._at_chores = True
            self._disk.do(self._disk.chore(self._idle), self._chore_done)

    def _chore_done(self, more: bool | None, error: Exception | None) -> None:
        """One that failed can wait for the next quiet moment: a full disk, mostly, and whoever writes next is told."""
        self._at_chores = False
        quiet = not (self._waiting or self._closing)
        self._commit_waiting()
        if more and quiet:
            self._do_chore()
        elif more and self._timer is None:
            self._timer = self._loop.call_later(QUIET_S, self._look_for_quiet)

    def _look_if_empty(self) -> None:
        if self._emptied and not self._emptied.done():
            self._emptied.set_result(None)

    def _silence(self) -> None:
        if self._timer:
            self._timer.cancel()


def _unavailable(error: Exception) -> Unavailable:
    return Unavailable(f"Nothing could be written: {error}.", hint=_hint(error), code="store_unavailable")


def _hint(error: Exception) -> str:
    text = str(error)
    if "full" in text or "No space" in text:
        return "The disk is full. Free some space; turns go on by themselves after that."
    if "locked" in text:
        return "Another program holds the database. Close it and try again."
    return "Look at the data folder: is it writable?"


class Disk:
    """What waits for the disk, in a thread of its own: flushing the journal, and chores that nobody waits for."""

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


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
    connection.execute(f"pragma busy_timeout = {BUSY_MS}")
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma secure_delete = on")
    return connection
