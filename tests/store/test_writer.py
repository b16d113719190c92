"""Who commits what, where and in which order."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from windlass.core.errors import Conflict, Unavailable
from windlass.store.writer import Writer, _Chores

NORMAL, FULL = 1, 2


@pytest.fixture
def database(tmp_path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(tmp_path / "db", isolation_level=None, check_same_thread=False)
    connection.execute("pragma journal_mode = wal")
    connection.execute("create table words(word text, thread text)")
    return connection


@pytest.fixture(autouse=True)
def no_chores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.store.writer.QUIET_S", 60)


@pytest.fixture
async def writer(database: sqlite3.Connection) -> AsyncIterator[Writer]:
    made = Writer(database, True, lambda db: False, lambda: None)
    await made.put(lambda db: None, durable=True)  # the chores of the start are done
    yield made
    await made.close()


def say(db: sqlite3.Connection, word: str) -> None:
    db.execute("insert into words values(?, ?)", (word, threading.current_thread().name))


def synchronous(db: sqlite3.Connection) -> int:
    found: int = db.execute("pragma synchronous").fetchone()[0]
    return found


def words(tmp_path: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(tmp_path / "db") as reader:
        found: list[tuple[str, str]] = reader.execute("select word, thread from words order by rowid").fetchall()
    reader.close()
    return found


async def test_what_needs_no_barrier_is_committed_at_once(writer: Writer, tmp_path: Path) -> None:
    future = writer.put(lambda db: say(db, "now"))
    assert future.done()
    assert words(tmp_path) == [("now", "MainThread")]


async def test_a_promise_waits_for_the_disk_in_its_own_thread(writer: Writer, tmp_path: Path) -> None:
    def work(db: sqlite3.Connection) -> int:
        say(db, "promised")
        return synchronous(db)

    future = writer.put(work, durable=True)
    assert not future.done()
    assert await future == FULL
    assert words(tmp_path) == [("promised", "windlass-writer")]
    assert await writer.put(synchronous) == NORMAL


async def test_without_barriers_a_promise_is_like_any_other(database: sqlite3.Connection) -> None:
    writer = Writer(database, False, lambda db: False, lambda: None)
    assert await writer.put(synchronous, durable=True) == NORMAL
    await writer.close()


async def test_nothing_overtakes_a_promise_under_way(writer: Writer, tmp_path: Path) -> None:
    told: list[str] = []
    first = writer.put(lambda db: say(db, "first"), durable=True, then=lambda _: told.append("first"))
    second = writer.put(lambda db: say(db, "second"), then=lambda _: told.append("second"))
    assert not second.done()
    await asyncio.gather(first, second)
    assert told == ["first", "second"]
    assert [word for word, _ in words(tmp_path)] == ["first", "second"]


async def test_chores_queued_behind_a_job_do_not_hold_it_back(writer: Writer) -> None:
    under_way, go_on = threading.Event(), threading.Event()

    def slow(db: sqlite3.Connection) -> None:
        under_way.set()
        go_on.wait(60)

    first = writer.put(slow, durable=True)
    await asyncio.to_thread(under_way.wait, 60)
    second = writer.put(lambda db: say(db, "second"))
    writer._queue.put(_Chores())
    go_on.set()
    async with asyncio.timeout(60):
        await asyncio.gather(first, second)


async def test_a_refused_job_leaves_nothing_behind(writer: Writer, tmp_path: Path) -> None:
    def refuse(db: sqlite3.Connection) -> None:
        say(db, "half")
        raise Conflict("no")

    for durable in (False, True):
        with pytest.raises(Conflict):
            await writer.put(refuse, durable=durable)
    await writer.put(lambda db: say(db, "whole"))
    assert [word for word, _ in words(tmp_path)] == ["whole"]


async def test_a_chore_that_fails_does_not_end_the_thread(database: sqlite3.Connection, tmp_path: Path) -> None:
    def broken(db: sqlite3.Connection) -> bool:
        db.execute("begin")
        raise sqlite3.OperationalError("database or disk is full")

    writer = Writer(database, True, broken, lambda: None)
    await writer.put(lambda db: say(db, "still here"), durable=True)
    assert [word for word, _ in words(tmp_path)] == ["still here"]
    await writer.close()


async def test_a_program_that_holds_the_file_does_not_hold_up_the_loop(writer: Writer, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "db", isolation_level=None)
    other.execute("begin immediate")
    first, second = writer.put(lambda db: say(db, "first")), writer.put(lambda db: say(db, "second"))
    assert not first.done()
    other.execute("rollback")
    other.close()
    await first
    await second
    assert [word for word, _ in words(tmp_path)] == ["first", "second"]


async def test_a_file_held_for_too_long_is_said_plainly(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.store.writer.BUSY_S", 0.02)
    other = sqlite3.connect(tmp_path / "db", isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(Unavailable, match="locked"):
        await writer.put(lambda db: say(db, "never"))
    other.execute("rollback")
    other.close()
    await writer.put(lambda db: say(db, "again"))
    assert [word for word, _ in words(tmp_path)] == ["again"]


async def test_a_listener_that_fails_keeps_nobody_waiting(writer: Writer, tmp_path: Path) -> None:
    def fails(result: None) -> None:
        raise ValueError("a listener's own trouble")

    first = writer.put(lambda db: say(db, "first"), durable=True, then=fails)
    second = writer.put(lambda db: say(db, "second"), durable=True)
    with pytest.raises(ValueError, match="own trouble"):
        await first
    await second
    assert [word for word, _ in words(tmp_path)] == ["first", "second"]
