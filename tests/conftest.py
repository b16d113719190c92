"""What holds for every test: the same examples each time, and nothing taken from the machine's own settings."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.kit.fixtures import clock, ledger, strict_llm  # noqa: F401 - fixtures for every test

# How fast examples are made is the machine's affair, and no finding.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("small", PATIENT, derandomize=True, max_examples=100)
settings.register_profile("full", PATIENT, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("SCALE", "small"))

PROVIDER_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LLM_MODEL", "ZAI_API_KEY")


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for each test, by a number we count: pytest's own counting reads all there are, thousands in the end."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, _homes: Iterator[Path]) -> None:
    for name in os.environ:
        if name in PROVIDER_KEYS or name.startswith("WINDLASS_"):
            monkeypatch.delenv(name)
    home = next(_homes)
    home.mkdir(mode=0o700)
    monkeypatch.setenv("WINDLASS_HOME", str(home))
