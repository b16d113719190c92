"""The tables name tests that exist, and the checker finds what it is there to find."""

import ast
import json
import re
import sqlite3
from functools import cache
from pathlib import Path

import pytest

from tests.proof.checker import Transcript, broken_promises
from tests.proof.figures import Figures
from tests.proof.incidents import INCIDENTS, PAINS
from tests.proof.rows import ROWS
from tests.proof.scoreboard import MEASURES, drawn, figures_of

ROOT = Path(__file__).parents[2]
NAMED = sorted(
    {test for table in (ROWS, INCIDENTS, PAINS) for tests in table.values() for test in tests}
    | {test for measure in MEASURES for test in measure.tests}
)


@cache
def functions_of(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("test", NAMED)
def test_a_named_test_exists(test: str) -> None:
    file, _, named = test.partition("::")
    name, _, case = named.removesuffix("]").partition("[")
    assert (ROOT / file).exists(), file
    assert not name or name in functions_of(file), f"{file} has no {name}"
    assert not case or f'id="{case}"' in (ROOT / file).read_text(), f"{name} has no case {case}"


@pytest.mark.parametrize("incident", INCIDENTS)
def test_a_regression_test_is_named_after_its_incident(incident: str) -> None:
    """By its function, or by its case."""
    who = incident.partition(":")[0].lower()
    name = INCIDENTS[incident][0].partition("::")[2].lower()
    assert re.sub(r"\W", "_", who) in name or f"[{who}" in name


def test_every_row_of_the_matrix_is_in_the_table() -> None:
    wanted = {
        f"{letter}{n}" for letter, count in zip("LMCDV", (18, 12, 6, 4, 5), strict=True) for n in range(1, count + 1)
    }
    assert {row.partition(" ")[0] for row in ROWS} == wanted
    assert [row for row, tests in ROWS.items() if not tests] == ["D3 Postgres"]


def test_what_was_not_measured_is_never_shown_as_passed() -> None:
    rows = figures_of(Figures())
    assert not any(figure.met for _, figure in rows)
    assert drawn(rows).count("NOT MEASURED") >= len(MEASURES) - 2


def test_a_failed_case_fails_its_row() -> None:
    found = Figures({"a.py::t[1]": "passed", "a.py::t[2]": "failed", "a.py::u": "skipped"})
    assert found.held("a.py::t") is False and found.held("a.py::u") is False and found.held("a.py::none") is False
    assert Figures({"a.py::t[1]": "passed"}).held("a.py::t", "a.py")


Event = tuple[str, dict[str, object]]
START: Event = ("turn_started", {"opening": [{"content": "hello"}]})
CALL: Event = ("model_replied", {"calls": [{"id": "c"}]})
JUDGED: Event = ("call_judged", {"call_id": "c", "verdict": "auto"})
BEGUN: Event = ("tool_started", {"call_id": "c"})
ENDED: Event = ("tool_finished", {"call_id": "c", "state": "ok"})
OVER: Event = ("turn_finished", {"outcome": "answered"})
ASKED: Event = ("call_judged", {"call_id": "c", "verdict": "ask"})
STOP: Event = ("stop_requested", {"call_id": ""})


@pytest.mark.parametrize(
    ("log", "fault"),
    [
        ([START, CALL, JUDGED, BEGUN, ENDED, OVER], ""),
        ([START, CALL, JUDGED, BEGUN, OVER], "0 terminal states"),
        ([START, CALL, JUDGED, BEGUN, ENDED, ENDED, OVER], "2 terminal states"),
        ([START, CALL, CALL, JUDGED, BEGUN, ENDED, OVER], "asked for 2 times"),
        ([START, CALL, BEGUN, JUDGED, ENDED, OVER], "unjudged"),
        ([START, CALL, ASKED, BEGUN, ENDED, OVER], "unapproved"),
        ([START, CALL, JUDGED, STOP, BEGUN, ENDED, OVER], "after a stop"),
        ([START, OVER, ENDED], "something follows its end"),
        ([CALL, OVER], "does not begin"),
        ([START, CALL, JUDGED, BEGUN, ("tool_finished", {"call_id": "c", "state": "odd"}), OVER], "is not one"),
    ],
)
def test_the_checker_finds_a_broken_log(log: list[Event], fault: str, tmp_path: Path) -> None:
    found = broken_promises(database(tmp_path, log), tmp_path / "none", ["hello"] if log[0] is START else [])
    assert bool(found) == bool(fault) and fault in " ".join(found), found


def test_the_checker_finds_lost_messages_repeated_effects_and_odd_transcripts(tmp_path: Path) -> None:
    db = database(tmp_path, [START, OVER])
    ledger = tmp_path / "ledger"
    line = json.dumps({"event": "started", "tool": "record", "effect_id": "a"}) + "\n"
    ledger.write_text(line * 2)
    right = [(1, "t", 0, "turn_started"), (2, "t", 1, "turn_finished")]
    assert "lost" in broken_promises(db, tmp_path / "none", ["never kept"])[0]
    assert "lost" in broken_promises(db, tmp_path / "none", ["hello", "hello"])[0]
    assert "happened 2 times" in broken_promises(db, ledger)[0]
    assert broken_promises(db, tmp_path / "none", [], [Transcript("conv", right)]) == []
    assert broken_promises(db, tmp_path / "none", [], [Transcript("conv", right[:1], whole=False)]) == []
    for wrong in (right[:1], right[1:], [*right, right[1]], right[::-1], [(1, "t", 0, "turn_finished"), right[1]]):
        assert broken_promises(db, tmp_path / "none", [], [Transcript("conv", wrong)])


def database(folder: Path, log: list[Event]) -> Path:
    path = folder / "windlass.db"
    db = sqlite3.connect(path)
    db.executescript(
        "create table conversations(n integer primary key, id text);"
        "create table turns(id text, state text, conversation integer, parent_id text);"
        "create table events(conversation integer, number integer, turn_id text, seq integer, kind text, body blob);"
        "insert into conversations values(1, 'conv');"
    )
    state = "finished" if log[-1] is OVER else "running"
    db.execute("insert into turns values('t', ?, 1, null)", (state,))
    rows = [(1, seq + 1, "t", seq, kind, json.dumps(body)) for seq, (kind, body) in enumerate(log)]
    db.executemany("insert into events values(?, ?, ?, ?, ?, ?)", rows)
    db.commit()
    db.close()
    return path
