"""A turn's time against people's time, told by the order in which clocks run out, not by how long anything took."""

import asyncio

from windlass.toolbox.clock import WorkClock


async def test_time_runs_out_while_the_turn_works() -> None:
    clock = WorkClock()
    with clock.running("a"):
        await clock.worked(0.01)


async def test_time_stands_still_while_all_that_runs_waits_for_a_person() -> None:
    clock, other = WorkClock(), WorkClock()
    with clock.running("a"), clock.asking("a"), clock.asking("a"):
        short = asyncio.create_task(clock.worked(0.01))
        await other.worked(0.05)
        assert not short.done()
    await short


async def test_time_goes_on_while_another_call_works() -> None:
    clock = WorkClock()
    with clock.running("a"), clock.asking("a"), clock.running("b"):
        await clock.worked(0.01)
