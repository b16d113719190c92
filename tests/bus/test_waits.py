"""What turns wait for: announced when it lasts, once, and again where another event took it from the screen."""

import time

import pytest

from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import turns_of_the_loop
from windlass.bus.waits import NAMED_AFTER_S, Waits
from windlass.core.ports import InputNeeded, ToolProgress, Waiting


class Announced:
    def __init__(self) -> None:
        self.found: list[tuple[str, Waiting]] = []
        self.waits = Waits(lambda conversation_id, turn_id, waiting: self.found.append((turn_id, waiting)))

    def begin(self, waiting: Waiting, turn_id: str = "turn-1") -> Waiting:
        self.waits.begin("conv-1", turn_id, waiting)
        return waiting

    def kinds(self) -> list[str]:
        return [waiting.for_ for _, waiting in self.found]

    async def pass_time(self, clock: LoopClock, seconds: float) -> None:
        clock.jump(seconds)
        await turns_of_the_loop(3)


def tool(call_id: str, since: float = 0) -> Waiting:
    return Waiting("tool", since or time.time(), server="files", call_id=call_id)


async def test_a_wait_that_is_over_at_once_is_not_announced(clock: LoopClock) -> None:
    heard = Announced()
    for _ in range(3):
        heard.begin(Waiting("first_token", time.time()))
        assert heard.waits.current("turn-1")
        heard.waits.over("turn-1")
        await heard.pass_time(clock, NAMED_AFTER_S)
    assert heard.found == []
    assert heard.waits.current("turn-1") is None and "turn-1" not in heard.waits


async def test_each_wait_is_announced_once_when_it_has_lasted(clock: LoopClock) -> None:
    heard = Announced()
    first = heard.begin(Waiting("first_token", time.time()))
    await heard.pass_time(clock, 2)
    second = heard.begin(Waiting("slot", time.time(), ahead=1), "turn-2")
    await heard.pass_time(clock, NAMED_AFTER_S - 2)
    assert heard.found == [("turn-1", first)]
    await heard.pass_time(clock, 2)
    await heard.pass_time(clock, 60)
    assert heard.found == [("turn-1", first), ("turn-2", second)]
    assert list(heard.waits.announced("conv-1", None)) == heard.found
    assert list(heard.waits.announced("conv-2", None)) == []


@pytest.mark.parametrize(
    ("waiting", "at_once"),
    [
        (Waiting("person", 0), True),
        (Waiting("rate_limit", 0, time.time() + 3600), True),
        (Waiting("rate_limit", 0, 1), False),
        (Waiting("slot", 0, ahead=3), False),
    ],
)
async def test_what_is_known_to_last_is_announced_at_once(waiting: Waiting, at_once: bool) -> None:
    heard = Announced()
    heard.begin(waiting)
    assert bool(heard.found) == at_once


async def test_what_follows_an_announced_wait_is_announced_too(clock: LoopClock) -> None:
    heard = Announced()
    heard.begin(Waiting("rate_limit", 0, time.time() + 3600))
    heard.begin(Waiting("slot", time.time(), ahead=2))
    assert heard.kinds() == ["rate_limit", "slot"]


async def test_of_several_calls_the_oldest_is_named_and_named_again_after_another_ended(clock: LoopClock) -> None:
    heard = Announced()
    heard.begin(tool("a", 1))
    heard.begin(tool("b", 2))
    await heard.pass_time(clock, NAMED_AFTER_S)
    assert [waiting.call_id for _, waiting in heard.found] == ["a"]
    heard.waits.over("turn-1", "b")
    await turns_of_the_loop()
    assert [waiting.call_id for _, waiting in heard.found] == ["a", "a"]


async def test_progress_begins_the_wait_for_a_call_again(clock: LoopClock) -> None:
    heard = Announced()
    began = Waiting("tool", 1000.0, 1120.0, call_id="a")
    heard.begin(began)
    await heard.pass_time(clock, 2)
    heard.waits.progressed("turn-1", ToolProgress("a", 1))
    await heard.pass_time(clock, 2)
    assert heard.found == []
    renewed = heard.waits.current("turn-1")
    assert renewed and renewed.until and renewed.since > began.since and renewed.until - renewed.since == 120
    await heard.pass_time(clock, 2)
    assert heard.found == [("turn-1", renewed)]


async def test_a_question_to_a_person_comes_before_all_else_until_it_is_answered(clock: LoopClock) -> None:
    heard = Announced()
    heard.begin(tool("a", 1))
    heard.begin(tool("b", 2))
    heard.waits.asked("conv-1", "turn-1", InputNeeded("b", "Who?", "{}"))
    asked = heard.waits.current("turn-1")
    assert asked and (asked.for_, asked.call_id, asked.server) == ("person", "b", "files")
    heard.waits.answered("turn-1", "b")
    assert heard.kinds() == ["person"]
    now = heard.waits.current("turn-1")
    assert now and (now.for_, now.call_id) == ("tool", "a")


async def test_a_turn_that_is_over_waits_for_nothing(clock: LoopClock) -> None:
    heard = Announced()
    heard.begin(tool("a"))
    heard.begin(Waiting("first_token", time.time()))
    heard.waits.forget("turn-1")
    await heard.pass_time(clock, NAMED_AFTER_S)
    assert heard.found == [] and heard.waits.current("turn-1") is None
