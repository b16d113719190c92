"""Each statement of the seeds, made untrue on purpose, is noticed by a test that docs/seeds.md names for it."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.proof.figures import FULL
from tests.proof.mutations import SOURCE, break_on_purpose, fails
from tests.proof.seed_breakages import BREAKAGES, WITHOUT, Breakage, named_tests

pytestmark = pytest.mark.skipif(not FULL, reason="part of `make proof` only")


def test_every_statement_is_made_untrue_once() -> None:
    broken = Counter(row for breakage in BREAKAGES for row in breakage.rows)
    assert broken == Counter(named_tests().keys() - WITHOUT)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.name)
def test_a_statement_that_is_untrue_is_noticed(breakage: Breakage, tmp_path: Path) -> None:
    shutil.copytree(SOURCE / "windlass", tmp_path / "windlass", ignore=shutil.ignore_patterns("__pycache__"))
    break_on_purpose(breakage.mutation(), tmp_path)
    named = named_tests()
    noticed = {test: fails(test, tmp_path) for test in {test for row in breakage.rows for test in named[row]}}
    assert [row for row in breakage.rows if not any(noticed[test] for test in named[row])] == []
