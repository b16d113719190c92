"""Requests a minute: how many are let through, who is told to wait and how long, and what is not counted."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from openai import AsyncOpenAI, RateLimitError

from tests.web.kit import TOKEN, open_site
from windlass.config import LimitSettings
from windlass.testing import StrictLLM, say
from windlass.web.errors import TooMany
from windlass.web.guard import MOST_ADDRESSES, USUAL, Rates


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def passed(rates: Rates, address: str, tries: int) -> int:
    done = 0
    for _ in range(tries):
        try:
            rates.count(address)
        except TooMany:
            continue
        done += 1
    return done


def test_a_minutes_worth_may_come_at_once_and_flows_back_evenly() -> None:
    clock = Clock()
    rates = Rates(60, clock)
    assert passed(rates, "10.0.0.7", 100) == 60
    assert passed(rates, "10.0.0.8", 10) == 10, "another address has its own"
    clock.now += 5
    assert passed(rates, "10.0.0.7", 100) == 5
    clock.now += 3600
    assert passed(rates, "10.0.0.7", 100) == 60


def test_who_sends_too_much_is_told_how_long_to_wait() -> None:
    clock = Clock()
    rates = Rates(6, clock)
    passed(rates, "10.0.0.7", 6)
    with pytest.raises(TooMany) as refused:
        rates.count("10.0.0.7")
    assert refused.value.detail == {"retry_after": 10}
    clock.now += 10
    rates.count("10.0.0.7")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", ""])
def test_this_machine_is_not_limited_unless_the_operator_says_so(address: str) -> None:
    assert passed(Rates(), address, USUAL + 1) == USUAL + 1
    assert passed(Rates(5), address, 10) == 5


def test_another_machine_is_limited_by_default() -> None:
    assert passed(Rates(None, Clock()), "10.0.0.7", USUAL + 1) == USUAL


def test_many_addresses_take_bounded_room() -> None:
    rates = Rates(1, Clock())
    for number in range(MOST_ADDRESSES + 10):
        rates.count(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(rates._left) == MOST_ADDRESSES


async def test_too_many_requests_are_429_with_the_time_to_wait_but_streams_and_files_are_free(
    tmp_path: Path, strict_llm: StrictLLM
) -> None:
    strict_llm.then(say("Hello."))
    async with open_site(tmp_path / "home", strict_llm, limits=LimitSettings(requests_min=3)) as site:
        conversation = await site.conversation()
        await site.post(f"/conversations/{conversation}/chat", {"content": "Hi"})
        refused = await site.call("GET", "/conversations")
        while refused.status == 200:  # on a slow machine one of three has flowed back meanwhile
            refused = await site.call("GET", "/conversations")
        assert (refused.status, refused.code) == (429, "too_many_requests")
        assert 1 <= int(refused.headers["Retry-After"]) <= 20
        async with AsyncOpenAI(api_key=TOKEN, base_url=f"{site.url}/v1", max_retries=0) as client:
            with pytest.raises(RateLimitError) as limited:
                while True:
                    await client.models.list()
        assert int(limited.value.response.headers["Retry-After"]) >= 1
        for path in ("/health", "/docs", "/"):
            assert (await site.call("GET", path)).status == 200
        async with site.events(f"/conversations/{conversation}/events") as events:
            await events.until("turn_finished")
