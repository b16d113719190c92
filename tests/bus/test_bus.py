"""Watchers see each event once and in order, whenever they come and however slow they are."""

import asyncio

import pytest

from tests.kit.waiting import turns_of_the_loop
from windlass.bus import Bus, Frame, Watcher
from windlass.bus.bus import MOST_BYTES, MOST_QUEUED
from windlass.core.events import (
    Committed,
    Event,
    ModelReplied,
    Recorded,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnFinished,
    TurnStarted,
)
from windlass.core.messages import ChatMessage
from windlass.core.ports import (
    CallDelta,
    InputNeeded,
    LiveEvent,
    ReasoningDelta,
    ReplyReset,
    ReplySoFar,
    TextDelta,
    ToolProgress,
    Waiting,
)

CONVERSATION = "conv-1"


class Disk:
    """What the store would replay."""

    def __init__(self) -> None:
        self.rows: list[Committed] = []
        self.bus = Bus(lambda conversation, after: [one for one in self.rows if one.rows[0].number > after][:100])

    def commit(self, turn_id: str = "turn-1", event: Event | None = None, body: bytes = b"") -> None:
        row = Recorded(0, len(self.rows) + 1, 0.0, event or TurnStarted((ChatMessage("user", "x"),)), body)
        done = Committed(CONVERSATION, turn_id, None, (row,))
        self.rows.append(done)
        self.bus.committed(done)


@pytest.fixture
def disk() -> Disk:
    return Disk()


def numbers(frames: list[Frame]) -> list[int]:
    return [frame.what.number for frame in frames if isinstance(frame.what, Recorded)]


async def test_a_watcher_gets_what_was_and_then_what_comes(disk: Disk) -> None:
    disk.commit()
    disk.commit()
    watcher = disk.bus.watch(CONVERSATION)
    assert numbers(await watcher.frames()) == [1, 2]
    waiting = asyncio.create_task(watcher.frames())
    await turns_of_the_loop()
    disk.commit()
    assert numbers(await waiting) == [3]


async def test_a_watcher_that_comes_back_goes_on_after_the_last_it_saw(disk: Disk) -> None:
    for _ in range(5):
        disk.commit()
    assert numbers(await disk.bus.watch(CONVERSATION, after=3).frames()) == [4, 5]


async def test_progress_of_a_tool_is_no_reply_and_leaves_nothing_behind(disk: Disk) -> None:
    disk.commit()
    disk.bus.emit(CONVERSATION, "turn-1", ToolProgress("call-1", 1))
    watcher = disk.bus.watch(CONVERSATION, after=1)
    waiting = asyncio.create_task(watcher.frames())
    await turns_of_the_loop()
    assert not waiting.done()
    disk.commit(event=TurnFinished("stopped"))
    disk.bus.emit(CONVERSATION, "turn-1", ToolProgress("call-1", 2))  # it was on its way when the turn was closed
    assert numbers(await waiting) == [2]
    assert disk.bus.so_far(CONVERSATION, None) == []


async def test_a_long_past_comes_in_pieces_without_a_gap(disk: Disk) -> None:
    for _ in range(250):
        disk.commit()
    watcher = disk.bus.watch(CONVERSATION)
    seen: list[int] = []
    while len(seen) < 250:
        seen += numbers(await watcher.frames())
    assert seen == list(range(1, 251))


async def test_a_stalled_watcher_is_brought_up_to_date_from_the_log(disk: Disk) -> None:
    watcher = disk.bus.watch(CONVERSATION)
    disk.commit()
    await watcher.frames()
    idle = asyncio.create_task(watcher.frames())
    await turns_of_the_loop()
    idle.cancel()
    for _ in range(MOST_QUEUED * 3):
        disk.bus.emit(CONVERSATION, "turn-1", TextDelta(1, "x"))
    disk.commit()
    frames = await watcher.frames()
    frames += await watcher.frames()
    assert numbers(frames) == [2]
    assert [frame.what for frame in frames if isinstance(frame.what, ReplySoFar)] == [
        ReplySoFar(1, "x" * MOST_QUEUED * 3, "", ())
    ]


async def stalled(disk: Disk) -> Watcher:
    """Up to date after its first row, and then it reads no more."""
    watcher = disk.bus.watch(CONVERSATION)
    disk.commit()
    await watcher.frames()
    idle = asyncio.create_task(watcher.frames())
    await turns_of_the_loop()
    idle.cancel()
    return watcher


@pytest.mark.parametrize("letter", ["x", "é", "水", "😀"])
async def test_e3_a_stalled_watcher_falls_behind_by_bytes_and_is_brought_up_to_date(disk: Disk, letter: str) -> None:
    watcher = await stalled(disk)
    piece = letter * (MOST_BYTES // 10 // len(letter.encode()))
    for _ in range(30):
        disk.bus.emit(CONVERSATION, "turn-1", TextDelta(1, piece))
        assert watcher.queued_bytes <= MOST_BYTES
    disk.commit()
    frames = [*await watcher.frames(), *await watcher.frames()]
    assert numbers(frames) == [2]
    assert [frame.what for frame in frames[1:]] == [ReplySoFar(1, piece * 30, "", ())]
    assert watcher.queued_bytes == 0


@pytest.mark.parametrize(
    "event",
    [
        ReasoningDelta(1, "x" * MOST_BYTES),
        CallDelta(1, 0, "look", "x" * MOST_BYTES),
        ToolProgress("c1", 1, 2, "x" * MOST_BYTES),
        InputNeeded("c1", "Name?", "x" * MOST_BYTES),
    ],
)
async def test_e3_whatever_is_large_counts(disk: Disk, event: LiveEvent) -> None:
    watcher = await stalled(disk)
    disk.bus.emit(CONVERSATION, "turn-1", TextDelta(1, "x"))
    disk.bus.emit(CONVERSATION, "turn-1", event)
    assert watcher.queued_bytes == 0


async def test_e3_rows_count_by_what_is_stored_of_them(disk: Disk) -> None:
    watcher = await stalled(disk)
    for _ in range(30):
        disk.commit(body=b"x" * (MOST_BYTES // 10))
        assert watcher.queued_bytes <= MOST_BYTES
    assert numbers(await watcher.frames()) == list(range(2, 32))


async def test_e3_one_event_larger_than_the_bound_reaches_who_is_up_to_date(disk: Disk) -> None:
    watcher = await stalled(disk)
    large = TextDelta(1, "x" * 2 * MOST_BYTES)
    disk.bus.emit(CONVERSATION, "turn-1", large)
    assert [frame.what for frame in await watcher.frames()] == [large]


async def test_e3_who_reads_in_time_never_falls_behind(disk: Disk) -> None:
    watcher = await stalled(disk)
    piece = TextDelta(1, "x" * (MOST_BYTES // 2))
    for _ in range(10):
        disk.bus.emit(CONVERSATION, "turn-1", piece)
        assert [frame.what for frame in await watcher.frames()] == [piece]


async def test_only_one_turn_can_be_watched(disk: Disk) -> None:
    disk.commit("turn-1")
    disk.commit("turn-2")
    watcher = disk.bus.watch(CONVERSATION, turn_id="turn-2")
    assert [frame.turn_id for frame in await watcher.frames()] == ["turn-2"]


async def test_who_joins_in_the_middle_of_a_reply_gets_what_was_said_so_far(disk: Disk) -> None:
    disk.commit()
    for heard in (
        TextDelta(1, "broken"),
        ReplyReset(2),
        ReasoningDelta(2, "hm"),
        TextDelta(2, "Hel"),
        TextDelta(2, "lo"),
        CallDelta(2, 0, "look", '{"a"'),
        CallDelta(2, 0, "", ": 1}"),
        ToolProgress("c1", 1, 2),
        InputNeeded("c1", "Your name?", "{}"),
    ):
        disk.bus.emit(CONVERSATION, "turn-1", heard)
    watcher = disk.bus.watch(CONVERSATION)
    frames = [*await watcher.frames(), *await watcher.frames()]
    said = [frame.what for frame in frames[1:]]
    assert said == [
        ReplySoFar(2, "Hello", "hm", (CallDelta(2, 0, "look", '{"a": 1}'),)),
        InputNeeded("c1", "Your name?", "{}"),
        disk.bus.waiting("turn-1"),
    ]


async def test_a_complete_reply_replaces_what_was_said_so_far(disk: Disk) -> None:
    disk.commit()
    disk.bus.emit(CONVERSATION, "turn-1", TextDelta(1, "Hel"))
    disk.commit(event=ModelReplied("Hello"))
    watcher = disk.bus.watch(CONVERSATION)
    assert numbers(await watcher.frames()) == [1, 2]
    idle = asyncio.create_task(watcher.frames())
    await turns_of_the_loop()
    assert not idle.done()
    disk.commit(event=TurnFinished("answered"))
    assert numbers(await idle) == [3]


async def test_a_closed_watcher_is_forgotten(disk: Disk) -> None:
    watcher = disk.bus.watch(CONVERSATION)
    assert disk.bus.watchers == 1
    watcher.close()
    watcher.close()
    assert disk.bus.watchers == 0


async def test_a_listener_hears_its_kind_at_once_and_nothing_else(disk: Disk) -> None:
    heard: list[tuple[str, object]] = []
    disk.bus.listen(ModelReplied, lambda turn_id, reply: heard.append((turn_id, reply.text)))
    disk.bus.listen(TextDelta, lambda turn_id, piece: heard.append((turn_id, piece.text)))
    disk.bus.emit(CONVERSATION, "turn-1", TextDelta(1, "x"))
    disk.bus.emit(CONVERSATION, "turn-1", ReasoningDelta(1, "y"))
    disk.commit(event=ModelReplied("so"))
    disk.commit(event=TurnFinished("answered"))
    assert heard == [("turn-1", "x"), ("turn-1", "so")]


async def test_a_step_rides_along_with_the_next_word(disk: Disk) -> None:
    watcher = await caught_up(disk)
    reading = asyncio.create_task(watcher.frames())
    await turns_of_the_loop()
    disk.commit(event=ModelReplied("so"))
    await turns_of_the_loop()
    assert not reading.done()
    disk.bus.emit(CONVERSATION, "turn-1", TextDelta(1, "far"))
    kinds = [type(frame.what) for frame in await reading]
    assert kinds == [Recorded, TextDelta]


async def test_a_step_without_company_comes_by_itself(disk: Disk) -> None:
    watcher = await caught_up(disk)
    reading = asyncio.create_task(watcher.frames())
    await turns_of_the_loop()
    disk.commit(event=ModelReplied("so"))
    assert numbers(await asyncio.wait_for(reading, 60)) == [2]


async def test_the_end_of_a_turn_is_told_at_once(disk: Disk) -> None:
    watcher = await caught_up(disk)
    reading = asyncio.create_task(watcher.frames())
    await turns_of_the_loop()
    disk.commit(event=TurnFinished("answered"))
    await turns_of_the_loop()
    assert reading.done()


async def caught_up(disk: Disk) -> Watcher:
    disk.commit()
    watcher = disk.bus.watch(CONVERSATION)
    await watcher.frames()
    reading = asyncio.create_task(watcher.frames())
    await turns_of_the_loop()
    reading.cancel()
    return watcher


async def test_who_joins_in_the_middle_of_a_call_hears_how_far_it_is(disk: Disk) -> None:
    disk.commit(event=ToolStarted("c1"))
    for step in (1, 2):
        disk.bus.emit(CONVERSATION, "turn-1", ToolProgress("c1", step, 3))
    watcher = disk.bus.watch(CONVERSATION)
    frames = [*await watcher.frames(), *await watcher.frames()]
    assert [frame.what for frame in frames[1:]] == [ToolProgress("c1", 2, 3)]
    disk.commit(event=ToolFinished("c1", "ok"))
    disk.bus.emit(CONVERSATION, "turn-1", ToolProgress("c1", 3, 3))
    assert disk.bus.so_far(CONVERSATION, None) == []


async def test_what_a_tool_asks_is_told_again_when_its_turn_is_taken_up_and_forgotten_once_answered(
    disk: Disk,
) -> None:
    asked = InputNeeded("c1", "Who?", "{}")
    disk.bus.emit(CONVERSATION, "turn-1", asked)
    watcher = disk.bus.watch(CONVERSATION, unborn=True)
    disk.commit(event=TurnClaimed())
    waiting = disk.bus.waiting("turn-1")
    assert waiting and (waiting.for_, waiting.call_id) == ("person", "c1")
    assert [frame.what for frame in await watcher.frames()][1:] == [asked, waiting]
    disk.bus.answered("turn-1", "c1")
    disk.commit(event=TurnClaimed())
    disk.bus.emit(CONVERSATION, "turn-2", TextDelta(1, "on"))
    frames = [frame.what for frame in await watcher.frames() if not isinstance(frame.what, Waiting)]
    assert frames[1:] == [TextDelta(1, "on")]
