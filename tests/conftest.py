"""What holds for every test: the same examples each time, and nothing taken from the machine's own settings."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.kit.fixtures import clock, ledger, strict_llm  # noqa: F401 - fixtures for every test

# How fast examples are made is the machine's affair, and no finding.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("small", PATIENT, derandomize=True, max_examples=100)
settings.register_profile("full", PATIENT, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("SCALE", "small"))

PROVIDER_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LLM_MODEL", "ZAI_API_KEY")


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in os.environ:
        if name in PROVIDER_KEYS or name.startswith("WINDLASS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("WINDLASS_HOME", str(tmp_path_factory.mktemp("home")))
