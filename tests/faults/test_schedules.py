"""The rules of the core hold under any schedule."""

from pathlib import Path

import pytest

from tests.faults.schedules import play
from tests.proof.figures import FULL, note

COUNT = 2000 if FULL else 100


@pytest.mark.timeout(900)
async def test_random_schedules_of_crashes_drivers_and_people_break_no_rule(tmp_path: Path) -> None:
    met = await play(range(COUNT), tmp_path)
    assert met["crashes"] > COUNT / 4
    assert met["second drivers"] > COUNT / 4
    assert met["stops"] > COUNT / 20
    assert met["unknown"] > COUNT / 50
    assert met["answered"] + met["stopped"] == COUNT
    note("schedules", count=COUNT, seed=f"0 to {COUNT - 1}")
