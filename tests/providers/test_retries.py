"""The wire under the real loop: how often a turn asks, how long it waits, how it ends, what a person reads."""

import pytest

from tests.core.memory import MemoryLog, Script, started
from tests.providers.kit import TOOLS, chat_with
from tests.providers.test_failures import STATUSES, ZAI_CODES
from windlass.core.engine import run_turn
from windlass.core.events import Event, HistoryTrimmed, ModelFailed, ModelReplied, Settings, ToolFinished, TurnFinished
from windlass.core.ports import ReplyReset
from windlass.testing import StrictLLM, call, error, raw_call, raw_chunks, say, stream_error
from windlass.testing.recording import RecordedRequest
from windlass.testing.replies import Scripted

ATTEMPTS = {"context_overflow": 1, "empty_reply": 2}


async def turn(llm: StrictLLM, later: str | None = None) -> tuple[list[Event], Script, TurnFinished]:
    log, rest = MemoryLog(started("Hello", Settings(model="glm-4.7"))), Script(later=later, toolset=TOOLS)
    async with chat_with(llm.base_url, model="glm-4.7") as chat:
        await run_turn(log, chat, rest, rest, rest.emitted.append)
    last = log.events[-1]
    assert isinstance(last, TurnFinished)
    return log.events, rest, last


def failures(log: list[Event]) -> list[ModelFailed]:
    return [event for event in log if isinstance(event, ModelFailed)]


@pytest.mark.parametrize(("code", "status", "cause", "heals", "words"), ZAI_CODES)
@pytest.mark.parametrize("in_stream", [False, True], ids=["as status", "in the stream"])
async def test_a_code_is_retried_only_if_it_can_heal(
    code: str, status: int, cause: str, heals: bool, words: str, in_stream: bool
) -> None:
    def fail(request: RecordedRequest) -> Scripted:
        return stream_error(code, "its own words") if in_stream else error(status, code, "its own words")

    async with StrictLLM(fail, dialect="zai") as llm:
        log, _, end = await turn(llm)
    assert len(llm.requests) == len(failures(log)) == (ATTEMPTS.get(cause, 4) if heals else 1)
    assert (end.outcome, end.cause) == ("failed", cause)
    assert words in end.message
    assert "its own words" in end.message
    assert end.hint


@pytest.mark.parametrize(("status", "cause", "heals"), STATUSES)
async def test_a_status_is_retried_only_if_it_can_heal(status: int, cause: str, heals: bool) -> None:
    async with StrictLLM(lambda request: raw_chunks(b"<h1>no</h1>", status=status)) as llm:
        _, _, end = await turn(llm)
    assert len(llm.requests) == (ATTEMPTS.get(cause, 4) if heals else 1)
    assert (end.outcome, end.cause) == ("failed", cause)
    assert f"HTTP {status}" in end.message


async def test_a_turn_gets_over_a_failure_and_watchers_are_told() -> None:
    script: list[Scripted] = [error(503, None, "busy"), say("Half of").cut_after(400), say("The whole answer.")]
    async with StrictLLM(script) as llm:
        log, rest, end = await turn(llm)
    assert end.outcome == "answered"
    assert [failed.cause for failed in failures(log)] == ["overloaded", "interrupted"]
    assert [event for event in rest.emitted if isinstance(event, ReplyReset)] == [ReplyReset(2), ReplyReset(3)]


@pytest.mark.parametrize(
    ("name", "value"), [("Retry-After-Ms", "60"), ("retry-after-ms", "60"), ("Retry-After", "0.06")]
)
async def test_the_wait_that_was_asked_for_is_kept(name: str, value: str) -> None:
    async with StrictLLM([error(429, "1302", "slow down", {name: value}), say("Hi")], dialect="zai") as llm:
        _, _, end = await turn(llm)
    assert end.outcome == "answered"
    assert llm.requests[1].at - llm.requests[0].at >= 0.06


async def test_a_wait_of_an_hour_ends_the_turn_and_says_when() -> None:
    async with StrictLLM([error(429, "1302", "slow down", {"Retry-After": "3600"})], dialect="zai") as llm:
        _, _, end = await turn(llm)
    assert (end.outcome, end.cause, len(llm.requests)) == ("failed", "rate_limited", 1)
    assert "wait 3600 s, until 2" in end.message


async def test_an_empty_reply_is_asked_for_twice() -> None:
    async with StrictLLM(lambda request: say("")) as llm:
        _, _, end = await turn(llm)
    assert (end.outcome, end.cause, len(llm.requests)) == ("failed", "empty_reply", 2)


async def test_an_overflow_is_tried_again_with_a_shorter_history() -> None:
    script: list[Scripted] = [error(400, "1261", "prompt too long"), say("Hi")]
    async with StrictLLM(script, dialect="zai") as llm:
        log, _, end = await turn(llm, later="turn-7")
    assert (end.outcome, len(llm.requests)) == ("answered", 2)
    assert [event.history_from for event in log if isinstance(event, HistoryTrimmed)] == ["turn-7"]


async def test_a_broken_call_is_told_to_the_model_and_never_run() -> None:
    script: list[Scripted] = [raw_call("get_weather", '{"city": "Os'), say("Never mind.")]

    async with StrictLLM(script) as llm:
        log, _, end = await turn(llm)
    assert end.outcome == "answered"
    replied = next(event for event in log if isinstance(event, ModelReplied))
    assert (replied.calls[0].arguments, replied.calls[0].raw) == ("{}", '{"city": "Os')
    assert replied.calls[0].broken
    assert llm.requests[1].messages[-2]["tool_calls"][0]["function"]["arguments"] == "{}"


async def test_calls_and_answers_go_round_on_glm_with_tools_in_every_request() -> None:
    script: list[Scripted] = [call("get_weather", city="Oslo") + call("get_time"), say("Done.")]
    async with StrictLLM(script, dialect="zai", coding_plan=True) as llm:
        log, _, end = await turn(llm)
    assert (end.outcome, llm.refused) == ("answered", [])
    assert [event.state for event in log if isinstance(event, ToolFinished)] == ["ok", "ok"]
    assert all(request.tool_names == [tool.name for tool in TOOLS.tools] for request in llm.requests)
