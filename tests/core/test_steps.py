"""What comes next, decided from the log alone."""

import inspect
import re
from typing import Literal

import pytest

from tests.core.memory import started
from windlass.core.events import (
    CallDecided,
    CallJudged,
    CallResolved,
    Event,
    Limits,
    ModelFailed,
    ModelReplied,
    Settings,
    StopRequested,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnFinished,
    TurnStarted,
)
from windlass.core.fold import LIMIT_TEXTS, fold, force
from windlass.core.messages import ToolCall, ToolOutput, Usage
from windlass.core.steps import AwaitPerson, CallModel, Close, Done, RunTools, Step, Wait, next_step

A, B = ToolCall("c1", "a"), ToolCall("c2", "b")
AUTO, ASK = CallJudged("c1", "auto"), CallJudged("c1", "ask", "rule 1")
ASKED = ModelReplied("", (A,))


def outcome(step: Step) -> tuple[str, str]:
    assert isinstance(step, Close)
    last = step.events[-1]
    assert isinstance(last, TurnFinished)
    return last.outcome, last.cause


@pytest.mark.parametrize(
    ("events", "step"),
    [
        ([], CallModel(1)),
        ([ModelReplied("hi")], Close((TurnFinished("answered"),))),
        ([ModelReplied("hi"), TurnFinished("answered")], Done(TurnFinished("answered"))),
        ([ASKED, AUTO], RunTools((A,))),
        ([ASKED, AUTO, ToolStarted("c1")], Wait(("c1",))),
        ([ASKED, AUTO, ToolStarted("c1"), ToolFinished("c1", "ok")], CallModel(1)),
        ([ASKED], AwaitPerson(("c1",))),
        ([ASKED, ASK], AwaitPerson(("c1",))),
        ([ASKED, ASK, CallDecided("c1", True)], RunTools((A,))),
        ([ASKED, AUTO, ToolStarted("c1"), TurnClaimed()], AwaitPerson((), ("c1",))),
        ([ASKED, AUTO, ToolStarted("c1"), TurnClaimed(), CallResolved("c1", "retry")], RunTools((A,))),
        ([ModelFailed("busy", retryable=True, wait_s=3)], CallModel(2, wait_s=3)),
        # Words that come too late, or for a call nobody knows, change nothing.
        ([ASKED, AUTO, CallDecided("c1", False)], RunTools((A,))),
        ([ASKED, AUTO, CallResolved("c1", "skip")], RunTools((A,))),
        ([ASKED, AUTO, CallDecided("elsewhere", False)], RunTools((A,))),
        ([ASKED, ASK, CallDecided("c1", True), CallDecided("c1", False)], RunTools((A,))),
    ],
)
def test_the_step_follows_from_the_log(events: list[Event], step: Step) -> None:
    assert next_step([started(), *events]) == step


@pytest.mark.parametrize(
    ("events", "state", "cause"),
    [
        ([CallJudged("c1", "refuse", refusal="unknown_tool", reason="no such tool")], "error", "unknown_tool"),
        ([CallJudged("c1", "refuse", refusal="policy", reason="rule 2")], "denied", "policy"),
        ([ASK, CallDecided("c1", False)], "denied", "person"),
        ([ASK, CallDecided("c1", False, reason="not now")], "denied", "person"),
        ([ASK, StopRequested(call_id="c1")], "cancelled", "stopped"),
        ([AUTO, ToolStarted("c1"), StopRequested(call_id="c1")], "unknown", "stopped"),
        ([AUTO, ToolStarted("c1"), TurnClaimed(), CallResolved("c1", "done")], "ok", "person"),
        ([AUTO, ToolStarted("c1"), TurnClaimed(), CallResolved("c1", "skip")], "unknown", "person"),
    ],
)
def test_a_call_that_needs_no_tool_to_end_is_ended(events: list[Event], state: str, cause: str) -> None:
    step = next_step([started(), ASKED, *events])
    assert isinstance(step, Close)
    (end,) = step.events
    assert isinstance(end, ToolFinished)
    assert (end.state, end.cause) == (state, cause)


READS, REPEATED = CallJudged("c1", "auto", reads=True), CallJudged("c1", "auto", reads=True, safe=True)
SENT, INTERRUPTED, STOPPED = ToolStarted("c1"), TurnClaimed("another"), StopRequested(call_id="c1")


@pytest.mark.parametrize(
    ("events", "ends"),
    [
        ([AUTO, SENT, STOPPED], ("unknown", "stopped")),
        ([AUTO, SENT, StopRequested()], ("unknown", "stopped")),
        ([AUTO, SENT, INTERRUPTED, StopRequested()], ("unknown", "stopped")),
        ([AUTO, STOPPED], ("cancelled", "stopped")),
        ([READS, SENT, STOPPED], ("cancelled", "stopped")),
        ([READS, SENT, StopRequested()], ("cancelled", "stopped")),
        ([READS, SENT, INTERRUPTED], ("error", "interrupted")),
    ],
)
def test_d6_only_a_call_that_may_have_done_something_ends_unknown(events: list[Event], ends: tuple[str, str]) -> None:
    step = next_step([started(), ASKED, *events])
    assert isinstance(step, Close) and isinstance(step.events[0], ToolFinished)
    assert (step.events[0].state, step.events[0].cause) == ends


def test_d6_an_interrupted_reader_runs_again_by_itself_only_where_its_server_is_trusted() -> None:
    assert next_step([started(), ASKED, REPEATED, SENT, INTERRUPTED]) == RunTools((A,))
    assert next_step([started(), ASKED, AUTO, SENT, INTERRUPTED]) == AwaitPerson((), ("c1",))


def test_the_reason_of_a_denial_reaches_the_model() -> None:
    step = next_step([started(), ASKED, ASK, CallDecided("c1", False, reason="not now")])
    assert isinstance(step, Close)
    assert isinstance(step.events[0], ToolFinished)
    assert "not now" in step.events[0].output.text


def test_a_complete_answer_beats_a_later_stop() -> None:
    assert outcome(next_step([started(), ModelReplied("hi"), StopRequested()])) == ("answered", "")


@pytest.mark.parametrize(("by", "cause"), [("person", "stopped"), ("deadline", "turn_timeout"), ("defect", "internal")])
def test_who_asked_for_the_stop_decides_the_outcome(by: str, cause: str) -> None:
    assert outcome(next_step([started(), StopRequested(by)]))[1] == cause


def test_an_internal_error_is_named_as_one_with_the_next_step() -> None:
    closing = next_step([started(), StopRequested("defect")])
    assert isinstance(closing, Close)
    assert closing.events == (
        TurnFinished("failed", "internal", "Internal error in Windlass.", "See the server's log for the cause."),
    )


def test_a_reply_cut_by_the_models_own_limit_is_a_limit() -> None:
    assert outcome(next_step([started(), ModelReplied("and then", finish="length")])) == ("limit", "length")


def test_a_second_call_in_single_round_mode_ends_in_the_seeds_words() -> None:
    first: list[Event] = [ASKED, AUTO, ToolStarted("c1"), ToolFinished("c1", "ok")]
    single = started(settings=Settings(limits=Limits(rounds=1)))
    assert next_step([single, *first]) == CallModel(1)
    step = next_step([single, *first, ModelReplied("", (B,)), CallJudged("c2", "auto")])
    assert isinstance(step, Close)
    assert step.events[-1] == TurnFinished("limit", "rounds", "Multi-round tool calls not supported")
    answered = next_step([single, *first, ModelReplied("done")])
    assert outcome(answered) == ("answered", "")


def test_the_callers_own_tools_are_handed_over() -> None:
    handed = CallJudged("c1", "refuse", refusal="handed_over")
    step = next_step([started(), ASKED, handed])
    assert outcome(step) == ("handed_over", "")
    assert isinstance(step, Close) and isinstance(step.events[0], ToolFinished)
    assert step.events[0].cause == "handed_over"


def test_in_a_mixed_reply_the_servers_calls_finish_before_the_callers_are_handed_over() -> None:
    log: list[Event] = [started(), ModelReplied("", (A, B)), CallJudged("c1", "refuse", refusal="handed_over")]
    log.append(CallJudged("c2", "auto"))
    assert next_step(log) == RunTools((B,))
    assert next_step([*log, ToolStarted("c2")]) == Wait(("c2",))
    assert outcome(next_step([*log, ToolStarted("c2"), ToolFinished("c2", "ok")])) == ("handed_over", "")
    refused = CallJudged("c2", "refuse", refusal="policy", reason="no")
    assert next_step([*log[:-1], refused]) == Close((ToolFinished("c2", "denied", ToolOutput("no"), "policy"),))


def _round(
    number: int, end: ToolFinished | None = None, judged: CallJudged | None = None, usage: Usage = Usage()
) -> list[Event]:
    call = ToolCall(f"r{number}", "a")
    finish = end or ToolFinished(call.id, "ok", ToolOutput("same", digest="d"))
    return [
        ModelReplied("", (call,), usage=usage),
        judged or CallJudged(call.id, "auto"),
        ToolStarted(call.id),
        ToolFinished(call.id, finish.state, finish.output),
    ]


THREE_REPEATS = started(settings=Settings(limits=Limits(repeats=3)))


def test_the_same_call_with_the_same_result_forces_the_answer_at_the_limit_of_repeats() -> None:
    assert next_step([THREE_REPEATS, *_round(1), *_round(2)]) == CallModel(1)
    assert next_step([THREE_REPEATS, *_round(1), *_round(2), *_round(3)]) == CallModel(1, "repeats")


def test_a_tool_that_is_polled_is_not_cut_off_after_a_few_times() -> None:
    polled = [event for number in range(1, 8) for event in _round(number)]
    assert next_step([started(), *polled]) == CallModel(1)
    assert next_step([started(), *polled, *_round(8)]) == CallModel(1, "repeats")


def _in_one_reply(prefix: str, refusal: Literal["", "bad_arguments"] = "", name: str = "a") -> list[Event]:
    """Three identical calls in one reply, finished alike."""
    calls = tuple(ToolCall(f"{prefix}{index}", name) for index in range(3))
    verdicts = [CallJudged(call.id, "refuse" if refusal else "auto", refusal=refusal) for call in calls]
    ends = [ToolFinished(call.id, "error" if refusal else "ok", ToolOutput("same", digest="d")) for call in calls]
    return [ModelReplied("", calls), *verdicts, *ends]


def test_identical_calls_in_one_reply_count_once() -> None:
    once, twice, thrice = _in_one_reply("x"), _in_one_reply("y"), _in_one_reply("z")
    assert next_step([THREE_REPEATS, *once]) == CallModel(1)
    assert next_step([THREE_REPEATS, *once, *twice]) == CallModel(1)
    assert next_step([THREE_REPEATS, *once, *twice, *thrice]) == CallModel(1, "repeats")
    assert next_step([THREE_REPEATS, *_round(1), *once, *_round(2)]) == CallModel(1, "repeats")


def test_bad_arguments_in_one_reply_count_once() -> None:
    once, twice, thrice = (_in_one_reply(prefix, "bad_arguments") for prefix in "xyz")
    assert next_step([started(), *once, *twice]) == CallModel(1)
    assert next_step([started(), *once, *twice, *thrice]) == CallModel(1, "bad_arguments")
    other = _in_one_reply("o", "bad_arguments", "other")
    assert next_step([started(), *once, *twice, *other]) == CallModel(1)


def test_the_same_call_with_another_result_is_no_repetition() -> None:
    other = ToolFinished("", "ok", ToolOutput("new", digest="e"))
    assert next_step([started(), *_round(1), *_round(2), *_round(3, other)]) == CallModel(1)


def test_three_bad_tries_on_one_tool_force_the_answer() -> None:
    def bad(number: int, name: str = "a") -> list[Event]:
        call = ToolCall(f"b{number}", name)
        return [
            ModelReplied("", (call,)),
            CallJudged(call.id, "refuse", refusal="bad_arguments"),
            ToolFinished(call.id, "error"),
        ]

    assert next_step([started(), *bad(1), *bad(2)]) == CallModel(1)
    assert next_step([started(), *bad(1), *bad(2), *bad(3)]) == CallModel(1, "bad_arguments")
    assert next_step([started(), *bad(1), *bad(2), *bad(3, "other")]) == CallModel(1)
    assert next_step([started(), *bad(1), *bad(2), *_round(4), *bad(3)]) == CallModel(1)


def test_a_spent_token_budget_forces_the_answer() -> None:
    budget = started(settings=Settings(limits=Limits(tokens=100)))
    assert next_step([budget, *_round(1, usage=Usage(60, 39))]) == CallModel(1)
    assert next_step([budget, *_round(1, usage=Usage(60, 40))]) == CallModel(1, "tokens")


def test_a_log_must_begin_with_its_start_and_have_only_one() -> None:
    with pytest.raises(ValueError, match="begins with"):
        fold([TurnClaimed()])
    with pytest.raises(ValueError, match="starts once"):
        fold([started(), started()])


def test_every_reason_to_answer_now_has_its_texts() -> None:
    reasons = set(re.findall(r'return "(\w+)"', inspect.getsource(force)))
    assert {"rounds", "calls"} <= reasons
    assert all(LIMIT_TEXTS[reason].answer_now and LIMIT_TEXTS[reason].ended for reason in reasons)


AT_THE_CAP = started(settings=Settings(limits=Limits(rounds=2)))
CALLED_ALL_THE_SAME = [AT_THE_CAP, *_round(1), *_round(2), ModelReplied("", (B,)), CallJudged("c2", "auto")]


def test_a_call_that_came_instead_of_the_answer_is_closed_unrun_and_the_answer_asked_for_once_more() -> None:
    step = next_step(CALLED_ALL_THE_SAME)
    assert isinstance(step, Close) and isinstance(step.events[0], ToolFinished)
    assert [event.state for event in step.events if isinstance(event, ToolFinished)] == ["cancelled"]
    assert len(step.events) == 1
    assert next_step([*CALLED_ALL_THE_SAME, *step.events]) == CallModel(1, "rounds")


CLOSED = ToolFinished("c2", "cancelled")
UNANSWERED = "Stopped at the limit of tool rounds. The model asked for more calls instead of answering."


@pytest.mark.parametrize(
    ("reply", "ended"),
    [
        ([ModelReplied("It is 42.")], LIMIT_TEXTS["rounds"].ended),
        ([ModelReplied("", (ToolCall("c3", "b"),)), CallJudged("c3", "auto")], UNANSWERED),
        ([ModelFailed("bad_request", "no")], UNANSWERED),
    ],
)
def test_the_end_at_the_cap_tells_whether_there_is_an_answer(reply: list[Event], ended: str) -> None:
    step = next_step([*CALLED_ALL_THE_SAME, CLOSED, *reply])
    assert isinstance(step, Close)
    last = step.events[-1]
    assert isinstance(last, TurnFinished)
    assert (last.outcome, last.cause, last.message) == ("limit", "rounds", ended)


@pytest.mark.parametrize("limit", [name for name in LIMIT_TEXTS if name != "length"])
def test_the_words_for_no_answer_promise_none(limit: str) -> None:
    words = LIMIT_TEXTS[limit].unanswered
    assert "The answer" not in words and words.endswith("instead of answering.") and ".." not in words


def test_what_was_forced_once_stays_forced() -> None:
    """Unrun calls are no bad tries; counting anew would let the model go on."""
    bad = [
        event
        for number in range(3)
        for event in (
            ModelReplied("", (ToolCall(f"b{number}", "a"),)),
            CallJudged(f"b{number}", "refuse", refusal="bad_arguments"),
            ToolFinished(f"b{number}", "error"),
        )
    ]
    insisted: list[Event] = [started(), *bad, ModelReplied("", (B,)), CallJudged("c2", "auto"), CLOSED]
    assert next_step(insisted) == CallModel(1, "bad_arguments")


def test_a_turn_of_one_call_over_mcp_ends_with_the_call_and_asks_no_model() -> None:
    begun = TurnStarted((), origin="mcp", client="Desk 1")
    assert next_step([begun, ASKED, ASK]) == AwaitPerson(("c1",))
    assert next_step([begun, ASKED, AUTO, ToolStarted("c1")]) == Wait(("c1",))
    ended: list[Event] = [begun, ASKED, AUTO, ToolStarted("c1"), ToolFinished("c1", "error")]
    assert outcome(next_step(ended)) == ("answered", "")
