"""Commands as a person runs them: against a server, or with none."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.kit.house import RunningHouse, clean_environment, running_house

PROGRAM = [sys.executable, "-m", "windlass"]


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs `windlass` with a data folder of its own."""

    home: Path

    @property
    def env(self) -> dict[str, str]:
        return clean_environment(self.home)

    def __call__(self, *argv: str, stdin: str = "", **env: str) -> Done:
        done = subprocess.run(
            [*PROGRAM, *argv], env={**self.env, **env}, input=stdin, capture_output=True, text=True, timeout=60
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHouse]:
    with running_house(tmp_path_factory.mktemp("served") / "home") as running:
        yield running


@pytest.fixture
def alone(tmp_path: Path) -> Commands:
    """No server runs."""
    return Commands(tmp_path / "home")


@pytest.fixture(params=["with a server", "without one"])
def windlass(request: pytest.FixtureRequest) -> Commands:
    if request.param == "with a server":
        return Commands(request.getfixturevalue("served").home)
    alone: Commands = request.getfixturevalue("alone")
    return alone
