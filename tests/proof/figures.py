"""Numbers that tests leave for the scoreboard: one line of JSON each, in the file that `PROOF_FIGURES` names. Without
it, as in an ordinary test run, nothing is written. Also a pytest plugin that leaves every test's outcome there."""

import json
import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FULL = os.environ.get("SCALE") == "full"


def note(measure: str, **numbers: float | str) -> None:
    """Something measured; the same measure may be noted many times."""
    if file := os.environ.get("PROOF_FIGURES"):
        add(Path(file), measure, **numbers)


def add(file: Path, measure: str, **numbers: object) -> None:
    with file.open("a") as lines:
        lines.write(json.dumps({"measure": measure, **numbers}) + "\n")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        note("test", id=report.nodeid, outcome=report.outcome, seconds=round(report.duration, 3))


@dataclass(slots=True)
class Figures:
    """What a run left behind."""

    outcomes: dict[str, str] = field(default_factory=dict)
    notes: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))

    def total(self, measure: str, name: str = "count") -> float:
        return float(sum(numbers.get(name, 0) for numbers in self.notes.get(measure, [])))

    def most(self, measure: str, name: str) -> float | None:
        return max((numbers[name] for numbers in self.notes.get(measure, []) if name in numbers), default=None)

    def ended(self, test: str) -> list[str]:
        """How the cases of a test ended; a module or a folder names all its tests."""
        return [outcome for id, outcome in self.outcomes.items() if _names(test, id)]

    def held(self, *tests: str) -> bool:
        """Whether each of them ran and none of their cases failed."""
        return all((found := self.ended(test)) and "failed" not in found and "passed" in found for test in tests)

    def crashed(self, test: str) -> bool:
        """Whether the stage it belongs to broke off before it; of a module or many cases nobody knows how many came."""
        stages = [one["tests"] for one in self.notes.get("crash", [])]
        return test not in self.outcomes and any(_names(part, test) for tests in stages for part in tests)


def read_figures(file: Path) -> Figures:
    found = Figures()
    for line in file.read_text().splitlines() if file.exists() else []:
        numbers = json.loads(line)
        measure = numbers.pop("measure")
        if measure == "test":
            if found.outcomes.get(numbers["id"]) != "failed":
                found.outcomes[numbers["id"]] = numbers["outcome"]
        else:
            found.notes[measure].append(numbers)
    return found


def _names(test: str, id: str) -> bool:
    return id == test or id.startswith((f"{test}[", f"{test}::", f"{test}/"))
