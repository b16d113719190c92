"""A call's time: renewed by progress, standing still for people, never beyond its longest."""

import asyncio

import pytest

from windlass.servers.flight import Flight


async def end_of(flight: Flight) -> float:
    """How many seconds from now the call will be ended."""
    timeout = flight._timeout
    assert timeout is not None
    when = timeout.when()
    return float("inf") if when is None else when - asyncio.get_running_loop().time()


async def test_progress_renews_the_time_up_to_the_longest() -> None:
    flight = Flight(10, 15)
    async with flight.begin():
        assert await end_of(flight) == pytest.approx(10, abs=0.1)
        flight._end = asyncio.get_running_loop().time() + 4
        flight.renew()
        assert await end_of(flight) == pytest.approx(4, abs=0.1)


async def test_time_stands_still_until_the_last_question_is_answered() -> None:
    flight = Flight(10, 20)
    async with flight.begin():
        with flight.person_answers():
            with flight.person_answers():
                assert await end_of(flight) == float("inf")
                flight.renew()
            assert await end_of(flight) == float("inf")
        assert await end_of(flight) == pytest.approx(10, abs=0.1)


async def test_a_call_that_ran_out_is_not_revived() -> None:
    flight = Flight(0.01, 0.01)
    with pytest.raises(TimeoutError):
        async with flight.begin():
            try:
                await asyncio.sleep(5)
            finally:
                flight.renew()
                with flight.person_answers():
                    pass
