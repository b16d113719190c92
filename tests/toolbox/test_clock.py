"""A turn's time against people's time, told by the order in which clocks run out, not by how long anything took."""

import asyncio

from windlass.toolbox.clock import WorkClock


def rings(clock: WorkClock, limit_s: float) -> asyncio.Event:
    rung = asyncio.Event()
    clock.alarm(limit_s, rung.set)
    return rung


async def test_time_runs_out_while_the_turn_works() -> None:
    clock = WorkClock()
    clock.begun("a")
    assert await rings(clock, 0.01).wait()


async def test_time_stands_still_while_all_that_runs_waits_for_a_person() -> None:
    clock, other = WorkClock(), WorkClock()
    clock.begun("a")
    with clock.asking("a"), clock.asking("a"):
        short = rings(clock, 0.01)
        await rings(other, 0.05).wait()
        assert not short.is_set()
    assert await short.wait()


async def test_time_goes_on_while_another_call_works() -> None:
    clock = WorkClock()
    clock.begun("a")
    with clock.asking("a"):
        clock.begun("b")
        assert await rings(clock, 0.01).wait()


async def test_time_stands_still_again_when_the_other_call_is_over() -> None:
    clock, other = WorkClock(), WorkClock()
    clock.begun("a")
    clock.begun("b")
    with clock.asking("a"):
        clock.over("b")
        short = rings(clock, 0.01)
        await rings(other, 0.05).wait()
        assert not short.is_set()
    assert await short.wait()


async def test_an_alarm_that_is_called_off_stays_silent() -> None:
    clock, rung = WorkClock(), asyncio.Event()
    clock.alarm(0.01, rung.set)()
    await rings(clock, 0.02).wait()
    assert not rung.is_set()
