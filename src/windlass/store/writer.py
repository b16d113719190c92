"""The one thread that writes. Jobs are queued in order and committed in groups; a group that holds a promise waits for
the disk. A full commit makes all earlier ones durable too, so only promises need it."""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from windlass.core.errors import Unavailable

T = TypeVar("T")
U = TypeVar("U")
MOST_IN_A_GROUP = 256
QUIET_S = 0.05


@dataclass(slots=True)
class _Job:
    work: Callable[[sqlite3.Connection], Any]
    durable: bool
    future: "asyncio.Future[Any]"
    then: Callable[[Any], Any] | None
    result: Any = None
    error: BaseException | None = None


class Writer:
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
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._full = True
        self._closing = False
        self._abandoned = False
        self._restless = True
        connection.execute("pragma synchronous = full")
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
        """Queue a job now; the future only waits for it. Once committed, `then` runs on the loop before any waiter
        wakes, and gives the future its result."""
        future: asyncio.Future[Any] = self._loop.create_future()
        future.add_done_callback(_heard)
        self._queue.put(_Job(work, durable, future, then))
        return future

    async def close(self) -> None:
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        self._connection.close()

    def abandon(self) -> None:
        """Leave everything as a crash would: queued jobs are lost, a commit under way lands and nobody is told."""
        self._abandoned = True
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while not self._closing:
            group = self._take()
            if group and not self._abandoned:
                self._commit(group)
                self._restless = True
            if group and not self._abandoned:
                self._loop.call_soon_threadsafe(_deliver, group)

    def _take(self) -> list[_Job]:
        """The next group of jobs. In quiet moments small chores are done instead."""
        group: list[_Job] = []
        while (job := self._next()) is not None:
            group.append(job)
            if self._queue.empty() or len(group) == MOST_IN_A_GROUP:
                return group
        self._closing = True
        return group

    def _next(self) -> _Job | None:
        while self._restless:
            try:
                return self._queue.get(timeout=QUIET_S)
            except queue.Empty:
                self._restless = self._idle(self._connection)
        return self._queue.get()

    def _commit(self, group: list[_Job]) -> None:
        try:
            self._sync(self._barriers and any(job.durable for job in group))
            self._connection.execute("begin immediate")
            for job in group:
                self._do(job)
            self._connection.execute("commit")
        except sqlite3.Error as error:
            self._undo(group, error)

    def _sync(self, full: bool) -> None:
        if full is not self._full:
            self._connection.execute(f"pragma synchronous = {'full' if full else 'normal'}")
            self._full = full

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


def _deliver(group: list[_Job]) -> None:
    for job in group:
        if job.error is None and job.then:
            job.result = job.then(job.result)
    for job in group:
        if job.future.done():
            continue
        if job.error is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.error)


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
