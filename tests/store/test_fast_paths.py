"""The writer's two fast paths, a shared transaction and a flush on the loop, against the plain way: the same rows, the
same acknowledgements in the same order, the same errors."""

import asyncio
import itertools
import random
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from windlass.core.errors import Conflict, WindlassError
from windlass.store.writer import TRUST_AFTER, Disk, Writer, connect

NEVER_S, ALWAYS_S = 0.0, 60.0  # how long a flush may take and still be quick


@dataclass(frozen=True)
class Job:
    """Writes its number, reads what is there, then perhaps fails."""

    number: int
    durable: bool
    fails: str

    def __call__(self, db: sqlite3.Connection) -> int:
        db.execute("insert into entries values(?)", (self.number,))
        match self.fails:
            case "refused":
                raise Conflict(f"{self.number} is refused")
            case "taken":
                db.execute("insert into entries values(?)", (self.number,))
            case "broken":
                db.execute("insert into nowhere values(1)")
        (count,) = db.execute("select count(*) from entries").fetchone()
        return int(count)


@dataclass
class Played:
    """What came of a script of jobs, and how often the fast paths were taken."""

    rows: list[int] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    commits: int = 0
    inline_flushes: int = 0

    @property
    def outcome(self) -> tuple[list[int], list[int], list[str]]:
        return self.rows, self.acknowledged, self.answers


class CountingDisk(Disk):
    inline = 0
    fails = False

    def flush(self) -> None:
        self.inline += threading.current_thread() is threading.main_thread()
        if self.fails:
            raise OSError(5, "Input/output error")
        super().flush()


def script(seed: int) -> list[list[Job]]:
    """Bursts of jobs that are asked for in one round of the loop."""
    rng, numbers = random.Random(seed), itertools.count()
    ends = ["", "", "", "", "refused", "taken", "broken"]
    return [
        [Job(next(numbers), rng.random() < 0.4, rng.choice(ends)) for _ in range(rng.choice([1, 1, 2, 5]))]
        for _ in range(40)
    ]


async def play(bursts: list[list[Job]], file: Path, *, alone: bool, flush_fails: bool = False) -> Played:
    database = connect(file)
    database.execute("create table entries(number integer primary key)")
    disk, played = CountingDisk(file), Played()
    writer = Writer(database, disk, True, lambda db: False, lambda: None, lambda: alone)
    for _ in range(TRUST_AFTER):
        await writer.put(lambda db: None, durable=True)
    disk.fails = flush_fails
    commits: list[str] = []
    database.set_trace_callback(commits.append)
    for burst in bursts:
        futures = [writer.put(job, durable=job.durable, then=_noting(played, job)) for job in burst]
        answers = await asyncio.gather(*futures, return_exceptions=True)
        played.answers += [_in_short(answer) for answer in answers]
    database.set_trace_callback(None)
    played.commits, played.inline_flushes = commits.count("commit"), disk.inline
    played.rows = [number for (number,) in database.execute("select number from entries order by number")]
    await writer.close()
    return played


def _noting(played: Played, job: Job) -> Callable[[int], int]:
    def then(count: int) -> int:
        played.acknowledged.append(job.number)
        return count

    return then


def _in_short(answer: object) -> str:
    if isinstance(answer, WindlassError):
        return f"{type(answer).__name__} {answer.code}: {answer.message} {answer.hint}"
    return f"{type(answer).__name__}: {answer}"


@pytest.mark.parametrize("seed", range(5))
async def test_a_shared_transaction_gives_what_one_for_each_job_gives(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.store.writer.QUICK_S", NEVER_S)
    plain = await play(script(seed), tmp_path / "plain", alone=True)
    shared = await play(script(seed), tmp_path / "shared", alone=False)
    assert shared.outcome == plain.outcome
    assert shared.commits < plain.commits


@pytest.mark.parametrize("flush_fails", [False, True])
@pytest.mark.parametrize("seed", range(5))
async def test_a_flush_on_the_loop_gives_what_one_in_the_thread_gives(
    seed: int, flush_fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.store.writer.QUICK_S", NEVER_S)
    plain = await play(script(seed), tmp_path / "plain", alone=True, flush_fails=flush_fails)
    monkeypatch.setattr("windlass.store.writer.QUICK_S", ALWAYS_S)
    inline = await play(script(seed), tmp_path / "inline", alone=True, flush_fails=flush_fails)
    assert inline.outcome == plain.outcome
    assert plain.inline_flushes == 0 < inline.inline_flushes
