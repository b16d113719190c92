"""A server for each test, with the strict model behind it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.kit.waiting import PATIENCE_S
from tests.web.kit import Site, open_site
from windlass.testing import StrictLLM


@pytest_asyncio.fixture
async def site(tmp_path: Path, strict_llm: StrictLLM, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    # A stop is answered within two seconds, done or not; tests want it done.
    monkeypatch.setattr("windlass.services.turns.STOP_S", PATIENCE_S)
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as opened:
        yield opened
