"""Servers that are gone when the test is."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.servers.kit import Census
from windlass.servers import Servers


@pytest_asyncio.fixture
async def servers() -> AsyncIterator[Servers]:
    """Every process below this one that a test leaves behind fails it."""
    census = Census()
    servers = Servers()
    yield servers
    await servers.aclose()
    assert await census.newcomers_gone() == []
