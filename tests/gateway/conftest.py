"""A server for each test, with the demo model behind it: no model is asked here."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.kit.waiting import PATIENCE_S
from tests.web.kit import Site, open_site
from windlass.config import GatewaySettings


@pytest_asyncio.fixture
async def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    monkeypatch.setattr("windlass.services.turns.STOP_S", PATIENCE_S)
    async with open_site(tmp_path / "home", durability="normal") as opened:
        yield opened


@pytest_asyncio.fixture
async def asking_site(tmp_path: Path) -> AsyncIterator[Site]:
    """One whose operator lets programs ask their own person."""
    async with open_site(tmp_path / "home", durability="normal", gateway=GatewaySettings("client")) as opened:
        yield opened
