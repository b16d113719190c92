"""Breaking the product on purpose is noticed."""

from pathlib import Path

import pytest

from tests.proof.figures import FULL, note
from tests.proof.mutations import MUTATIONS, SOURCE, Mutation, break_on_purpose, caught, fails

CHOSEN = [mutation for mutation in MUTATIONS if FULL or mutation.cheap]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_place_to_break_is_still_there(mutation: Mutation, tmp_path: Path) -> None:
    file = tmp_path / "windlass" / mutation.file
    file.parent.mkdir(parents=True)
    file.write_text((SOURCE / "windlass" / mutation.file).read_text())
    break_on_purpose(mutation, tmp_path)
    broken = file.read_text()
    compile(broken, str(file), "exec")
    assert mutation.old not in broken or mutation.old in mutation.new


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutation", CHOSEN, ids=lambda mutation: mutation.name)
def test_breaking_it_on_purpose_is_noticed(mutation: Mutation) -> None:
    assert caught(mutation) == []
    note("mutations", count=1)


BREAKS = """
def pytest_{hook}:
    if {when}:
        raise SystemError("AST constructor recursion depth mismatch")
"""
IN_A_FAILURE = BREAKS.format(hook="runtest_makereport(call)", when="call.excinfo")
IN_A_REPORT = BREAKS.format(hook="runtest_makereport(call)", when="call.when == 'call'")
AT_THE_END = BREAKS.format(hook="sessionfinish()", when="True")
BAD, GOOD, BROKEN = "def test_it(): assert 1 == 2", "def test_it(): pass", "import nothing_of_this_name"


@pytest.mark.parametrize(
    ("conftest", "tests", "noticed"),
    [
        pytest.param("", BAD, True, id="fails"),
        pytest.param("", GOOD, False, id="passes"),
        pytest.param(IN_A_FAILURE, BAD, True, id="fails, then pytest breaks in its report"),
        pytest.param(AT_THE_END, BAD, True, id="fails, then pytest breaks at the end"),
    ],
)
def test_a_check_that_failed_counts_however_pytest_ends(
    conftest: str, tests: str, noticed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fails(_check(tmp_path, conftest, tests, monkeypatch), SOURCE) is noticed


@pytest.mark.parametrize(
    ("conftest", "tests"),
    [
        pytest.param(IN_A_REPORT, GOOD, id="pytest breaks in the report of a test that passed"),
        pytest.param(AT_THE_END, GOOD, id="pytest breaks after all tests passed"),
        pytest.param("", BROKEN, id="the file cannot be imported"),
        pytest.param("", "", id="the file has no test"),
    ],
)
def test_a_check_that_could_not_be_run_is_no_success(
    conftest: str, tests: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RuntimeError, match="could not be run"):
        fails(_check(tmp_path, conftest, tests, monkeypatch), SOURCE)


def _check(folder: Path, conftest: str, tests: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # loading what these files do not use takes seconds
    (folder / "conftest.py").write_text(conftest)
    (folder / "test_it.py").write_text(tests)
    return str(folder / "test_it.py")
