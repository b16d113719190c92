"""Readers of the list: each change once, gathered, and nothing at all while nobody reads."""

import asyncio

from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import turns_of_the_loop
from windlass.bus import Bus, ConversationChanged, Frame
from windlass.bus.bus import MOST_CHANGED
from windlass.bus.changes import GATHER_S


class Listed:
    """A bus whose rows are only counted."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.bus = Bus(lambda conversation, after: [])
        self.bus.show_changes(self._show)

    def _show(self, id: str) -> ConversationChanged | None:
        self.shown.append(id)
        return None if id == "hidden" else ConversationChanged(id, {"id": id})

    async def gather(self, clock: LoopClock) -> None:
        clock.jump(GATHER_S)
        await turns_of_the_loop(3)


def ids(frames: list[Frame]) -> list[str]:
    return [frame.what.id for frame in frames if isinstance(frame.what, ConversationChanged)]


async def test_many_changes_of_one_conversation_are_read_once_for_all_readers(clock: LoopClock) -> None:
    listed = Listed()
    readers = [listed.bus.watch_list(), listed.bus.watch_list("conv-1")]
    for id in ("conv-1", "conv-2", "hidden", "conv-1"):
        listed.bus.changed(id)
    reading = asyncio.create_task(readers[0].frames())
    await listed.gather(clock)
    assert ids(await reading) == ["conv-1", "conv-2"]
    assert ids(readers[1].at_once()) == ["conv-1", "conv-2"]
    assert listed.shown == ["conv-1", "conv-2", "hidden"]


async def test_nothing_is_read_while_nobody_reads_the_list(clock: LoopClock) -> None:
    listed = Listed()
    listed.bus.watch("conv-1")
    listed.bus.watch_list().close()
    listed.bus.changed("conv-1")
    await listed.gather(clock)
    assert listed.shown == []


async def test_a_reader_that_stalls_keeps_the_newest_of_each_and_is_ended_when_they_are_too_many(
    clock: LoopClock,
) -> None:
    listed = Listed()
    slow = listed.bus.watch_list()
    for _ in range(3):
        listed.bus.changed("conv-1")
        await listed.gather(clock)
    assert ids(slow.at_once()) == ["conv-1"]
    for n in range(MOST_CHANGED + 1):
        listed.bus.changed(f"conv-{n}")
    await listed.gather(clock)
    assert slow.ended


async def test_a_reader_that_was_ended_holds_nothing_more(clock: LoopClock) -> None:
    listed = Listed()
    slow = listed.bus.watch_list("conv-1")
    assert slow.at_once() == []
    listed.bus.deleted("conv-1", "turn-1", ["message-1"])
    for n in range(MOST_CHANGED + 1):
        listed.bus.changed(f"conv-{n}")
    await listed.gather(clock)
    assert slow.ended and (slow.at_once(), slow.queued_bytes) == ([], 0)
    listed.bus.deleted("conv-1", "turn-1", ["message-2"])
    await listed.gather(clock)
    assert (slow.at_once(), slow.queued_bytes) == ([], 0)
