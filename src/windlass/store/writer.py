"""The one way to write. Every job is committed on the loop, in the order in which it is asked for: a commit is a few
writes to the journal and waits for no disk. A promise is acknowledged only after the journal was flushed, mostly by a
thread; one flush serves all that was committed before it began. The states and the way of a job are drawn in
docs/how-the-store-writes.md; each invariant stands below where it is kept."""

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
from enum import Enum, auto
from pathlib import Path
from typing import Any, TypeVar, overload

from windlass.core.faults import reach
from windlass.store.files import unavailable

T = TypeVar("T")
U = TypeVar("U")
QUIET_S = 0.05
ROWS_TO_CHECKPOINT = 2000
BUSY_S = 5.0  # how long another program may hold the file
BUSY_RETRY_S = 0.01
QUICK_S = 0.001
TRUST_AFTER = 8
_flush = getattr(os, "fdatasync", os.fsync)

Then = Callable[[Any, Exception | None], None]


class WriterState(Enum):
    """Who may write to the file now."""

    READY = auto()  # the loop: jobs are committed as they come
    CHORE = auto()  # the disk's thread, which is at a chore: jobs wait until it is done
    CLOSING = auto()  # the loop: jobs that come are still committed, but no chore is begun
    LAST_CHORE = auto()  # the disk's thread, while `close` waits for it
    ABANDONED = auto()  # nobody: as after a crash


# Looking a member up in its class is a call of its own before Python 3.12, and every commit asks for the state.
READY, CHORE, CLOSING, LAST_CHORE, ABANDONED = WriterState
_CLOSED_FROM = {READY: CLOSING, CHORE: LAST_CHORE}
_AFTER_CHORE = {CHORE: READY, LAST_CHORE: CLOSING}


@dataclass(slots=True)
class _Job:
    work: Callable[[sqlite3.Connection], Any]
    durable: bool  # a promise: acknowledged only once it is on the disk
    future: "asyncio.Future[Any]"
    then: Callable[[Any], Any] | None
    result: Any = None
    committed: bool = False
    error: BaseException | None = None
    busy_since: float = 0.0


class Writer:
    """`idle` does one chore, False when none is left; `lost` is called when a commit failed; `alone` says that at most
    one turn is under way. Chores write too, in the disk's thread and on its own connection. Jobs that come meanwhile
    wait for the chore at hand: the file takes one writer at a time, and the loop must not wait for the thread's."""

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
        self._state = READY
        self._waiting: deque[_Job] = (
            deque()
        )  # asked for, in order; a job leaves when it is acknowledged or awaits a flush
        self._awaiting_flush: deque[_Job] = deque()  # committed, in order; the first asked for a promise
        self._flushing = False  # at most one flush at a time is under way for those that await one
        self._emptied: asyncio.Future[None] | None = None
        self._wrote_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._checkpointed = 0
        connection.execute("pragma synchronous = normal")  # flushing is done here, when a promise asks for it
        connection.execute("pragma busy_timeout = 0")  # how long a job waits for the file is decided here
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
        """Commit a job now, or at the end of the loop's round with others, or as soon as the file is free. When it is
        acknowledged, `then` runs before any waiter wakes, and gives the future its result.

        The job is queued when this returns. A waiter that is cancelled gives up its answer and nothing else: the job is
        committed and `then` runs all the same."""
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append(_Job(work, durable and self._barriers, future, then))
        if len(self._waiting) == 1:
            if self._alone():
                self._commit_waiting()
            else:
                self._loop.call_soon(self._commit_waiting)
        return future

    async def close(self) -> None:
        """Acknowledge all that was asked for, then close. Chores that are left are done after the next start."""
        self._state = _CLOSED_FROM.get(self._state, self._state)
        while self._waiting or self._awaiting_flush or self._state is LAST_CHORE:
            self._emptied = self._loop.create_future()
            await self._emptied
        self._cancel_timer()
        await asyncio.to_thread(self._disk.close)
        self._connection.close()

    def abandon(self) -> None:
        """Leave everything as a crash would: what waits is lost, what is committed stays."""
        self._state = ABANDONED
        self._cancel_timer()
        self._disk.close()

    def _commit_waiting(self) -> None:
        """Jobs are committed in the order in which they were asked for: what is put while a job runs, or is
        acknowledged, finds that job still waiting and comes after it."""
        while self._waiting and (self._state is READY or self._state is CLOSING):
            if not self._commit([*self._waiting]):
                self._loop.call_later(BUSY_RETRY_S, self._commit_waiting)
                return
        self._wake_close()

    def _commit(self, jobs: list[_Job]) -> bool:
        """In one transaction: all of them land, or none of those without an error of its own. False when another
        program holds the file, and they have to wait."""
        try:
            if not self._begin(jobs[0]):
                return False
            if len(jobs) == 1:
                jobs[0].result = jobs[0].work(self._connection)
            else:
                self._share_transaction(jobs)
            self._connection.execute("commit")
        except Exception as error:  # a job's own refusal as well, handed to its waiter
            self._undo(jobs, error)
        for job in jobs:
            job.committed = job.error is None
        for job in jobs:
            self._acknowledge_in_order(job)
            self._waiting.popleft()
        if self._awaiting_flush and not self._flushing:
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

    def _share_transaction(self, jobs: list[_Job]) -> None:
        """For speed where many turns are under way: one commit instead of one for each job. It leaves the same rows and
        errors: what a job wrote before it was refused is taken back to its savepoint, and only that."""
        db = self._connection
        for job in jobs:
            db.execute("savepoint job")
            try:
                job.result = job.work(db)
            except Exception as error:  # its own refusal, handed to its waiter
                if not db.in_transaction:
                    raise  # a full disk, say, has ended it for the others too
                db.execute("rollback to job")
                job.error = self._error_for_waiter(error)
            db.execute("release job")

    def _undo(self, jobs: list[_Job], error: Exception) -> None:
        if self._connection.in_transaction:
            self._connection.execute("rollback")
        shared = self._error_for_waiter(error)
        for job in jobs:
            job.error = job.error or shared

    def _error_for_waiter(self, error: Exception) -> Exception:
        """After an error of SQLite's own, what others remember of the rows may be ahead of the disk: `lost` lets them
        forget it before the next job runs."""
        if not isinstance(error, sqlite3.Error) or isinstance(error, sqlite3.IntegrityError):
            return error
        self._lost()
        return unavailable(error)

    def _acknowledge_in_order(self, job: _Job) -> None:
        """Jobs are acknowledged in the order in which they were committed. Behind a promise that awaits its flush every
        job waits: a reader of a later row would act on a promise that does not hold yet."""
        promised = job.durable and job.committed
        if not self._awaiting_flush and (not promised or self._flush_inline(job)):
            self._acknowledge(job)
        else:
            self._awaiting_flush.append(job)

    def _flush_inline(self, job: _Job) -> bool:
        """For speed where nobody else needs the loop and the disk has been quick: the way to the thread and back would
        take longer than the flush. The same is on the disk when the job is acknowledged, and a failure breaks the same
        promise. False, with nothing done, when the flush belongs in the thread."""
        if not (self._disk.is_quick and self._alone()):
            return False
        try:
            self._disk.flush()
        except OSError as error:
            job.error = unavailable(error)
        return True

    def _flush(self) -> None:
        """A flush covers what was committed before it began, so it counts the jobs then. Those that come meanwhile are
        behind by one flush: the next one is theirs."""
        count = len(self._awaiting_flush)
        self._flushing = True
        self._disk.do(self._disk.flush, lambda _, error: self._flushed(count, error))

    def _flushed(self, count: int, error: Exception | None) -> None:
        """A failed flush undoes no commit: the rows may survive or not, so watchers see them, and only the waiters of
        promises get the error. The next promise flushes again.

        `_flushing` holds until the last of them is acknowledged: a flush begun by what an acknowledgement puts would
        count jobs that are acknowledged here, and then others in their stead that are not on the disk."""
        for _ in range(count):
            job = self._awaiting_flush.popleft()
            if error and job.durable:
                job.error = job.error or unavailable(error)
            self._acknowledge(job)
        while self._awaiting_flush and not self._awaiting_flush[0].durable:
            self._acknowledge(self._awaiting_flush.popleft())
        self._flushing = False
        if self._awaiting_flush:
            self._flush()
        self._wake_close()

    def _acknowledge(self, job: _Job) -> None:
        """This is when a promise is made: `then` lets others see the rows, and the waiter gets its result."""
        if job.committed and job.then:
            try:
                job.result = job.then(job.result)
            except Exception as error:  # what was committed stays; only this job's own waiter gets the error
                job.error = error
        if not job.future.done():
            if job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)
                job.future.exception()  # a driver that was cancelled no longer waits, and that is no defect
        self._wrote_at = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(QUIET_S, self._check_quiet)

    def _check_quiet(self) -> None:
        left = self._wrote_at + QUIET_S - self._loop.time()
        written = self._connection.total_changes - self._checkpointed
        if left > 0 and written < 2 * ROWS_TO_CHECKPOINT:
            self._timer = self._loop.call_later(left, self._check_quiet)
            return
        self._timer = None
        if written > ROWS_TO_CHECKPOINT:
            self._checkpointed += written
            self._disk.do(self._disk.checkpoint, lambda _, error: None)
        self._do_chore()

    def _do_chore(self) -> None:
        if self._state is READY:
            self._state = CHORE
            self._disk.do(self._disk.chore(self._idle), self._chore_done)

    def _chore_done(self, more: bool | None, error: Exception | None) -> None:
        """A chore that failed can wait for the next quiet moment: mostly the disk is full, and the next job gets the
        error too. Jobs that waited go first: a chore follows at once only if there were none."""
        self._state = _AFTER_CHORE.get(self._state, self._state)
        quiet = not self._waiting
        self._commit_waiting()
        if more and quiet and self._state is READY:
            self._do_chore()
        elif more and self._timer is None:
            self._timer = self._loop.call_later(QUIET_S, self._check_quiet)

    def _wake_close(self) -> None:
        if self._emptied and not self._emptied.done():
            self._emptied.set_result(None)

    def _cancel_timer(self) -> None:
        if self._timer:
            self._timer.cancel()


class Disk:
    """Whatever has to wait for the disk, in a thread of its own: flushes of the journal, checkpoints and chores."""

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
        """One after another, each in the thread; `then` is called on the loop with the result or the error."""
        self._queue.put((work, then))

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    @property
    def is_quick(self) -> bool:
        """The last flushes took no longer than a hand-over to the thread and back."""
        return self._quick >= TRUST_AFTER

    def flush(self) -> None:
        """Everything that was committed before this call is on the disk after it."""
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
            except Exception as caught:  # the thread's root: `then` gets it
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
    connection.execute(f"pragma busy_timeout = {BUSY_S * 1000:.0f}")
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma secure_delete = on")
    return connection
