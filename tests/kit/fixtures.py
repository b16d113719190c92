"""Fixtures for every test; `tests/conftest.py` brings them in."""

from collections.abc import AsyncIterator

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
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """Outside `tmp_path`, which may be Windlass's data folder: nothing in that one is open to a server."""
    return Ledger(tmp_path_factory.mktemp("ledger"))
