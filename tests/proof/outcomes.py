"""A pytest plugin that writes down how each test ends, as it ends, into the file that `PROOF_OUTCOMES` names. What is
there stays there when pytest itself breaks later, for example while it draws the report of the very same test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

VARIABLE = "PROOF_OUTCOMES"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Before any report is made of it: making one reads and parses source, which can fail by itself."""
    if call.excinfo is None:
        outcome = "passed"
    else:
        outcome = "skipped" if call.excinfo.errisinstance(pytest.skip.Exception) else "failed"
    with Path(os.environ[VARIABLE]).open("a") as lines:
        lines.write(f"{outcome} {call.when} {item.nodeid}\n")


def failed_tests(file: Path) -> list[str]:
    """In the order in which they failed, in whatever part: set-up, call or tear-down."""
    return list(_failed(file.read_text().splitlines())) if file.exists() else []


def _failed(lines: list[str]) -> Iterator[str]:
    for line in lines:
        outcome, _, test = line.split(" ", 2)
        if outcome == "failed":
            yield test
