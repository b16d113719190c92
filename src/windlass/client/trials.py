"""Trying web search as the settings have it, apart from any conversation."""

from windlass.app import open_house
from windlass.config import Config
from windlass.search.search import Trial


async def search_trials(config: Config, text: str) -> list[Trial]:
    """Each backend by itself; none when search is off."""
    async with open_house(config, recover=False) as house:
        return await house.searching.for_provider(house.models.config()).trials(text)
