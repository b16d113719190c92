"""Who may append what to a turn's log, and on which condition."""

import asyncio

import pytest

from tests.kit.waiting import turns_of_the_loop
from windlass.core.errors import Conflict, Fenced, NotFound, Unavailable
from windlass.core.events import (
    CallDecided,
    Committed,
    ModelFailed,
    ModelReplied,
    Settings,
    StopRequested,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnFinished,
    TurnStarted,
)
from windlass.core.messages import ChatMessage, Toolset, ToolSpec
from windlass.store import ConversationRow, Store, TurnLog
from windlass.store.conversations import PAGE_BYTES

HELLO = TurnStarted((ChatMessage("user", "hello"),))


async def new_turn(store: Store, started: TurnStarted = HELLO) -> str:
    conversation = await store.conversations.create(ConversationRow(""))
    return (await store.logs.create(conversation.id, started)).turn_id


async def claimed(store: Store, turn_id: str, driver: str = "d") -> TurnLog:
    log = TurnLog(store.logs, turn_id, driver)
    await log.claim()
    return log


async def test_what_is_recorded_is_read_back_in_order(store: Store) -> None:
    log = await claimed(store, await new_turn(store))
    await log.record(ModelReplied("hi"))
    assert await log.read() == (HELLO, TurnClaimed("d", 1), ModelReplied("hi"))
    assert [row.event for row in store.logs.read(log.turn_id)] == list(await log.read())


async def test_a_driver_that_comes_between_commit_and_delivery_reads_the_disk(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    deliver = store.logs._after_commit

    def late(result: tuple[object, Committed | None]) -> object:
        seen.extend(store.logs.open_turn("turn-late").events)
        return deliver(result)

    monkeypatch.setattr(store.logs, "_after_commit", late)
    conversation = await store.conversations.create(ConversationRow(""))
    log = TurnLog(store.logs, "turn-late", "d", unborn=True)
    await store.logs.create(conversation.id, HELLO, driver="d", turn_id="turn-late")
    assert seen == list(await log.read()) == [HELLO, TurnClaimed("d", 1)]


async def test_a_turn_is_live_until_everyone_who_opened_it_has_closed_it(store: Store) -> None:
    turn = await new_turn(store)
    older, newer = TurnLog(store.logs, turn, "old"), TurnLog(store.logs, turn, "new")
    live = [store.logs.driven]
    older.close()
    older.close()
    await store.logs.append(turn, (StopRequested(),))
    live.append(store.logs.driven)
    assert list(await newer.read()) == [HELLO, StopRequested()]
    newer.close()
    assert [*live, store.logs.driven] == [1, 1, 0]


async def test_a_closed_turn_is_read_anew_with_what_came_meanwhile(store: Store) -> None:
    log = await claimed(store, await new_turn(store))
    landing = log.record(ModelReplied("hi"))
    log.close()
    await landing
    assert list(await TurnLog(store.logs, log.turn_id, "next").read())[2:] == [ModelReplied("hi")]


async def test_a_log_opened_before_its_turn_is_born_needs_not_read_its_first_events(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    log = TurnLog(store.logs, "turn-new", "d", unborn=True)
    asked: list[str] = []
    store._connection.set_trace_callback(asked.append)
    await store.logs.create(conversation.id, HELLO, driver="d", turn_id="turn-new")
    assert await log.read() == (HELLO, TurnClaimed("d", 1))
    await log.claim()
    assert await log.record(ModelReplied("hi"))
    store._connection.set_trace_callback(None)
    assert not [statement for statement in asked if "e.body" in statement]
    assert [event for event in await log.read() if isinstance(event, TurnClaimed)] == [TurnClaimed("d", 1)]


async def test_a_driver_that_gave_up_its_claim_claims_anew(store: Store) -> None:
    log = await claimed(store, await new_turn(store))
    log.give_up_claim()
    await log.claim()
    assert [event for event in await log.read() if isinstance(event, TurnClaimed)] == [
        TurnClaimed("d", 1),
        TurnClaimed("d", 2),
    ]


async def test_an_older_driver_is_fenced(store: Store) -> None:
    turn = await new_turn(store)
    older, newer = await claimed(store, turn, "old"), await claimed(store, turn, "new")
    with pytest.raises(Fenced):
        await older.record(ModelReplied("late"))
    with pytest.raises(Fenced):
        await older.begin(3, ToolStarted("c1"))
    await newer.record(ModelReplied("in time"))
    assert ModelReplied("late") not in await newer.read()


async def test_intents_land_only_on_the_log_they_were_decided_on(store: Store) -> None:
    log = await claimed(store, await new_turn(store))
    assert not await log.begin(1, ToolStarted("c1"))
    assert await log.begin(2, ToolStarted("c1"))


async def test_facts_land_also_where_the_intents_they_bring_do_not(store: Store) -> None:
    log = await claimed(store, await new_turn(store))
    replied = ModelReplied("Looking.")
    assert not await log.begin(1, ToolStarted("c1"), facts=(replied,))
    assert list(await log.read())[2:] == [replied]
    assert await log.begin(3, ToolStarted("c1"), facts=(replied,))
    assert list(await log.read())[3:] == [replied, ToolStarted("c1")]


async def test_a_decision_lands_once_and_needs_no_claim(store: Store) -> None:
    turn = await new_turn(store)
    both = await asyncio.gather(*(store.logs.append(turn, (CallDecided("c1", True),)) for _ in range(2)))
    assert sorted(both) == [False, True]


async def test_a_second_result_of_a_call_is_ignored_while_the_rest_of_the_append_lands(store: Store) -> None:
    log = await claimed(store, await new_turn(store))
    await log.record(ToolFinished("c1", "ok"))
    await log.record(ToolFinished("c1", "error"), ToolFinished("c2", "ok"))
    assert list(await log.read())[2:] == [ToolFinished("c1", "ok"), ToolFinished("c2", "ok")]


async def test_nothing_follows_the_end(store: Store) -> None:
    log = await claimed(store, await new_turn(store))
    await log.record(TurnFinished("answered"))
    await log.record(ModelReplied("more"))
    assert not await store.logs.append(log.turn_id, (StopRequested(),))
    assert (await log.read())[-1] == TurnFinished("answered")


async def test_cancelling_the_wait_does_not_lose_what_was_queued(store: Store) -> None:
    log = await claimed(store, await new_turn(store))

    async def records() -> None:
        await log.record(ModelReplied("kept"))

    task = asyncio.create_task(records())
    await turns_of_the_loop()
    task.cancel()
    await log.changed(2)
    assert (await log.read())[-1] == ModelReplied("kept")


async def test_a_waiting_driver_wakes_when_the_log_grows(store: Store) -> None:
    log = await claimed(store, await new_turn(store))
    waiting = asyncio.create_task(log.changed(2))
    await store.logs.append(log.turn_id, (StopRequested(),))
    await asyncio.wait_for(waiting, 60)
    assert (await log.read())[-1] == StopRequested()


async def test_a_driver_that_starts_in_the_middle_sees_each_event_once(store: Store) -> None:
    turn = await new_turn(store)
    pending = store.logs.append(turn, (StopRequested(),))
    log = TurnLog(store.logs, turn, "d")
    await pending
    assert list(await log.read()) == [HELLO, StopRequested()]


async def test_rows_are_published_after_they_are_on_disk_with_one_counter_per_conversation(
    store: Store, committed: list[Committed]
) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    for _ in range(2):
        created = await store.logs.create(conversation.id, HELLO, TurnFinished("added"))
        assert store.logs.read(created.turn_id)
    numbers = [row.number for done in committed for row in done.rows]
    assert numbers == [1, 2, 3, 4]
    assert [done.parent_id for done in committed] == [None, committed[0].turn_id]


async def test_the_same_client_message_gives_the_same_turn(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    started = TurnStarted((ChatMessage("user", "hello"),), client_message_id="m1")
    made = await asyncio.gather(*(store.logs.create(conversation.id, started) for _ in range(50)))
    assert len({created.turn_id for created in made}) == 1
    assert sum(created.is_new for created in made) == 1
    other = TurnStarted((ChatMessage("user", "something else"),), client_message_id="m1")
    with pytest.raises(Conflict, match="another message"):
        await store.logs.create(conversation.id, other)


async def test_turns_of_two_branches_that_write_by_turns_are_read_apart(store: Store) -> None:
    first = await new_turn(store)
    conversation_id = store.conversations.turn(first).conversation_id
    second = (await store.logs.create(conversation_id, HELLO, parent_id=None)).turn_id
    for turn_id in (first, second, first, second):
        await store.logs.append(turn_id, [ModelFailed("network", f"of {turn_id}")])
    await store.logs.append(first, [TurnFinished("failed")])
    await store.logs.append(second, [TurnFinished("failed")])
    for turn_id in (first, second):
        failed = ModelFailed("network", f"of {turn_id}")
        logged = [row.event for row in store.conversations.log(turn_id)]
        assert logged == [HELLO, failed, failed, TurnFinished("failed")]


@pytest.mark.parametrize("number", [-1, -(1 << 32), -(1 << 40), 1 << 32, 1 << 62])
async def test_no_number_leads_into_another_conversation(store: Store, number: int) -> None:
    first, second = await new_turn(store), await new_turn(store)
    conversation_id = store.conversations.turn(second).conversation_id
    seen = {done.turn_id for done in store.conversations.events_after(conversation_id, number)}
    assert seen == ({second} if number < 0 else set())
    assert first not in seen


async def test_e3_a_long_past_is_read_in_pages_of_bytes_too(store: Store) -> None:
    turn_id = await new_turn(store)
    conversation_id = store.conversations.turn(turn_id).conversation_id
    for _ in range(20):
        await store.logs.append(turn_id, [ModelFailed("network", "x" * (PAGE_BYTES // 4))])
    pages: list[int] = []
    last = 0
    while rows := store.conversations.events_after(conversation_id, last):
        pages.append(len(rows))
        assert [done.rows[0].number for done in rows] == list(range(last + 1, last + 1 + len(rows)))
        last += len(rows)
    assert max(pages) <= 5 and last == len(store.conversations.log(turn_id))


async def test_a_branch_has_one_running_turn(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    first = await store.logs.create(conversation.id, HELLO)
    with pytest.raises(Conflict, match=first.turn_id):
        await store.logs.create(conversation.id, HELLO)
    with pytest.raises(NotFound):
        await store.logs.create(conversation.id, HELLO, parent_id="turn-elsewhere")


async def test_a_turn_needs_its_conversation(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.logs.create("conv-none", HELLO)
    with pytest.raises(NotFound):
        await store.logs.append("turn-none", (StopRequested(),))


async def test_a_turn_is_refused_when_its_tools_could_not_be_written(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    started = TurnStarted((ChatMessage("user", "hello"),), Settings(toolset="h1"))
    with pytest.raises(Unavailable, match="tools"):
        await store.logs.create(conversation.id, started)
    store.keep_toolset(Toolset("h1", (ToolSpec("look", "server-1", "look"),)))
    assert (await store.logs.create(conversation.id, started)).is_new


async def test_one_refused_job_does_not_harm_its_group(store: Store) -> None:
    turn = await new_turn(store)
    good, bad = store.logs.append(turn, (ModelReplied("hi"),)), store.logs.append("turn-none", (ModelReplied("no"),))
    assert await good
    with pytest.raises(NotFound):
        await bad
