"""The table of docs/errors.md, and the sums of time that it rests on."""

import asyncio

import pytest

from tests.core.memory import MemoryLog, Script, started
from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import turns_of_the_loop, until
from tests.providers.kit import TOOLS, chat_with, raw_server
from tests.providers.outcomes import PAGE, rows, table, written
from windlass.core.engine import run_turn
from windlass.core.events import ModelFailed, Settings, TurnClaimed, TurnFinished
from windlass.core.ports import TextDelta, Waiting
from windlass.providers.failures import Patience
from windlass.testing import StrictLLM, hang, say


async def test_the_page_of_errors_tells_what_happens(clock: LoopClock) -> None:
    page = PAGE.read_text()
    assert page == written(page, await table(clock)), "run `python -m tests.providers.outcomes`"


@pytest.mark.parametrize(
    ("answer", "attempts", "took_s"),
    [
        ("HTTP 401", 1, 0),
        ("HTTP 429", 4, 7),
        ("HTTP 429, Retry-After: 17", 4, 52),
        ("Z.AI 1113", 1, 0),
        ("nothing at all, and the connection stays open", 1, 240),
        ("silence in the middle of the text", 1, 240),
    ],
)
async def test_the_attempts_and_their_time(clock: LoopClock, answer: str, attempts: int, took_s: float) -> None:
    async with rows() as found:
        seen = await found[answer](clock)
    assert (seen.attempts, round(seen.took_s)) == (attempts, took_s)


async def test_attempts_share_the_time_for_a_first_byte_and_a_hang_is_the_last(clock: LoopClock) -> None:
    asked: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()

    async def answer(writer: asyncio.StreamWriter) -> None:
        await asked.put(writer)
        await asyncio.Event().wait()

    log, rest = MemoryLog(started("Hello", Settings(model="glm-4.7"))), Script(toolset=TOOLS)
    async with raw_server(answer) as base_url, chat_with(base_url, patience=Patience(backoff_s=0)) as chat:
        turn = asyncio.create_task(run_turn(log, chat, rest, rest, rest.emitted.append))
        first = await asked.get()
        clock.jump(200)
        first.write(b"HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        await asked.get()
        clock.jump(38)
        await turns_of_the_loop(3)
        assert not turn.done()
        clock.jump(3)
        await turn
    failures = [event for event in log.events if isinstance(event, ModelFailed)]
    assert [(one.cause, one.retryable, one.first_byte_ms // 10_000) for one in failures] == [
        ("server_error", True, 20),
        ("timeout", False, 4),
    ]
    assert "did not answer within 240 s in all its attempts" in failures[1].message


async def test_the_time_spent_before_a_restart_counts(clock: LoopClock) -> None:
    before = ModelFailed("interrupted", "It broke off.", retryable=True, silence_ms=150_000)
    log = MemoryLog(started("Hello", Settings(model="glm-4.7")), TurnClaimed("another", 1), before)
    rest = Script(toolset=TOOLS)
    async with StrictLLM([say("Half", hang())]) as llm, chat_with(llm.base_url, patience=Patience()) as chat:
        turn = asyncio.create_task(run_turn(log, chat, rest, rest, rest.emitted.append))
        await until(lambda: TextDelta(2, "Half") in rest.emitted, "the first half")
        clock.jump(88)
        await turns_of_the_loop(3)
        assert not turn.done()
        clock.jump(3)
        await turn
    silence = [event for event in rest.emitted if isinstance(event, Waiting) and event.for_ == "silence"]
    assert len(silence) == 1 and silence[0].until and round(silence[0].until - silence[0].since) == 90
    end = log.events[-1]
    assert isinstance(end, TurnFinished) and end.cause == "timeout"
    assert "sent nothing for 240 s in all its attempts" in end.message
