"""A call's time: renewed by progress, standing still for people, never beyond its longest."""

import asyncio

import pytest

from windlass.servers.values import CallDeadline


class Time:
    """Goes on only when told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(asyncio.get_running_loop(), "time", time)
    return time


def end_of(call: CallDeadline) -> float | None:
    """When the call will be ended."""
    assert call._timeout is not None
    return call._timeout.when()


async def test_progress_renews_the_time_up_to_the_longest(time: Time) -> None:
    call = CallDeadline(10, 15)
    async with call.begin():
        assert end_of(call) == 1010
        for now, end in ((1003, 1013), (1009, 1015)):
            time.now = now
            call.renew()
            assert end_of(call) == end


async def test_time_stands_still_until_the_last_question_is_answered(time: Time) -> None:
    call = CallDeadline(10, 20)
    async with call.begin():
        time.now = 1004
        with call.person_answers():
            with call.person_answers():
                assert end_of(call) is None
                call.renew()
            assert end_of(call) is None
            time.now = 1100
        assert end_of(call) == 1106


async def test_a_call_that_ran_out_is_not_revived() -> None:
    call = CallDeadline(0.01, 0.01)
    with pytest.raises(TimeoutError):
        async with call.begin():
            try:
                await asyncio.Event().wait()
            finally:
                call.renew()
                with call.person_answers():
                    pass
