"""The loop, driven on a log in memory."""

import asyncio
from collections.abc import Sequence

import pytest

from tests.core.memory import MemoryLog, Script, says, started
from tests.kit.waiting import turns_of_the_loop
from windlass.core.engine import run_turn
from windlass.core.errors import Fenced, ModelError, ToolError
from windlass.core.events import (
    CallDecided,
    CallJudged,
    CallResolved,
    Event,
    HistoryTrimmed,
    Limits,
    ModelFailed,
    ModelReplied,
    Settings,
    StopRequested,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnFinished,
)
from windlass.core.fold import LIMIT_TEXTS
from windlass.core.messages import SourceLink, ToolCall, ToolOutput
from windlass.core.ports import Emit, Reply, ReplyReset, Waiting
from windlass.core.steps import AwaitPerson, Done


async def drive(log: MemoryLog, script: Script) -> AwaitPerson | Done:
    return await run_turn(log, script, script, script, script.emitted.append)


def finished(log: MemoryLog) -> dict[str, ToolFinished]:
    return {event.call_id: event for event in log.events if isinstance(event, ToolFinished)}


def outcome(log: MemoryLog) -> TurnFinished:
    last = log.events[-1]
    assert isinstance(last, TurnFinished)
    return last


async def test_a_turn_without_tools_is_one_reply() -> None:
    log, script = MemoryLog(), Script([says("hi")])
    step = await drive(log, script)
    assert step == Done(TurnFinished("answered"))
    assert [type(event).__name__ for event in log.events[1:]] == ["TurnClaimed", "ModelReplied", "TurnFinished"]


async def test_calls_of_one_reply_overlap_and_their_results_go_back() -> None:
    log = MemoryLog()
    both = asyncio.Barrier(2)

    async def meet() -> ToolOutput:
        await both.wait()
        return ToolOutput("met")

    script = Script([says("", "a", "b"), says("done")], tool=lambda call, emit: asyncio.ensure_future(meet()))
    await drive(log, script)
    assert outcome(log).outcome == "answered"
    results = [message.content or "" for message in script.asked[1].prompt.current if message.role == "tool"]
    assert [result.split("\n")[1] for result in results] == ["met", "met"]


async def test_all_starts_are_on_the_log_before_any_call_is_sent() -> None:
    log = MemoryLog()
    seen: list[int] = []

    def look(call: ToolCall, emit: Emit) -> ToolOutput:
        seen.append(sum(isinstance(event, ToolStarted) for event in log.events))
        return ToolOutput("")

    await drive(log, Script([says("", "a", "b", "c"), says("done")], tool=look))
    assert seen == [3, 3, 3]


@pytest.mark.parametrize(
    ("error", "safe", "state", "cause"),
    [
        (ToolError("it broke"), False, "error", "tool_error"),
        (ToolError("gave up", cause="timeout", sent=True), False, "unknown", "timeout"),
        (ToolError("gave up", cause="timeout", sent=True), True, "error", "timeout"),
        (ToolError("never left", cause="not_running"), False, "error", "not_running"),
        (ZeroDivisionError("by zero"), False, "error", "tool_error"),
    ],
)
async def test_a_tool_may_fail_in_any_way_and_the_turn_goes_on(
    error: Exception, safe: bool, state: str, cause: str
) -> None:
    log = MemoryLog()
    script = Script(
        [says("", "a"), says("done")],
        judge_as=lambda call: CallJudged(call.id, "auto", safe=safe),
        tool=lambda call, emit: error,
    )
    await drive(log, script)
    (end,) = finished(log).values()
    assert (end.state, end.cause) == (state, cause)
    assert str(error) in end.output.text
    assert outcome(log).outcome == "answered"


async def test_a_result_that_says_it_failed_is_an_error() -> None:
    log = MemoryLog()
    await drive(log, Script([says("", "a"), says("done")], tool=lambda call, emit: ToolOutput("no", failed=True)))
    (end,) = finished(log).values()
    assert (end.state, end.output.text) == ("error", "no")


async def test_a_retryable_failure_is_tried_again_and_watchers_are_told() -> None:
    log = MemoryLog()
    script = Script([ModelError("busy", "503", retryable=True, partial="Hal"), says("hi")])
    await drive(log, script)
    assert ReplyReset(2) in script.emitted
    assert any(isinstance(event, ModelFailed) and event.partial == "Hal" for event in log.events)
    assert outcome(log).outcome == "answered"


async def test_a_pause_says_what_it_is_for_and_each_attempt_knows_those_before_it() -> None:
    refused = ModelError("rate_limited", "429", retryable=True, wait_s=0.001)
    refused.host, refused.model, refused.first_byte_s = "api.z.ai", "glm-4.7", 1.5
    cut = ModelError("interrupted", "cut", retryable=True)
    log, script = MemoryLog(), Script([refused, cut, says("hi")])
    await drive(log, script)
    pauses = [event for event in script.emitted if isinstance(event, Waiting)]
    assert [(one.for_, one.host, one.model, one.attempt, one.attempts) for one in pauses] == [
        ("rate_limit", "api.z.ai", "glm-4.7", 1, 3),
        ("first_token", "", "", 2, 3),
    ]
    assert pauses[0].until and pauses[0].until - pauses[0].since == pytest.approx(0.001, abs=1e-4)
    failures = [[(one.cause, one.first_byte_ms) for one in request.failures] for request in script.asked]
    assert failures == [[], [("rate_limited", 1500)], [("rate_limited", 1500), ("interrupted", 0)]]


async def test_a_fallback_begins_without_a_pause_and_with_a_time_of_its_own() -> None:
    settings = Settings("zai", "glm-4.7", fallback=(("other", "m2"),))
    log, script = MemoryLog(started(settings=settings)), Script([ModelError("auth", "no key"), says("hi")])
    await drive(log, script)
    assert not [event for event in script.emitted if isinstance(event, Waiting)]
    assert [request.failures for request in script.asked] == [(), ()]


async def test_a_failure_that_cannot_heal_ends_the_turn_with_its_cause() -> None:
    log = MemoryLog()
    await drive(log, Script([ModelError("key_refused", "The key was refused.", hint="Check the key.")]))
    assert outcome(log) == TurnFinished("failed", "key_refused", "The key was refused.", "Check the key.")


async def test_four_attempts_are_made_and_no_more() -> None:
    log = MemoryLog()
    script = Script([ModelError("busy", "503", retryable=True) for _ in range(9)])
    await drive(log, script)
    assert (len(script.asked), outcome(log).cause) == (4, "busy")


async def test_an_empty_reply_is_retried_once_then_fails() -> None:
    log, script = MemoryLog(), Script([says(""), says(""), says("late")])
    await drive(log, script)
    assert (len(script.asked), outcome(log).cause) == (2, "empty_reply")


async def test_a_context_overflow_trims_the_history_and_asks_again() -> None:
    log = MemoryLog()
    script = Script([ModelError("context_overflow", "too long", retryable=True), says("hi")], later="turn-5")
    await drive(log, script)
    assert any(isinstance(event, HistoryTrimmed) for event in log.events)
    assert script.asked[1].prompt.past[0].messages[0].content == "earlier, from turn-5"
    assert outcome(log).outcome == "answered"


async def test_a_context_overflow_with_nothing_left_to_trim_fails() -> None:
    log = MemoryLog()
    await drive(log, Script([ModelError("context_overflow", "too long", retryable=True)]))
    assert outcome(log).cause == "context_overflow"


async def test_a_search_that_was_asked_for_is_run_even_if_the_model_only_talks() -> None:
    log = MemoryLog(started("weather", Settings(search="due", query="weather")))
    script = Script([says("I'll search..."), says("12 degrees")])
    await drive(log, script)
    assert [(call.name, call.arguments) for call in script.ran] == [("web_search", '{"query": "weather"}')]
    assert [event.text for event in log.events if isinstance(event, ModelReplied)] == ["I'll search...", "12 degrees"]


async def test_a_search_is_not_forced_when_the_provider_searched_or_the_model_did() -> None:
    due = Settings(search="due", query="q")
    own = Script([Reply("found", sources=(SourceLink("t", "https://a.example"),))])
    await drive(MemoryLog(started("q", due)), own)
    asked = Script([says("", "web_search"), says("found")])
    await drive(MemoryLog(started("q", due)), asked)
    assert (len(own.ran), len(asked.ran)) == (0, 1)


async def test_a_reply_that_only_announces_a_search_is_asked_for_again_and_then_must_be_an_answer() -> None:
    log = MemoryLog(started("weather", Settings(search="due", query="weather")))
    script = Script(
        [says("", "web_search"), says("Let me search again."), says("I'll look it up."), says("12 degrees")]
    )
    await drive(log, script)
    assert [reply.promised for reply in log.events if isinstance(reply, ModelReplied)] == [False, True, True, False]
    assert [request.prompt.choice for request in script.asked] == ["auto", "auto", "auto", "none"]
    assert [message.role for message in script.asked[2].prompt.current] == [
        *("user", "assistant", "tool", "assistant", "user"),
    ]
    assert outcome(log).outcome == "answered"


async def test_a_model_that_only_announces_searches_ends_at_the_limit_with_no_answer() -> None:
    log = MemoryLog(started("weather", Settings(search="due", query="weather")))
    script = Script([says("", "web_search"), *(says("Let me search again.") for _ in range(3))])
    await drive(log, script)
    assert (outcome(log).outcome, outcome(log).cause) == ("limit", "promises")


async def test_a_finish_without_its_call_is_made_up_for_by_the_search_that_is_due_and_else_a_failure() -> None:
    missing = ModelError("missing_call", "no call came", partial="I'll search.")
    due = Script([missing, says("12 degrees")])
    await drive(log := MemoryLog(started("weather", Settings(search="due", query="weather"))), due)
    assert (len(due.ran), outcome(log).outcome) == (1, "answered")
    await drive(log := MemoryLog(), Script([missing]))
    assert outcome(log).cause == "missing_call"


async def test_ten_rounds_then_the_forced_answer_with_the_same_tools() -> None:
    log = MemoryLog()
    script = Script([*(says("", "a") for _ in range(10)), says("what I have")])
    script.tool = lambda call, emit: ToolOutput(call.id)
    await drive(log, script)
    assert len(script.ran) == 10
    assert [request.prompt.choice for request in script.asked] == ["auto"] * 10 + ["none"]
    assert (outcome(log).outcome, outcome(log).cause) == ("limit", "rounds")


async def test_calls_returned_to_a_forced_request_are_closed_unrun() -> None:
    log = MemoryLog(started("x", Settings(limits=Limits(rounds=2))))
    script = Script([says("", "a"), says("", "b"), says("more", "c"), says("what I have")])
    await drive(log, script)
    assert [call.name for call in script.ran] == ["a", "b"]
    assert [end.state for end in finished(log).values()] == ["ok", "ok", "cancelled"]
    assert outcome(log) == TurnFinished("limit", "rounds", LIMIT_TEXTS["rounds"].ended)


async def test_the_last_request_offers_no_tools_and_tells_of_calls_in_plain_text() -> None:
    log = MemoryLog(started("x", Settings(limits=Limits(rounds=2))))
    script = Script([says("", "a"), says("", "b"), says("more", "c"), says("what I have")])
    await drive(log, script)
    last = script.asked[-1].prompt
    assert (last.offers, last.choice, last.past) == (False, "none", ())
    assert not any(message.calls or message.role == "tool" for message in last.current)
    talk = [(message.role, (message.content or "").partition("\n")[0]) for message in last.current]
    assert talk == [
        ("user", "earlier, from the start"),
        ("user", "x"),
        ("assistant", "[Called a with {}]"),
        ("user", "Result of a:"),
        ("assistant", "[Called b with {}]"),
        ("user", "Result of b:"),
        ("assistant", "more"),
        ("user", "Result of c:"),
    ]
    assert (last.current[-1].content or "").endswith(LIMIT_TEXTS["rounds"].answer_now)


async def test_calls_beyond_the_limit_of_calls_are_refused() -> None:
    log = MemoryLog(started("x", Settings(limits=Limits(calls=2))))
    script = Script([says("", "a", "b", "c"), says("enough")])
    await drive(log, script)
    assert [end.state for end in finished(log).values()] == ["error", "ok", "ok"]
    assert outcome(log).cause == "calls"


async def test_a_call_that_asks_waits_for_a_person_and_no_task_is_left() -> None:
    log = MemoryLog()
    script = Script([says("", "a"), says("done")], judge_as=lambda call: CallJudged(call.id, "ask", "rule 1"))
    step = await drive(log, script)
    assert step == AwaitPerson(("call_x_1_0",), ())
    log.add(CallDecided("call_x_1_0", allow=True, arguments='{"b": 1}'))
    assert await drive(log, script) == Done(TurnFinished("answered"))
    assert [call.arguments for call in script.ran] == ['{"b": 1}']


async def test_looking_at_a_turn_that_waits_or_is_done_does_not_claim_it() -> None:
    waiting = MemoryLog()
    script = Script([says("", "a")], judge_as=lambda call: CallJudged(call.id, "ask"))
    await drive(waiting, script)
    before = len(waiting.events)
    await drive(waiting, script)
    assert len(waiting.events) == before


async def test_an_approved_call_starts_while_others_run() -> None:
    log = MemoryLog()
    gate = asyncio.Event()

    async def slow() -> ToolOutput:
        await gate.wait()
        return ToolOutput("slow")

    script = Script(
        [says("", "slow", "asks"), says("done")],
        judge_as=lambda call: CallJudged(call.id, "ask" if call.name == "asks" else "auto"),
        tool=lambda call, emit: asyncio.ensure_future(slow()) if call.name == "slow" else ToolOutput("quick"),
    )
    task = asyncio.create_task(drive(log, script))
    await log.until(lambda events: any(isinstance(event, ToolStarted) for event in events))
    log.add(CallDecided("call_x_1_1", allow=True))
    await log.until(lambda events: any(isinstance(event, ToolFinished) for event in events))
    assert finished(log).keys() == {"call_x_1_1"}
    gate.set()
    await task


async def test_a_stop_closes_running_calls_and_the_turn_in_one_append() -> None:
    log = MemoryLog()
    cancelled = asyncio.Event()
    under_way = asyncio.Barrier(3)

    async def never() -> ToolOutput:
        await under_way.wait()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return ToolOutput("")

    script = Script(
        [says("", "unsafe", "safe", "asks")],
        judge_as=lambda call: CallJudged(call.id, "ask" if call.name == "asks" else "auto", safe=call.name == "safe"),
        tool=lambda call, emit: asyncio.ensure_future(never()),
    )
    task = asyncio.create_task(drive(log, script))
    await under_way.wait()
    log.add(StopRequested())
    await task
    ends = list(finished(log).values())
    assert [end.state for end in ends] == ["unknown", "cancelled", "cancelled"]
    assert ["not run" in end.output.text for end in ends] == [False, False, True], "what ran is not denied"
    assert outcome(log).outcome == "stopped"
    assert cancelled.is_set()


async def test_a_stop_does_not_wait_for_the_model() -> None:
    log, script = MemoryLog(), Script(hangs=True)
    task = asyncio.create_task(drive(log, script))
    await log.until(lambda events: isinstance(events[-1], TurnClaimed))
    log.add(StopRequested())
    await task
    assert outcome(log).outcome == "stopped"


async def test_a_word_that_changes_nothing_does_not_ask_the_model_twice() -> None:
    log, script = MemoryLog(), Script(hangs=True)
    task = asyncio.create_task(drive(log, script))
    await log.until(lambda events: isinstance(events[-1], TurnClaimed))
    log.add(StopRequested(call_id="no such call"))
    await turns_of_the_loop(5)
    log.add(StopRequested())
    await task
    assert len(script.asked) == 1


async def test_one_call_can_be_stopped_and_the_turn_goes_on() -> None:
    log = MemoryLog()
    script = Script(
        [says("", "hangs", "works"), says("done")],
        tool=lambda call, emit: (
            asyncio.get_running_loop().create_future() if call.name == "hangs" else ToolOutput("worked")
        ),
    )
    task = asyncio.create_task(drive(log, script))
    await log.until(lambda events: any(isinstance(event, ToolFinished) for event in events))
    log.add(StopRequested(call_id="call_x_1_0"))
    await task
    assert {end.state for end in finished(log).values()} == {"ok", "unknown"}
    assert outcome(log).outcome == "answered"


async def test_a_turn_that_works_too_long_fails_with_that_cause() -> None:
    log = MemoryLog(started("x", Settings(limits=Limits(work_s=0))))
    await drive(log, Script(hangs=True))
    assert (outcome(log).outcome, outcome(log).cause) == ("failed", "turn_timeout")


async def test_a_driver_whose_claim_is_old_stops_at_once() -> None:
    log = MemoryLog()

    def taken_over(call: ToolCall, emit: Emit) -> ToolOutput:
        log.fence += 1
        return ToolOutput("")

    with pytest.raises(Fenced):
        await drive(log, Script([says("", "a")], tool=taken_over))
    assert not finished(log)


@pytest.mark.parametrize(("how", "state", "runs"), [("retry", "ok", 1), ("done", "ok", 0), ("skip", "unknown", 0)])
async def test_an_unsafe_interrupted_call_is_reported_not_repeated(how: str, state: str, runs: int) -> None:
    call = ToolCall("call_x_1_0", "send")
    before: list[Event] = [
        started(),
        ModelReplied("", (call,)),
        CallJudged(call.id, "auto"),
        ToolStarted(call.id),
    ]
    log, script = MemoryLog(*before), Script([says("done")])
    assert await drive(log, script) == AwaitPerson((), (call.id,))
    log.add(CallResolved(call.id, how))  # type: ignore[arg-type]
    await drive(log, script)
    assert (finished(log)[call.id].state, len(script.ran)) == (state, runs)


async def test_a_safe_interrupted_call_runs_again_by_itself() -> None:
    call = ToolCall("call_x_1_0", "read")
    log = MemoryLog(
        started(), ModelReplied("", (call,)), CallJudged(call.id, "auto", safe=True), ToolStarted(call.id, safe=True)
    )
    script = Script([says("done")])
    await drive(log, script)
    assert (finished(log)[call.id].state, len(script.ran)) == ("ok", 1)


async def test_three_claims_without_progress_end_the_turn() -> None:
    log = MemoryLog(started(), TurnClaimed("a"), TurnClaimed("b"), TurnClaimed("c"))
    await drive(log, Script([says("never asked")]))
    assert (outcome(log).outcome, outcome(log).cause) == ("failed", "crashed")


async def test_a_driver_that_claims_again_has_not_gone_down() -> None:
    log = MemoryLog(started(), *[TurnClaimed("a")] * 9)
    await drive(log, Script([says("Here.")]))
    assert outcome(log).outcome == "answered"


async def test_an_intent_decided_on_an_old_log_is_decided_again() -> None:
    """A stop lands while the starts are being written: nothing is sent."""
    log = MemoryLog()
    script = Script([says("", "a")])
    original = log.begin

    def interrupted(seen: int, *intents: Event, facts: Sequence[Event] = ()) -> "asyncio.Future[bool]":
        if isinstance(intents[0], ToolStarted):
            log.add(StopRequested())
        return original(seen, *intents, facts=facts)

    log.begin = interrupted  # type: ignore[method-assign]
    await drive(log, script)
    assert not script.ran
    assert [end.state for end in finished(log).values()] == ["cancelled"]


async def test_a_reply_is_written_in_one_with_what_it_sets_off() -> None:
    log = MemoryLog()
    await drive(log, Script([says("", "a", "b"), says("done")]))
    assert [[type(event) for event in written] for written in log.written] == [
        [ModelReplied, CallJudged, CallJudged, ToolStarted, ToolStarted],
        [ToolFinished],
        [ToolFinished],
        [ModelReplied, TurnFinished],
    ]


async def test_a_reply_is_kept_even_if_a_word_kept_what_it_sets_off_from_landing() -> None:
    log, script = MemoryLog(), Script([says("", "a"), says("done")])
    original = log.begin

    def interrupted(seen: int, *intents: Event, facts: Sequence[Event] = ()) -> "asyncio.Future[bool]":
        if facts and isinstance(intents[0], ToolStarted):
            log.add(StopRequested(call_id="call_of_nobody"))
        return original(seen, *intents, facts=facts)

    log.begin = interrupted  # type: ignore[method-assign]
    await drive(log, script)
    assert [type(event) for event in log.events[2:6]] == [StopRequested, ModelReplied, CallJudged, ToolStarted]
    assert (len(script.ran), outcome(log).outcome) == (1, "answered")


async def test_a_model_that_failed_is_asked_again_although_the_log_is_slow_to_say_that_it_knows() -> None:
    """Those who wait for news of the log may hear of a row before the one who wrote it does."""
    log, script = MemoryLog(), Script([ModelError("overloaded", "busy", retryable=True), says("done")])
    original = log.record

    async def slowly(*facts: Event) -> bool:
        landed = await original(*facts)
        await turns_of_the_loop(9)
        return landed

    log.record = slowly  # type: ignore[assignment, method-assign]
    async with asyncio.timeout(5):
        await drive(log, script)
    assert (len(script.asked), outcome(log).outcome) == (2, "answered")


async def test_a_fallback_is_asked_at_once() -> None:
    log = MemoryLog(started("x", Settings("p", "m", fallback=(("q", "n"),))))
    script = Script([ModelError("server_error", "down", wait_s=60), says("here")])
    await drive(log, script)
    assert [request.settings.provider for request in script.asked] == ["p", "q"]
    assert [type(event) for event in script.emitted] == [ReplyReset] and outcome(log).outcome == "answered"
