"""A house that is closed, or never quite opened, gives back everything it took."""

import asyncio
from pathlib import Path

import pytest

from tests.core.memory import Script
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import until
from tests.servers.kit import Census, ledger_config, run
from windlass.api import schemas
from windlass.app import App, open_app
from windlass.config import Config
from windlass.core.errors import Unavailable


async def test_a_house_that_cannot_be_furnished_leaves_its_folder_free(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.json"
    secrets.write_text("{")
    with pytest.raises(Unavailable) as broken:
        async with open_app(Config(home=tmp_path, demo=True)):
            pass
    secrets.unlink()
    async with open_app(Config(home=tmp_path, demo=True)) as app:
        assert app.models.configs()
    assert broken.value


async def test_whoever_does_not_wait_for_the_last_turns_leaves_nothing_behind(tmp_path: Path, ledger: Ledger) -> None:
    census = Census()
    config = Config(home=tmp_path / "home", demo=True)
    opened: list[App] = []

    async def use() -> None:
        async with open_app(config, model=Script(hangs=True), grace_s=3600) as app:
            opened.append(app)
            made = await app.services.conversations.create(schemas.NewConversation())
            await run(app.servers, ledger_config(ledger))
            await app.services.turns.chat_watched(made.conversation.id, schemas.ChatRequest("Hello"))

    using = asyncio.create_task(use())
    await until(lambda: bool(opened) and opened[0].runner._draining, "the house to be closed")
    using.cancel()
    await asyncio.wait([using])
    assert opened[0].runner.running == 0
    assert await census.newcomers_gone() == []
    async with open_app(config, recover=False) as app:
        assert len(app.store.conversations.unfinished()) == 1
