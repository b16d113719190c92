"""A file that an older Windlass wrote: everything in it is there afterwards, and a copy of it is kept."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.kit.waiting import until_found
from windlass.core.events import Event, ModelReplied, TurnFinished, TurnStarted
from windlass.core.messages import ChatMessage
from windlass.store import Store
from windlass.store.codec import KIND_OF, encode
from windlass.store.migrations import STEPS

CONVERSATION = "conv-01m7h8g6e2efv935awks4exbhf"
OVER, RUNNING = "turn-01m7h8g61gfkwa8vv5evpghwgb", "turn-01m7h8g61xftyrhptc46t5mkg2"


def asked(text: str) -> TurnStarted:
    return TurnStarted((ChatMessage("user", text),))


def first_format(path: Path) -> None:
    """Two turns whose events stand in turns, as those of two branches do."""
    events: list[tuple[str, int, Event]] = [
        (OVER, 0, asked("where is the harbour")),
        (RUNNING, 0, asked("and the ferry")),
        (OVER, 1, ModelReplied("north")),
        (OVER, 2, TurnFinished("answered")),
    ]
    with closing(sqlite3.connect(path)) as db:
        db.executescript(STEPS[0])
        db.execute("pragma user_version = 1")
        db.execute("insert into conversations values(7, ?, 'Ways', '{}', 0, 1.0, 2.0)", (CONVERSATION,))
        turn = "insert into turns values(?, 7, null, 1, ?, ?, 0, 0, ?, 1.0, 0, 0, 0)"
        db.execute(turn, (OVER, "finished", "answered", "message-1"))
        db.execute(turn, (RUNNING, "running", "", None))
        for number, (turn_id, seq, event) in enumerate(events, 1):
            row = (7, number, turn_id, seq, 1.5, KIND_OF[type(event)], 1, None, encode(event))
            db.execute("insert into events values(?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        db.commit()


async def test_turns_of_the_first_format_are_read_and_go_on(tmp_path: Path) -> None:
    first_format(tmp_path / "windlass.db")
    store = Store(tmp_path)
    logged = [row.event for row in store.conversations.log(OVER)]
    assert logged == [asked("where is the harbour"), ModelReplied("north"), TurnFinished("answered")]
    assert [row.number for row in store.conversations.log(OVER)] == [1, 3, 4]
    assert [turn.id for turn in store.conversations.unfinished()] == [RUNNING]
    assert [done.turn_id for done in store.conversations.events_after(CONVERSATION, 1)] == [RUNNING, OVER, OVER]
    await until_found(lambda: store.conversations.search("harbour"), "the text to be indexed")

    assert await store.logs.append(RUNNING, [ModelReplied("at noon"), TurnFinished("answered")])
    await store.close()
    again = Store(tmp_path)
    assert [row.number for row in again.conversations.log(RUNNING)] == [2, 5, 6]
    assert again.conversations.unfinished() == []
    await again.close()


async def test_a_client_message_of_the_first_format_still_gives_its_turn(tmp_path: Path) -> None:
    first_format(tmp_path / "windlass.db")
    store = Store(tmp_path)
    again = TurnStarted(asked("where is the harbour").opening, client_message_id="message-1")
    created = await store.logs.create(CONVERSATION, again)
    assert (created.turn_id, created.is_new) == (OVER, False)
    await store.close()


async def test_a_copy_of_the_file_as_it_was_is_kept(tmp_path: Path) -> None:
    first_format(tmp_path / "windlass.db")
    await Store(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "windlass.v1.bak")) as copy:
        assert copy.execute("pragma user_version").fetchone() == (1,)
        assert copy.execute("select count(*) from events where turn_id = ?", (OVER,)).fetchone() == (3,)
