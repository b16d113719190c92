"""The bench must not rot: its stub, its echo server and both floors still do the work they are timed at."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchmarks.load import WrongAnswer, run_turns
from benchmarks.report import table
from benchmarks.rows import row
from benchmarks.subjects import Stage, Subject


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = Stage(tmp_path / "stage")
    yield made
    made.close()


async def test_both_floors_run_rounds_of_tools_and_overlapping_calls(stage: Stage) -> None:
    subjects: list[Subject] = [stage.library("normal"), stage.floor("normal")]
    for subject in subjects:
        assert len((await subject.turns("s1", 3)).ms) == 3
        (took,) = (await subject.turns("s2", 1)).ms
        assert 200 <= took < 8 * 200


async def test_every_message_of_a_turn_is_kept(stage: Stage) -> None:
    server = stage.floor("full")
    await server.turns("s1", 2, prior=4)
    with sqlite3.connect(stage.folder(server.name) / "floor.db") as db:
        (count,) = db.execute("select count(*) from messages").fetchone()
    db.close()
    assert count == 2 * (4 + 6)


async def test_an_answer_without_the_work_is_refused() -> None:
    async def lazy(conversation: str, text: str) -> bytes:
        return b"done: nothing 0/2"

    with pytest.raises(ExceptionGroup) as caught:
        await run_turns(lazy, "s1", ["1"], 1)
    assert caught.group_contains(WrongAnswer)


def test_a_row_says_whether_its_budget_holds() -> None:
    rows = [
        row("S1", "slow", [5.0, 4.0, 6.0], "ms", limit=4),
        row("S4", "fast", [600.0], "turns/s", limit=500, at_least=True),
    ]
    slow, fast = (line for line in table(rows).splitlines() if "<=" in line or ">=" in line)
    assert "5.00 ms" in slow and "4.00 .. 6.00" in slow and "MISSED" in slow
    assert "600 turns/s" in fast and fast.endswith("ok")
