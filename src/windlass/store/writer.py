"""The one way to write. What needs no barrier is committed where it is asked for, unless others wait already; the rest
is queued in order for a thread and committed in groups, and a group that holds a promise waits for the disk. A full
commit makes all earlier ones durable too, so only promises need it."""

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from windlass.core.errors import Unavailable

T = TypeVar("T")
U = TypeVar("U")
MOST_IN_A_GROUP = 256
QUIET_S = 0.05
ROWS_TO_CHECKPOINT = 2000
BUSY_S = 5.0  # how long another program may hold the file
LOOK_AGAIN_S = 0.01


@dataclass(slots=True)
class _Job:
    work: Callable[[sqlite3.Connection], Any]
    durable: bool
    future: "asyncio.Future[Any]"
    then: Callable[[Any], Any] | None
    result: Any = None
    error: BaseException | None = None


class _Chores:
    """Queued when it has been quiet for a while."""


class Writer:
    """`idle` does one chore on the connection, False when none is left; `lost` hears that a commit failed. Whoever
    holds the lock has the connection: the loop for a moment, or the thread, which may wait for the disk with it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        barriers: bool,
        idle: Callable[[sqlite3.Connection], bool],
        lost: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._barriers = barriers
        self._idle = idle
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Job | _Chores | None] = queue.SimpleQueue()
        self._queue.put(_Chores())
        self._lock = threading.Lock()
        self._waiting = 0  # loop only: queued, and their waiters not told yet
        self._wrote_at = 0.0  # loop only
        self._timer: asyncio.TimerHandle | None = None
        self._full = True
        self._closing = False
        self._abandoned = False
        self._checkpointed = 0
        connection.execute("pragma synchronous = full")
        connection.execute("pragma busy_timeout = 0")  # who waits, and how long, is decided here
        connection.execute("pragma wal_autocheckpoint = 0")  # it would wait for the disk in the middle of a commit
        self._thread = threading.Thread(target=self._run, name="windlass-writer", daemon=True)
        self._thread.start()

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
        """Commit a job now, or queue it now; the future only waits for it. Once committed, `then` runs on the loop
        before any waiter wakes, and gives the future its result."""
        future: asyncio.Future[Any] = self._loop.create_future()
        future.add_done_callback(_heard)
        job = _Job(work, durable, future, then)
        must_wait = self._waiting or self._abandoned or (durable and self._barriers)
        if must_wait or not self._commit_at_once(job):
            self._waiting += 1
            self._queue.put(job)
        else:
            self._deliver([job])
        return future

    async def close(self) -> None:
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        if self._timer:
            self._timer.cancel()
        self._connection.close()

    def abandon(self) -> None:
        """Leave everything as a crash would: queued jobs are lost, a commit under way lands and nobody is told."""
        self._abandoned = True
        self._queue.put(None)
        self._thread.join()

    def _commit_at_once(self, job: _Job) -> bool:
        """False when the loop would have to wait: for our own thread, or for a program that holds the file."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            return self._commit([job], patience_s=0)
        finally:
            self._lock.release()

    def _run(self) -> None:
        while not self._closing:
            group = self._take()
            if group and not self._abandoned:
                with self._lock:
                    self._commit(group, BUSY_S)
            if group and not self._abandoned:
                self._loop.call_soon_threadsafe(self._deliver_queued, group)

    def _take(self) -> list[_Job]:
        """The next group of jobs. In quiet moments small chores are done instead."""
        group: list[_Job] = []
        item = self._queue.get()
        while isinstance(item, _Chores):
            while self._queue.empty() and self._chore():
                pass
            item = self._queue.get()
        while isinstance(item, _Job):
            group.append(item)
            if self._queue.empty() or len(group) == MOST_IN_A_GROUP:
                return group
            item = self._queue.get()
        self._closing = item is None
        return group

    def _chore(self) -> bool:
        with self._lock:
            try:
                if self._connection.total_changes - self._checkpointed > ROWS_TO_CHECKPOINT:
                    self._checkpointed = self._connection.total_changes
                    self._connection.execute("pragma wal_checkpoint(passive)").fetchall()
                return self._idle(self._connection)
            except sqlite3.Error:  # a full disk, mostly; whoever writes next is told, and chores can wait
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                return False

    def _commit(self, group: list[_Job], patience_s: float) -> bool:
        """Whether it is over, well or not; False only without patience, when another program holds the file."""
        try:
            self._sync(self._barriers and any(job.durable for job in group))
            if not self._begin(patience_s):
                return False
            if len(group) == 1:
                self._do_alone(group[0])
                return True
            for job in group:
                self._do(job)
            self._connection.execute("commit")
        except sqlite3.Error as error:
            self._undo(group, error)
        return True

    def _begin(self, patience_s: float) -> bool:
        end = time.monotonic() + patience_s
        while True:
            try:
                self._connection.execute("begin immediate")
                return True
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or (patience_s and time.monotonic() >= end):
                    raise
            if not patience_s:
                return False
            time.sleep(LOOK_AGAIN_S)

    def _sync(self, full: bool) -> None:
        if full is not self._full:
            self._connection.execute(f"pragma synchronous = {'full' if full else 'normal'}")
            self._full = full

    def _do_alone(self, job: _Job) -> None:
        try:
            job.result = job.work(self._connection)
        except sqlite3.OperationalError:
            raise
        except Exception as error:  # a job's own refusal, told to whoever queued it
            self._connection.execute("rollback")
            job.error = error
        else:
            self._connection.execute("commit")

    def _do(self, job: _Job) -> None:
        self._connection.execute("savepoint job")
        try:
            job.result = job.work(self._connection)
        except sqlite3.OperationalError:
            raise
        except Exception as error:  # a job's own refusal, told to whoever queued it; the rest of the group goes on
            self._connection.execute("rollback to job")
            job.error = error
        self._connection.execute("release job")

    def _undo(self, group: list[_Job], error: sqlite3.Error) -> None:
        if self._connection.in_transaction:
            self._connection.execute("rollback")
        self._lost()
        for job in group:
            job.error = Unavailable(f"Nothing could be written: {error}.", hint=_hint(error), code="store_unavailable")

    def _deliver_queued(self, group: list[_Job]) -> None:
        self._waiting -= len(group)
        self._deliver(group)

    def _deliver(self, group: list[_Job]) -> None:
        for job in group:
            if job.error is None and job.then:
                try:
                    job.result = job.then(job.result)
                except Exception as error:  # what was committed stays; only this job's own waiter may hear of it
                    job.error = error
        for job in group:
            if job.future.done():
                continue
            if job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)
        self._wrote_at = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(QUIET_S, self._look_for_quiet)

    def _look_for_quiet(self) -> None:
        left = self._wrote_at + QUIET_S - self._loop.time()
        overdue = self._connection.total_changes - self._checkpointed > 2 * ROWS_TO_CHECKPOINT
        if left > 0 and not overdue:
            self._timer = self._loop.call_later(left, self._look_for_quiet)
            return
        self._timer = None
        self._queue.put(_Chores())


def _heard(future: "asyncio.Future[Any]") -> None:
    """A driver that was cancelled no longer waits; its job's error is not an unhandled one."""
    if not future.cancelled():
        future.exception()


def _hint(error: sqlite3.Error) -> str:
    text = str(error)
    if "full" in text:
        return "The disk is full. Free some space; turns go on by themselves after that."
    if "locked" in text:
        return "Another program holds the database. Close it and try again."
    return "Look at the data folder: is it writable?"
