"""Commands as a person runs them: against a server, or with none."""

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.kit.app import RunningApp, clean_environment, running_app
from windlass.cli.program import run

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
        """The whole program in this process: starting an interpreter for each would take most of the time."""
        out, err = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, {**self.env, **env}, clear=True),
            patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = run(list(argv))
        return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    with running_app(tmp_path_factory.mktemp("served") / "home") as running:
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
