"""Fixtures for every test; `tests/conftest.py` brings them in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.kit.ledger_file import Ledger
from tests.kit.loop_clock import LoopClock
from windlass.testing import StrictLLM


@pytest_asyncio.fixture
async def strict_llm() -> AsyncIterator[StrictLLM]:
    """A strict model server with an empty script: `strict_llm.then(...)`. It fails the test if it refused a request;
    a test that wants a refusal empties `strict_llm.refused`."""
    async with StrictLLM() as llm:
        yield llm
    assert llm.refused == [], "the model server refused a request"


@pytest_asyncio.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> LoopClock:
    """The loop's own clock, to be put forward."""
    return LoopClock(monkeypatch)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Beside the data folder, never around it: a folder that has Windlass's own in it is not opened to a server."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    return Ledger(folder)
