"""A store in a folder of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from windlass.core.events import Committed
from windlass.store import Store


@pytest.fixture
def committed() -> list[Committed]:
    return []


@pytest.fixture
async def store(tmp_path: Path, committed: list[Committed]) -> AsyncIterator[Store]:
    opened = Store(tmp_path / "data", publish=committed.append)
    yield opened
    await opened.close()
