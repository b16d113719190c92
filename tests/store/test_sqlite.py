"""The file: one owner, one format, nothing lost, nothing left behind."""

import asyncio
import os
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from tests.kit.holding import held
from tests.kit.waiting import turns_of_the_loop, until, until_found
from windlass.core.errors import NotFound, Unavailable
from windlass.core.events import ModelReplied, Settings, ToolFinished, TurnFinished, TurnStarted
from windlass.core.ids import Clock
from windlass.core.messages import ChatMessage, ToolCall, ToolOutput, Toolset, ToolSpec
from windlass.store import ConversationRow, Store, UnknownCall
from windlass.store.migrations import STEPS
from windlass.store.sqlite import MOST_TOOLSETS


def asked(text: str) -> TurnStarted:
    return TurnStarted((ChatMessage("user", text),))


async def finished_turn(store: Store, conversation_id: str, text: str, answer: str) -> str:
    created = await store.logs.create(conversation_id, asked(text), ModelReplied(answer), TurnFinished("answered"))
    return created.turn_id


async def test_a_second_process_on_the_folder_is_refused_in_clear_words(store: Store, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="Another Windlass is using"):
        Store(tmp_path / "data")


async def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with sqlite3.connect(tmp_path / "data" / "windlass.db") as db:
        db.execute(f"pragma user_version = {len(STEPS) + 1}")
    db.close()
    with pytest.raises(Unavailable, match="newer Windlass"):
        Store(tmp_path / "data")


@pytest.mark.parametrize("durability", ["full", "normal"])
async def test_what_was_acknowledged_is_there_after_a_crash(tmp_path: Path, durability: str) -> None:
    store = Store(tmp_path, durability=durability)  # type: ignore[arg-type]
    conversation = await store.conversations.create(ConversationRow("", title="kept"))
    turn = await store.logs.create(conversation.id, asked("kept too"))
    store.abandon()
    again = Store(tmp_path)
    assert again.conversations.get(conversation.id).title == "kept"
    assert again.conversations.log(turn.turn_id)[0].event == asked("kept too")
    assert [found.id for found in again.conversations.unfinished()] == [turn.turn_id]
    await again.close()


async def test_the_newest_turn_is_the_head_although_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    conversation = await store.conversations.create(ConversationRow(""))
    first = await finished_turn(store, conversation.id, "first", "1")
    await store.close()
    monkeypatch.setattr(Clock, "last", 0)  # as in a new process
    monkeypatch.setattr(time, "time_ns", lambda: 10**18)
    again = Store(tmp_path)
    second = await finished_turn(again, conversation.id, "second", "2")
    assert [turn.id for turn in again.conversations.path(conversation.id, None)] == [first, second]
    await again.close()


async def test_words_are_found_in_messages_and_results(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    call = ToolCall("c1", "look")
    await store.logs.create(
        conversation.id,
        asked("where is the harbour"),
        ModelReplied("", (call,)),
        ToolFinished("c1", "ok", ToolOutput("the quay at Nanaimo")),
        ModelReplied("north"),
        TurnFinished("answered"),
    )
    await until_found(lambda: store.conversations.search("harbour"), "the text to be indexed")
    assert (await store.conversations.search("nanai"))[0].conversation_id == conversation.id
    assert (await store.conversations.search('"; drop')) == []
    assert (await store.conversations.search("  ")) == []


async def test_a_deleted_conversation_leaves_nothing_in_the_file(store: Store, tmp_path: Path) -> None:
    conversation = await store.conversations.create(ConversationRow("", title="zebra-title"))
    turn = await finished_turn(store, conversation.id, "zebra-question", "zebra-answer")
    await store.keep_result(conversation.id, turn, b"zebra-result" * 10_000, "text/plain")
    await until_found(lambda: store.conversations.search("zebra"), "the text to be indexed")
    await store.conversations.delete(conversation.id)
    with pytest.raises(NotFound):
        store.conversations.get(conversation.id)
    await store.close()
    left = [path for path in (tmp_path / "data").rglob("*") if path.is_file() and b"zebra" in path.read_bytes()]
    assert left == []


async def test_closing_waits_for_the_journal_to_be_emptied_although_nobody_else_does(tmp_path: Path) -> None:
    store = Store(tmp_path)
    conversation = await store.conversations.create(ConversationRow("", title="zebra-title"))
    await store.empty_journal()
    reader = sqlite3.connect(tmp_path / "windlass.db", isolation_level=None)
    reader.execute("begin")
    assert reader.execute("select count(*) from conversations").fetchone() == (1,)
    await store.conversations.delete(conversation.id)
    emptying = asyncio.create_task(store.empty_journal())
    await asyncio.sleep(0)
    emptying.cancel()
    asyncio.get_running_loop().call_later(0.2, reader.close)
    await store.close()
    assert b"zebra" not in (tmp_path / "windlass.db").read_bytes()


async def test_results_left_by_a_deletion_that_was_cut_short_are_swept_away(store: Store, tmp_path: Path) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    kept = await store.keep_result(conversation.id, "turn-x", b"kept" * 50_000, "text/plain")
    left = tmp_path / "data" / "blobs" / "conversation-gone"
    left.mkdir()
    (left / "result-1").write_bytes(b"zebra")
    await store.sweep()
    assert not left.exists()
    assert (await store.result(kept)).body == b"kept" * 50_000


async def test_large_results_are_kept_whole_and_read_in_pieces(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    for size in (10, 1_000_000):
        body = bytes(range(256)) * (size // 256 + 1)
        result_id = await store.keep_result(conversation.id, "turn-x", body, "application/octet-stream")
        await store.check()
        assert (await store.result(result_id)).body == body
        piece = await store.result(result_id, offset=5, length=3)
        assert (piece.body, piece.size) == (body[5:8], len(body))
    with pytest.raises(NotFound):
        await store.result("result-none")


async def test_a_toolset_is_kept_once_and_found_after_a_restart(tmp_path: Path) -> None:
    store = Store(tmp_path)
    toolset = Toolset("h1", (ToolSpec("look", "server-1", "look"),))
    store.keep_toolset(toolset)
    store.keep_toolset(toolset)
    await store.close()
    again = Store(tmp_path)
    assert again.toolset("h1") == toolset
    assert again.toolset("") == Toolset()
    with pytest.raises(NotFound):
        again.toolset("h2")
    await again.close()


@pytest.mark.parametrize("size", [10_000, 1_000_000], ids=["in the database", "in a file"])
async def test_whoever_keeps_a_result_hears_that_it_could_not_be_written(store: Store, size: int) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    store._writer._connection.execute("alter table results rename to elsewhere")
    with pytest.raises(Unavailable, match="results"):
        await store.keep_result(conversation.id, "turn-x", b"x" * size, "text/plain")


async def test_a_toolset_that_could_not_be_written_is_written_the_next_time(store: Store) -> None:
    toolset = Toolset("h1", (ToolSpec("look", "server-1", "look", "x" * 100_000),))
    connection = store._writer._connection
    (pages,) = connection.execute("pragma page_count").fetchone()
    connection.execute(f"pragma max_page_count = {pages}")
    store.keep_toolset(toolset)
    with pytest.raises(Unavailable, match="full"):
        await store.conversations.create(ConversationRow("", system_prompt="x" * 100_000))
    connection.execute("pragma max_page_count = 1000000")
    store.keep_toolset(toolset)
    await store.check()
    assert store._connection.execute("select hash from toolsets").fetchall() == [("h1",)]


async def test_only_so_many_toolsets_are_held_in_memory_and_the_rest_read_again(store: Store) -> None:
    for n in range(MOST_TOOLSETS + 10):
        store.keep_toolset(Toolset(f"h{n}", (ToolSpec("look", "server-1", "look"),)))
    await store.check()
    assert len(store._toolsets) == MOST_TOOLSETS
    assert store.toolset("h0").hash == "h0" and len(store._toolsets) == MOST_TOOLSETS


async def test_the_past_of_a_turn_is_its_own_branch(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    first = await finished_turn(store, conversation.id, "one", "1")
    second = await finished_turn(store, conversation.id, "two", "2")
    side = await store.logs.create(conversation.id, asked("other"), TurnFinished("added"), parent_id=first)
    third = await store.logs.create(conversation.id, asked("three"), parent_id=second)
    past = await store.history.before(third.turn_id, "")
    assert [turn.turn_id for turn in past] == [first, second]
    assert [turn.turn_id for turn in await store.history.before(third.turn_id, second)] == [second]
    assert [turn.turn_id for turn in await store.history.before(side.turn_id, "")] == [first]
    assert [turn.id for turn in store.conversations.path(conversation.id)] == [first, second, third.turn_id]


async def test_a_deleted_message_is_gone_from_file_prompt_and_search(store: Store, tmp_path: Path) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    first = await finished_turn(store, conversation.id, "zebra-question", "fine")
    second = await store.logs.create(conversation.id, asked("next"))
    assert len((await store.history.before(second.turn_id, ""))[0].messages) == 2
    await store.conversations.blank(first, 0)
    assert [m.content for m in (await store.history.before(second.turn_id, ""))[0].messages] == ["fine"]
    with pytest.raises(NotFound):
        await store.conversations.blank(first, 0)
    with pytest.raises(NotFound):
        await store.conversations.blank(first, 9)
    await store.close()
    assert not any(b"zebra" in path.read_bytes() for path in (tmp_path / "data").rglob("windlass.db*"))


async def test_one_half_of_a_tool_pair_takes_the_other_along(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    call = ToolCall("c1", "look", '{"at": "zebra"}')
    turn = await store.logs.create(
        conversation.id,
        asked("look"),
        ModelReplied("", (call,)),
        ToolFinished("c1", "ok", ToolOutput("zebra")),
        ModelReplied("seen"),
        TurnFinished("answered"),
    )
    await store.conversations.blank(turn.turn_id, 2)
    later = await store.logs.create(conversation.id, asked("next"), TurnFinished("added"))
    (past,) = await store.history.before(later.turn_id, "")
    assert [message.content for message in past.messages] == ["look", "seen"]
    assert "zebra" not in repr(store.conversations.log(turn.turn_id))


async def test_calls_of_unknown_outcome_are_remembered_for_the_conversation(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    call, other = ToolCall("c1", "send", '{"to": "me"}'), ToolCall("c2", "send")
    await store.logs.create(
        conversation.id,
        asked("send it"),
        ModelReplied("", (call, other)),
        ToolFinished("c1", "unknown"),
        ToolFinished("c2", "ok"),
        TurnFinished("stopped"),
    )
    assert store.conversations.unknown_calls(conversation.id) == [UnknownCall(call)]
    elsewhere = await store.conversations.create(ConversationRow(""))
    assert store.conversations.unknown_calls(elsewhere.id) == []


async def test_lists_are_newest_first_and_go_on_where_a_page_ended(store: Store) -> None:
    made = [await store.conversations.create(ConversationRow("", title=str(n))) for n in range(5)]
    first = store.conversations.recent(limit=2)
    assert [one.conversation.id for one in first] == [made[4].id, made[3].id]
    last = first[-1].conversation
    rest = store.conversations.recent(before=(last.updated_at, last.id))
    assert [one.conversation.id for one in rest] == [made[2].id, made[1].id, made[0].id]


async def test_a_list_says_what_waits_for_a_person(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    turn = await store.logs.create(conversation.id, asked("x"))
    await store.conversations.waits(turn.turn_id, 2, 1)
    (listed,) = store.conversations.recent()
    assert (listed.state, listed.approvals, listed.unknowns) == ("awaiting_person", 2, 1)


async def test_a_full_disk_is_said_plainly_and_passes(store: Store) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    connection = store._writer._connection
    (pages,) = connection.execute("pragma page_count").fetchone()
    connection.execute(f"pragma max_page_count = {pages}")
    big = TurnStarted((ChatMessage("user", "x" * 1_000_000),), Settings())
    with pytest.raises(Unavailable, match="full"):
        await store.logs.create(conversation.id, big)
    connection.execute("pragma max_page_count = 1000000")
    created = await store.logs.create(conversation.id, big)
    assert store.conversations.log(created.turn_id)[0].number == 1


async def test_a_result_of_a_conversation_that_is_gone_is_not_kept(store: Store, tmp_path: Path) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    await store.conversations.delete(conversation.id)
    for size in (10, 1_000_000):
        with pytest.raises(NotFound):
            await store.keep_result(conversation.id, "turn-x", b"z" * size, "text/plain")
    await store.sweep()
    assert not list((tmp_path / "data" / "blobs").iterdir())


async def test_files_of_results_that_are_gone_are_swept_away(store: Store, tmp_path: Path) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    kept = await store.keep_result(conversation.id, "turn-x", b"kept" * 50_000, "text/plain")
    left = tmp_path / "data" / "blobs" / conversation.id / "result-deleted"
    left.write_bytes(b"zebra")
    await store.sweep()
    assert not left.exists()
    assert (await store.result(kept)).body == b"kept" * 50_000


async def test_a_result_that_is_just_being_kept_is_not_swept_away(store: Store, tmp_path: Path) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    async with held(tmp_path / "data"):
        keeping = asyncio.create_task(store.keep_result(conversation.id, "turn-x", b"kept" * 50_000, "text/plain"))
        folder = tmp_path / "data" / "blobs" / conversation.id
        await until(lambda: any(file.stat().st_size for file in folder.glob("*")), "its file")
        await store.sweep()
    assert (await store.result(await keeping)).body == b"kept" * 50_000


async def test_a_deleted_message_is_gone_from_prompts_although_nobody_waited_for_it(
    store: Store, tmp_path: Path
) -> None:
    conversation = await store.conversations.create(ConversationRow(""))
    turn_id = await finished_turn(store, conversation.id, "zebra", "an answer")
    assert "zebra" in str(store.history.up_to(turn_id, conversation.id))
    async with held(tmp_path / "data"):
        blanking = asyncio.create_task(store.conversations.blank(turn_id, 0))
        await turns_of_the_loop()
        blanking.cancel()
        await asyncio.wait([blanking])
    await store.check()
    assert "zebra" not in str(store.conversations.log(turn_id))
    assert "zebra" not in str(store.history.up_to(turn_id, conversation.id))


def open_to_others(folder: Path) -> list[str]:
    return [path.name for path in sorted(folder.rglob("*")) if stat.S_IMODE(path.stat().st_mode) & 0o077]


@pytest.mark.parametrize("left_by", ["nobody", "an earlier edition"])
async def test_f4_what_is_kept_is_private_whatever_the_folders_mode(tmp_path: Path, left_by: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o755)
    before = os.umask(0)
    try:
        if left_by == "an earlier edition":
            (folder / "windlass.db").touch(0o644)
            (folder / "blobs" / "conv-old").mkdir(parents=True, mode=0o755)
            (folder / "blobs" / "conv-old" / "result-old").touch(0o644)
        store = Store(folder)
        await store.conversations.create(ConversationRow("conv-1"))
        await store.keep_result("conv-1", "turn-1", b"x" * 100_000, "text/plain")
        names = {path.name for path in folder.rglob("*")}
        assert {"windlass.db", "windlass.db-wal", "windlass.db-shm", "blobs", "conv-1"} <= names
        assert open_to_others(folder) == []
        store.backup(tmp_path / "copy.db")
        assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
        await store.close()
    finally:
        os.umask(before)
