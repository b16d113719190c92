"""The limiter: the oldest first; fewer after a refusal, more again with time; nobody before the pause is over."""

import asyncio

import pytest

from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import turns_of_the_loop
from tests.providers.kit import Recorder, ask, chat_with
from windlass.core.errors import ModelError
from windlass.providers.limiter import AFTER_PAUSE, CALM_S, MOST, Limiter
from windlass.testing import StrictLLM, error, say
from windlass.testing.replies import Scripted


async def occupied(limiter: Limiter, count: int) -> float:
    """So many calls are under way; gives when the last was sent."""
    return [await limiter.acquire() for _ in range(count)][-1]


async def entering(limiter: Limiter, order: str, entered: list[str]) -> None:
    await limiter.acquire(order)
    entered.append(order)


async def test_places_are_given_in_the_order_they_were_asked_for() -> None:
    limiter = Limiter(most=1)
    await limiter.acquire()
    order: list[int] = []

    async def enter(number: int) -> None:
        await limiter.acquire()
        order.append(number)
        limiter.release()

    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(enter(number))
        await turns_of_the_loop()
        assert order == []
        limiter.release()
    assert order == [0, 1, 2]
    assert limiter.active == 0


async def test_a_turn_that_was_refused_goes_before_those_that_came_later() -> None:
    limiter, entered = Limiter(most=1), list[str]()
    await limiter.acquire()
    async with asyncio.TaskGroup() as group:
        for order in ("turn-2", "turn-3", "turn-1"):
            group.create_task(entering(limiter, order, entered))
            await turns_of_the_loop()
        for _ in range(3):
            limiter.release()
            await turns_of_the_loop()
    assert entered == ["turn-1", "turn-2", "turn-3"]


async def test_a_refusal_halves_what_is_under_way_and_calm_wins_it_back(clock: LoopClock) -> None:
    limiter = Limiter(most=8)
    limiter.refused(await occupied(limiter, 8), 0)
    assert limiter.limit == 4
    clock.jump(CALM_S)
    assert limiter.limit == 5
    for _ in range(8):
        limiter.accepted()
    assert limiter.limit == 8


async def test_one_refusal_of_a_lone_call_does_not_hold_up_the_others(clock: LoopClock) -> None:
    limiter = Limiter()
    limiter.refused(await occupied(limiter, 1), 0)
    limiter.release()
    assert limiter.limit == AFTER_PAUSE
    for _ in range(MOST):
        limiter.accepted()
    assert limiter.limit == MOST


async def test_of_calls_refused_together_as_many_remain_as_were_accepted() -> None:
    limiter = Limiter()
    sent_at = await occupied(limiter, 20)
    for _ in range(15):
        limiter.refused(sent_at, 0)
        limiter.release()
    assert (limiter.limit, limiter.active) == (5, 5)


async def test_a_call_that_never_ends_holds_the_only_slot_for_a_while_and_longer_after_each_vain_try(
    clock: LoopClock,
) -> None:
    limiter, entered = Limiter(), list[str]()
    limiter.refused(await occupied(limiter, 2), 0)
    limiter.release()
    assert (limiter.limit, limiter.active) == (1, 1)
    for calm_s in (CALM_S, 2 * CALM_S):
        waiter = asyncio.create_task(entering(limiter, "turn-2", entered))
        await turns_of_the_loop()
        clock.jump(calm_s - 1)
        await turns_of_the_loop(2)
        assert entered == []
        clock.jump(2)
        await waiter
        assert entered.pop() == "turn-2"
        limiter.refused(asyncio.get_running_loop().time(), 0)
        limiter.release()
        assert limiter.limit == 1


async def test_one_place_always_remains() -> None:
    limiter = Limiter(most=1)
    limiter.refused(await occupied(limiter, 1), 0)
    limiter.release()
    await asyncio.wait_for(limiter.acquire(), 60)
    assert (limiter.limit, limiter.active) == (1, 1)


async def test_nobody_enters_before_the_pause_is_over_and_each_hears_its_place(clock: LoopClock) -> None:
    limiter, entered = Limiter(most=50), list[str]()
    told: dict[int, list[tuple[int, int]]] = {number: [] for number in range(3)}
    limiter.refused(await occupied(limiter, 1), 17)
    limiter.release()

    async def enter(number: int) -> None:
        await limiter.acquire(str(number), lambda ahead, pause: told[number].append((ahead, round(pause))))
        entered.append(str(number))

    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(enter(number))
        await turns_of_the_loop()
        clock.jump(16)
        await turns_of_the_loop(2)
        assert entered == []
        clock.jump(1.1)
    assert entered == ["0", "1", "2"]
    assert told == {0: [(0, 17)], 1: [(1, 17)], 2: [(2, 17)]}


@pytest.mark.parametrize("granted", [False, True])
async def test_a_cancelled_waiter_keeps_no_place(granted: bool) -> None:
    limiter = Limiter(most=1)
    await limiter.acquire()
    waiter = asyncio.create_task(limiter.acquire())
    await turns_of_the_loop()
    if granted:
        limiter.release()
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    if not granted:
        limiter.release()
    assert limiter.active == 0
    await asyncio.wait_for(limiter.acquire(), 60)


async def test_fifty_turns_do_not_come_back_as_one() -> None:
    script: list[Scripted] = [say("ok") for _ in range(50)]
    script.insert(0, error(429, "1302", "slow down", {"Retry-After-Ms": "80"}))
    async with StrictLLM(script, dialect="zai") as llm, chat_with(llm.base_url, model="glm-4.7") as chat:
        with pytest.raises(ModelError) as caught:
            await chat.reply(ask(), Recorder())
        assert caught.value.wait_s >= 0.08
        refused_at = llm.requests[0].at
        recorders = [Recorder() for _ in range(50)]
        async with asyncio.TaskGroup() as group:
            replies = [group.create_task(chat.reply(ask(), recorder)) for recorder in recorders]
    assert {reply.result().text for reply in replies} == {"ok"}
    assert min(request.at for request in llm.requests[1:]) >= refused_at + 0.08
    assert all(recorder.waits[0].for_ == "rate_limit" for recorder in recorders)
