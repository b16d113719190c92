"""Who commits what, where and in which order."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.kit.waiting import turns_of_the_loop, until
from windlass.core.errors import Conflict, Unavailable
from windlass.store.writer import TRUST_AFTER, Disk, Writer, WriterState, connect


class HeldDisk(Disk):
    """A disk whose flushes wait for the test."""

    def __init__(self, path: Path) -> None:
        self.may_flush = threading.Event()
        self.fails: OSError | None = None
        self.flushes = 0
        super().__init__(path)

    def flush(self) -> None:
        self.may_flush.wait(60)
        self.flushes += 1
        if self.fails:
            raise self.fails
        super().flush()


@pytest.fixture
def database(tmp_path: Path) -> sqlite3.Connection:
    connection = connect(tmp_path / "db")
    connection.execute("create table entries(text text)")
    return connection


@pytest.fixture(autouse=True)
def no_chores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.store.writer.QUIET_S", 60)


@pytest.fixture
async def disk(tmp_path: Path) -> HeldDisk:
    return HeldDisk(tmp_path / "db")


@pytest.fixture
async def writer(database: sqlite3.Connection, disk: HeldDisk) -> AsyncIterator[Writer]:
    made = Writer(database, disk, True, lambda db: False, lambda: None, lambda: True)
    await made.put(lambda db: None)  # the chore of the start is done
    yield made
    disk.may_flush.set()
    await made.close()


@pytest.fixture
async def lost() -> list[str]:
    return []


@pytest.fixture
async def among_others(database: sqlite3.Connection, disk: HeldDisk, lost: list[str]) -> AsyncIterator[Writer]:
    made = Writer(database, disk, True, lambda db: False, lambda: lost.append("lost"), lambda: False)
    await made.put(lambda db: None)
    yield made
    disk.may_flush.set()
    await made.close()


def write(db: sqlite3.Connection, text: str) -> None:
    db.execute("insert into entries values(?)", (text,))


def entries(tmp_path: Path) -> list[str]:
    with sqlite3.connect(tmp_path / "db") as reader:
        found = reader.execute("select text from entries order by rowid").fetchall()
    reader.close()
    return [text for (text,) in found]


async def test_what_needs_no_barrier_is_committed_and_acknowledged_at_once(writer: Writer, tmp_path: Path) -> None:
    future = writer.put(lambda db: write(db, "now"))
    assert future.done()
    assert entries(tmp_path) == ["now"]


async def test_a_promise_is_committed_at_once_and_acknowledged_when_it_is_on_the_disk(
    writer: Writer, disk: HeldDisk, tmp_path: Path
) -> None:
    future = writer.put(lambda db: write(db, "promised"), durable=True)
    assert entries(tmp_path) == ["promised"]
    assert not future.done()
    disk.may_flush.set()
    await future
    assert disk.flushes == 1


async def test_without_barriers_a_promise_is_like_any_other(database: sqlite3.Connection, disk: HeldDisk) -> None:
    writer = Writer(database, disk, False, lambda db: False, lambda: None, lambda: False)
    await writer.put(lambda db: write(db, "promised"), durable=True)
    assert disk.flushes == 0
    await writer.close()


async def test_nothing_overtakes_a_promise_under_way(writer: Writer, disk: HeldDisk, tmp_path: Path) -> None:
    acknowledged: list[str] = []
    first = writer.put(lambda db: write(db, "first"), durable=True, then=lambda _: acknowledged.append("first"))
    second = writer.put(lambda db: write(db, "second"), then=lambda _: acknowledged.append("second"))
    assert entries(tmp_path) == ["first", "second"]
    assert not second.done()
    disk.may_flush.set()
    await asyncio.gather(first, second)
    assert acknowledged == ["first", "second"]


async def test_one_flush_serves_all_that_was_committed_before_it(writer: Writer, disk: HeldDisk) -> None:
    promises = [writer.put(lambda db: write(db, "x"), durable=True) for _ in range(10)]
    disk.may_flush.set()
    await asyncio.gather(*promises)
    assert disk.flushes == 2  # the first had begun with the first promise alone


async def test_a_promise_that_could_not_be_flushed_is_none_but_what_was_committed_is_shown(
    writer: Writer, disk: HeldDisk
) -> None:
    acknowledged: list[str] = []
    disk.fails = OSError(5, "Input/output error")
    promise = writer.put(lambda db: write(db, "promise"), durable=True, then=lambda _: acknowledged.append("promise"))
    fact = writer.put(lambda db: write(db, "fact"), then=lambda _: acknowledged.append("fact"))
    disk.may_flush.set()
    with pytest.raises(Unavailable, match="Input/output"):
        await promise
    await fact
    assert acknowledged == ["promise", "fact"]
    disk.fails = None
    await writer.put(lambda db: write(db, "again"), durable=True)


async def test_what_comes_while_a_chore_writes_waits_for_it(
    database: sqlite3.Connection, disk: HeldDisk, tmp_path: Path
) -> None:
    under_way, go_on = threading.Event(), threading.Event()

    def chore(db: sqlite3.Connection) -> bool:
        db.execute("begin immediate")
        under_way.set()
        go_on.wait(60)
        write(db, "chore")
        db.execute("commit")
        return False

    writer = Writer(database, disk, True, chore, lambda: None, lambda: False)
    await asyncio.to_thread(under_way.wait, 60)
    first, second = writer.put(lambda db: write(db, "first")), writer.put(lambda db: write(db, "second"))
    assert not first.done()
    go_on.set()
    await asyncio.gather(first, second)
    assert entries(tmp_path) == ["chore", "first", "second"]
    await writer.close()


async def test_what_an_acknowledgement_asks_for_comes_after_all_that_was_committed_before_it(
    database: sqlite3.Connection, disk: HeldDisk, tmp_path: Path
) -> None:
    go_on = threading.Event()
    acknowledged: list[str] = []

    def put(text: str, also: Callable[[], object] = lambda: None) -> "asyncio.Future[None]":
        def then(_: None) -> None:
            acknowledged.append(text)
            also()

        return busy.put(lambda db: write(db, text), then=then)

    busy = Writer(database, disk, True, lambda db: not go_on.wait(60), lambda: None, lambda: True)
    both = [put("first", lambda: put("later")), put("second")]  # in one transaction, as a chore was under way
    go_on.set()
    await asyncio.gather(*both)
    await busy.put(lambda db: None)
    assert acknowledged == entries(tmp_path) == ["first", "second", "later"]
    await busy.close()


async def test_a_promise_that_an_acknowledgement_asks_for_is_flushed_once_with_those_before_it(
    writer: Writer, disk: HeldDisk
) -> None:
    later: list[asyncio.Future[None]] = []
    first = writer.put(
        lambda db: write(db, "first"),
        durable=True,
        then=lambda _: later.append(writer.put(lambda db: write(db, "later"), durable=True)),
    )
    second = writer.put(lambda db: write(db, "second"), durable=True)
    disk.may_flush.set()
    await asyncio.gather(first, second)
    await later[0]
    await writer.put(lambda db: None, durable=True)
    assert disk.flushes == 3  # of the first, of the two after it, of the last


async def test_a_waiter_that_is_cancelled_gives_up_its_answer_and_nothing_else(
    writer: Writer, disk: HeldDisk, tmp_path: Path
) -> None:
    acknowledged: list[str] = []
    gone = writer.put(lambda db: write(db, "gone"), durable=True, then=lambda _: acknowledged.append("gone"))
    kept = writer.put(lambda db: write(db, "kept"), then=lambda _: acknowledged.append("kept"))
    gone.cancel()
    disk.may_flush.set()
    await kept
    assert acknowledged == entries(tmp_path) == ["gone", "kept"]


async def test_chores_are_done_one_by_one_until_none_is_left(database: sqlite3.Connection, disk: HeldDisk) -> None:
    left = [1, 2, 3]
    writer = Writer(database, disk, True, lambda db: bool(left.pop() - 1), lambda: None, lambda: False)
    await until(lambda: not left, "the last chore")
    await writer.close()
    assert left == []


async def test_closing_waits_for_the_chore_at_hand_only(database: sqlite3.Connection, disk: HeldDisk) -> None:
    left = [1, 2, 3]
    writer = Writer(database, disk, True, lambda db: bool(left.pop() - 1), lambda: None, lambda: False)
    await writer.close()
    assert left == [1, 2]


async def test_the_state_says_who_may_write(database: sqlite3.Connection, disk: HeldDisk) -> None:
    go_on = threading.Event()
    writer = Writer(database, disk, True, lambda db: not go_on.wait(60), lambda: None, lambda: True)
    states = [writer._state]
    closing = asyncio.create_task(writer.close())
    await turns_of_the_loop()
    states.append(writer._state)
    go_on.set()
    await closing
    assert [*states, writer._state] == [WriterState.CHORE, WriterState.LAST_CHORE, WriterState.CLOSING]


async def test_no_chore_is_begun_while_closing(
    database: sqlite3.Connection, disk: HeldDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.store.writer.QUIET_S", 0.01)
    chores: list[str] = []

    def chore(db: sqlite3.Connection) -> bool:
        chores.append("chore")
        return False

    writer = Writer(database, disk, True, chore, lambda: None, lambda: True)
    await writer.put(lambda db: None)
    promise = writer.put(lambda db: write(db, "promise"), durable=True)
    closing = asyncio.create_task(writer.close())
    await until(lambda: writer._timer is None, "a quiet moment")
    disk.may_flush.set()
    await asyncio.gather(promise, closing)
    assert chores == ["chore"]


async def test_a_refused_job_leaves_nothing_behind(writer: Writer, disk: HeldDisk, tmp_path: Path) -> None:
    def refuse(db: sqlite3.Connection) -> None:
        write(db, "half")
        raise Conflict("no")

    for durable in (False, True):
        with pytest.raises(Conflict):
            await writer.put(refuse, durable=durable)
    await writer.put(lambda db: write(db, "whole"))
    assert entries(tmp_path) == ["whole"]


async def test_among_others_the_jobs_of_one_round_share_a_commit_and_a_flush(
    among_others: Writer, database: sqlite3.Connection, disk: HeldDisk, tmp_path: Path
) -> None:
    statements: list[str] = []
    database.set_trace_callback(statements.append)
    acknowledged: list[int] = []

    def put(n: int) -> "asyncio.Future[None]":
        return among_others.put(
            lambda db: write(db, f"entry {n}"), durable=n % 2 == 0, then=lambda _: acknowledged.append(n)
        )

    jobs = [put(n) for n in range(4)]
    assert entries(tmp_path) == []
    disk.may_flush.set()
    await asyncio.gather(*jobs)
    assert statements.count("commit") == disk.flushes == 1
    assert acknowledged == [0, 1, 2, 3]
    assert entries(tmp_path) == [f"entry {n}" for n in range(4)]


async def test_a_job_that_is_refused_among_others_takes_back_its_own_rows_only(
    among_others: Writer, lost: list[str], tmp_path: Path
) -> None:
    def refuse(db: sqlite3.Connection, error: Exception) -> None:
        write(db, "half")
        raise error

    full = sqlite3.OperationalError("no such table: elsewhere")
    first = among_others.put(lambda db: write(db, "first"))
    refused = among_others.put(lambda db: refuse(db, Conflict("no")))
    second = among_others.put(lambda db: write(db, "second"))
    broken = among_others.put(lambda db: refuse(db, full))
    third = among_others.put(lambda db: write(db, "third"))
    with pytest.raises(Conflict):
        await refused
    with pytest.raises(Unavailable, match="elsewhere"):
        await broken
    await asyncio.gather(first, second, third)
    assert entries(tmp_path) == ["first", "second", "third"]
    assert lost == ["lost"], "what was known of the turns may be ahead of the disk"


async def test_a_job_that_is_asked_for_while_another_writes_comes_after_it(
    among_others: Writer, tmp_path: Path
) -> None:
    later: list[asyncio.Future[None]] = []

    def work(db: sqlite3.Connection) -> None:
        later.append(among_others.put(lambda db: write(db, "later")))
        write(db, "first")

    await among_others.put(work)
    await later[0]
    assert entries(tmp_path) == ["first", "later"]


async def test_a_commit_that_fails_is_reported_to_all_who_shared_it(
    among_others: Writer, lost: list[str], tmp_path: Path
) -> None:
    def end_it(db: sqlite3.Connection) -> None:
        db.execute("rollback")  # as SQLite does by itself when the disk is full
        raise sqlite3.OperationalError("database or disk is full")

    acknowledged: list[str] = []
    shared = [
        among_others.put(lambda db: write(db, "before"), then=lambda _: acknowledged.append("acknowledged")),
        among_others.put(end_it),
        among_others.put(lambda db: write(db, "after"), then=lambda _: acknowledged.append("acknowledged")),
    ]
    found = await asyncio.gather(*shared, return_exceptions=True)
    assert ["is full" in str(error) for error in found] == [True, True, True]
    assert (acknowledged, lost, entries(tmp_path)) == ([], ["lost"], [])
    await among_others.put(lambda db: write(db, "again"))
    assert entries(tmp_path) == ["again"]


async def test_a_chore_that_fails_does_not_end_the_thread(
    database: sqlite3.Connection, disk: HeldDisk, tmp_path: Path
) -> None:
    def broken(db: sqlite3.Connection) -> bool:
        db.execute("begin")
        raise sqlite3.OperationalError("database or disk is full")

    writer = Writer(database, disk, True, broken, lambda: None, lambda: False)
    disk.may_flush.set()
    await writer.put(lambda db: write(db, "still here"), durable=True)
    assert entries(tmp_path) == ["still here"]
    await writer.close()


async def test_a_program_that_holds_the_file_does_not_hold_up_the_loop(writer: Writer, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "db", isolation_level=None)
    other.execute("begin immediate")
    first, second = writer.put(lambda db: write(db, "first")), writer.put(lambda db: write(db, "second"))
    assert not first.done()
    other.execute("rollback")
    other.close()
    await first
    await second
    assert entries(tmp_path) == ["first", "second"]


async def test_a_file_held_for_too_long_is_said_plainly(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.store.writer.BUSY_S", 0.02)
    other = sqlite3.connect(tmp_path / "db", isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(Unavailable, match="locked"):
        await writer.put(lambda db: write(db, "never"))
    other.execute("rollback")
    other.close()
    await writer.put(lambda db: write(db, "again"))
    assert entries(tmp_path) == ["again"]


async def test_a_listener_that_fails_keeps_nobody_waiting(writer: Writer, disk: HeldDisk, tmp_path: Path) -> None:
    disk.may_flush.set()

    def fails(result: None) -> None:
        raise ValueError("a listener's own trouble")

    first = writer.put(lambda db: write(db, "first"), durable=True, then=fails)
    second = writer.put(lambda db: write(db, "second"), durable=True)
    with pytest.raises(ValueError, match="own trouble"):
        await first
    await second
    assert entries(tmp_path) == ["first", "second"]


async def trusting(database: sqlite3.Connection, disk: HeldDisk, *, alone: bool = True) -> Writer:
    """A writer whose disk has been quick for long enough."""
    disk.may_flush.set()
    writer = Writer(database, disk, True, lambda db: False, lambda: None, lambda: alone)
    for _ in range(TRUST_AFTER):
        await writer.put(lambda db: write(db, "earning trust"), durable=True)
    return writer


@pytest.fixture
def any_disk_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.store.writer.QUICK_S", 60)


@pytest.mark.parametrize(("alone", "where"), [(True, "on the loop"), (False, "in the thread")])
@pytest.mark.usefixtures("any_disk_is_quick")
async def test_a_lone_promise_waits_for_a_quick_disk_on_the_loop(
    database: sqlite3.Connection, disk: HeldDisk, alone: bool, where: str
) -> None:
    writer = await trusting(database, disk, alone=alone)
    acknowledged: list[int] = []
    promise = writer.put(lambda db: write(db, "entry"), durable=True, then=lambda _: acknowledged.append(disk.flushes))

    assert ("on the loop" if promise.done() else "in the thread") == where
    await promise
    assert acknowledged == [TRUST_AFTER + 1]
    await writer.close()


@pytest.mark.usefixtures("any_disk_is_quick")
async def test_a_disk_that_keeps_somebody_waiting_loses_its_trust(
    database: sqlite3.Connection, disk: HeldDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = await trusting(database, disk)
    trusted = [disk.is_quick]
    monkeypatch.setattr("windlass.store.writer.QUICK_S", 0)
    await writer.put(lambda db: write(db, "entry"), durable=True)
    assert [*trusted, disk.is_quick] == [True, False]
    await writer.close()


@pytest.mark.usefixtures("any_disk_is_quick")
async def test_a_promise_that_a_quick_disk_breaks_on_the_loop_is_none(
    database: sqlite3.Connection, disk: HeldDisk
) -> None:
    writer = await trusting(database, disk)
    disk.fails = OSError(5, "Input/output error")
    with pytest.raises(Unavailable, match="Input/output error"):
        await writer.put(lambda db: write(db, "entry"), durable=True)
    await writer.close()
