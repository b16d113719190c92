"""The limiter: first come, first served; half as many after a refusal; nobody before the pause is over."""

import asyncio

import pytest

from tests.kit.waiting import turns_of_the_loop
from tests.providers.kit import Recorder, ask, chat_with
from windlass.core.errors import ModelError
from windlass.providers.limiter import Limiter
from windlass.testing import StrictLLM, error, say
from windlass.testing.replies import Scripted


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


async def test_a_refusal_halves_what_is_under_way_and_success_wins_it_back() -> None:
    limiter = Limiter(most=8)
    for _ in range(8):
        await limiter.acquire()
    limiter.slow_down(0)
    assert limiter.limit == 4
    for _ in range(30):
        limiter.went_well()
    assert limiter.limit == 8


async def test_one_place_always_remains() -> None:
    limiter = Limiter(most=1)
    await limiter.acquire()
    limiter.slow_down(0)
    limiter.release()
    await asyncio.wait_for(limiter.acquire(), 60)
    assert (limiter.limit, limiter.active) == (1, 1)


async def test_nobody_enters_before_the_pause_is_over() -> None:
    limiter = Limiter(most=50)
    loop = asyncio.get_running_loop()
    due = loop.time() + 0.05
    limiter.slow_down(0.05)
    times: list[float] = []

    async def enter() -> None:
        await limiter.acquire()
        times.append(loop.time())
        limiter.release()

    async with asyncio.TaskGroup() as group:
        for _ in range(50):
            group.create_task(enter())
    assert len(times) == 50
    assert min(times) >= due


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
        async with asyncio.TaskGroup() as group:
            replies = [group.create_task(chat.reply(ask(), Recorder())) for _ in range(50)]
    assert {reply.result().text for reply in replies} == {"ok"}
    assert min(request.at for request in llm.requests[1:]) >= refused_at + 0.08
    assert chat.limiter.limit < 50
