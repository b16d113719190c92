"""What is old is deleted, also while people are about."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.kit.holding import held
from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import turns_of_the_loop
from windlass.bus import Bus, ConversationChanged
from windlass.bus.changes import GATHER_S
from windlass.core.events import TurnFinished, TurnStarted
from windlass.core.messages import ChatMessage
from windlass.services.retention import DAY_S, Retention
from windlass.store import ConversationRow, Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = Store(tmp_path)
    yield opened
    await opened.close()


async def old(store: Store, title: str) -> str:
    return (await store.conversations.create(ConversationRow("", title, created_at=1, updated_at=1))).id


def silent() -> Bus:
    return Bus(lambda conversation, after: [])


def titles(store: Store) -> list[str]:
    return [one.conversation.title for one in store.conversations.recent()]


async def test_a_conversation_that_somebody_comes_back_to_meanwhile_stays(store: Store, tmp_path: Path) -> None:
    await old(store, "first")
    second = await old(store, "second")
    async with held(tmp_path):
        retention = asyncio.create_task(Retention(store, silent(), keep_days=1).purge())
        await turns_of_the_loop()
        hello = TurnStarted((ChatMessage("user", "I am back"),))
        said = store.logs.create(second, hello, TurnFinished("answered"))
    await asyncio.gather(retention, said)
    assert titles(store) == ["second"]


async def test_a_conversation_that_somebody_deletes_meanwhile_holds_up_no_other(store: Store, tmp_path: Path) -> None:
    await old(store, "first")
    second = await old(store, "second")
    await old(store, "third")
    async with held(tmp_path):
        retention = asyncio.create_task(Retention(store, silent(), keep_days=1).purge())
        await turns_of_the_loop()
        deleting = asyncio.create_task(store.conversations.delete(second))
        await turns_of_the_loop()
    await asyncio.gather(retention, deleting)
    assert titles(store) == []


async def test_lists_are_told_of_a_conversation_that_was_too_old(store: Store, clock: LoopClock) -> None:
    bus = silent()
    bus.show_changes(lambda id: ConversationChanged(id, None))
    reader, id = bus.watch_list(), await old(store, "first")
    await Retention(store, bus, keep_days=1).purge()
    clock.jump(GATHER_S)
    await turns_of_the_loop(3)
    assert [frame.what for frame in reader.at_once()] == [ConversationChanged(id, None)]


async def test_calls_of_programs_are_kept_a_month_after_the_last_and_stateless_requests_a_day(store: Store) -> None:
    now = time.time()

    async def hidden(title: str, days: float, client: str = "") -> None:
        made, used = now - 100 * DAY_S, now - days * DAY_S
        row = ConversationRow("", title, hidden=True, client=client, created_at=made, updated_at=used)
        await store.conversations.create(row)

    await hidden("stateless", 0)
    await hidden("used this month", 29, 'Odd "client":"" Desk')
    await hidden("long ago", 31, "Desk")
    await Retention(store, silent(), keep_days=None).purge()
    assert [one.title for one in store.conversations.of_clients()] == ["used this month"]
    assert store.conversations.hidden(now) == []
    await Retention(store, silent(), keep_days=10).purge()
    assert store.conversations.of_clients() == []
