"""The proof itself: a stage that breaks off or hangs is said, the others go on, and nothing passes unseen."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from tests.proof import audits
from tests.proof.__main__ import _options, _tell, main
from tests.proof.figures import Figures, read_figures
from tests.proof.readings import Figure
from tests.proof.scoreboard import MEASURES, Measure, figures_of
from tests.proof.stages import Stage, chosen, run, stages

ENDS = {
    "crashed": "import os\ndef test_it(): os._exit(70)",
    "broken": "import nothing_of_this_name",
    "hung": "import time\ndef test_it(): time.sleep(600)",
    "well": "def test_it(): pass",
}


def test_a_stage_that_does_not_come_to_its_end_is_said_and_the_next_one_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # loading what these files do not use takes seconds
    files = {end: tmp_path / f"test_{end}.py" for end in ENDS}
    for end, file in files.items():
        file.write_text(ENDS[end])
        stage = Stage(end, end, (str(file),), 1, ("-p", "no:cacheprovider", "-p", "pytest_timeout"))
        run(stage, tmp_path / "figures", tmp_path, longest_s=1 if end == "hung" else 200)
    found = read_figures(tmp_path / "figures")
    assert [one["stage"] for one in found.notes["crash"]] == ["crashed", "broken", "hung"]
    assert [found.crashed(f"{file}::test_it") for file in files.values()] == [True, True, True, False]
    assert "passed" in found.outcomes.values()


def test_a_part_is_chosen_by_its_name_or_by_words_of_its_title() -> None:
    parts = [stage.part for stage in stages()]
    assert len(set(parts)) == len(parts) == len(chosen(""))
    assert [stage.part for part in parts for stage in chosen(part)] == parts
    assert [stage.part for stage in chosen("broken on purpose")] == ["mutations"]
    assert chosen("nothing of this name") == []


def test_an_unknown_part_lists_the_parts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["proof", "--only", "nothing of this name"])
    assert main() == 2
    printed = capsys.readouterr().out
    assert [stage.part for stage in stages() if f"  {stage.part} " in printed] == [stage.part for stage in stages()]


def test_the_row_of_a_crashed_stage_says_so_and_misses_its_floor() -> None:
    row = next(measure for measure in MEASURES if measure.name == "canary secrets leaked")
    found = Figures()
    found.notes["crash"].append({"stage": "x", "tests": ["tests/proof/test_canaries.py"], "code": -9})
    assert dict(figures_of(found))[row] == Figure("crashed", False)
    found.notes["canaries"].append({"count": 100})
    found.outcomes["tests/proof/test_canaries.py::test_one_of_many"] = "passed"
    assert dict(figures_of(found))[row] == Figure("crashed; 100 planted, 0 leaked", False)


def test_a_failed_test_misses_the_floor_whatever_was_counted() -> None:
    row = next(measure for measure in MEASURES if measure.name == "canary secrets leaked")
    found = Figures({"tests/proof/test_canaries.py::test_x": "failed"})
    found.notes["canaries"].append({"count": 1000})
    figure = dict(figures_of(found))[row]
    assert figure.met is False and figure.text.startswith("1 failed")


@pytest.mark.parametrize(
    ("found", "words", "code"),
    [
        (Figures(), [], 1),
        (Figures(), ["--only", "x"], 0),
        (Figures({"a": "failed"}), ["--only", "x"], 1),
        (Figures(notes=defaultdict(list, crash=[{"stage": "x", "tests": [], "code": -9}])), ["--only", "x"], 1),
        (Figures(notes=defaultdict(list, linters=[{"count": 1}])), ["--only", "x"], 1),
    ],
    ids=["nothing measured", "nothing asked for", "a failed test", "a stage that broke off", "a missed floor"],
)
def test_the_exit_code_tells(found: Figures, words: list[str], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["proof", *words])
    assert _tell(found, 0, _options()) == code


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_what_shows_a_row_is_in_a_stage(measure: Measure) -> None:
    parts = [part for stage in stages() for part in stage.tests]
    for test in measure.tests:
        assert any(test == part or test.startswith((f"{part}/", f"{part}::")) for part in parts), test


@pytest.mark.parametrize(
    ("npm", "pip", "met", "text"),
    [
        ({"why": "not run"}, {"why": "not run"}, None, "npm: not run; pip: not run"),
        ({"high": 0, "packages": 9}, {"why": "not run"}, True, "npm: 0 known-vulnerable of 9; pip: not run"),
        ({"why": "not run"}, {"high": 1, "packages": 9}, False, "npm: not run; pip: 1 known-vulnerable of 9"),
    ],
)
def test_an_audit_that_was_not_run_counts_for_nothing(
    npm: dict[str, object], pip: dict[str, object], met: bool | None, text: str
) -> None:
    row = next(measure for measure in MEASURES if measure.name == "known-vulnerable packages")
    found = Figures()
    found.notes["audit"] += [{"who": "npm", **npm}, {"who": "pip", **pip}]
    assert dict(figures_of(found))[row] == Figure(text, met)


def test_a_registry_that_does_not_answer_is_no_clean_bill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of their names that give the answers of a network that is not there, and of one with a finding."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "not run" in str(audits._npm()) and "not installed" in str(audits._pip())
    answers = {"npm": {"statusCode": 405}, "pip-audit": {"dependencies": [{"name": "x", "skip_reason": "unknown"}]}}
    _programs(tmp_path, answers)
    assert "405" in str(audits._npm()) and "0 of 1" in str(audits._pip())
    counts = {"vulnerabilities": {"high": 1, "critical": 1}, "dependencies": {"total": 5}}
    _programs(tmp_path, {"npm": {"metadata": counts}, "pip-audit": {"dependencies": [{"name": "x", "vulns": [{}]}]}})
    assert audits._npm() == {"high": 8, "packages": 20} and audits._pip() == {"high": 1, "packages": 1}


def _programs(folder: Path, answers: dict[str, object]) -> None:
    for name, answer in answers.items():
        (folder / name).write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\nexit 1\n")
        (folder / name).chmod(0o755)
