"""A turn as the terminal shows it."""

import pytest

from windlass.api.events import TurnEvent
from windlass.cli.output import as_json, clean, line
from windlass.cli.program import _report
from windlass.cli.stream import RunningCall, TurnPrinter
from windlass.cli.waiting import waiting_line
from windlass.core.errors import NotFound
from windlass.core.events import ModelFailed, ModelReplied, Settings, ToolFinished, ToolStarted, TurnStarted
from windlass.core.messages import ToolCall, ToolOutput
from windlass.core.ports import ReplyReset, Waiting

NAME = "x\r\n✓ pay  12 ms\x1b[2J\x9b31m\x7f\u2028é"


def test_f3_a_tool_name_stays_on_its_line_at_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    printer = TurnPrinter(stream=True)
    for fact in (
        ModelReplied("", (ToolCall("c1", NAME, "{}"),)),
        ToolStarted("c1"),
        ToolFinished("c1", "ok", ToolOutput("")),
    ):
        printer.show(TurnEvent("", "turn-1", fact))
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 2 and all(one.isprintable() and "é" in one for one in shown)
    assert str(RunningCall(NAME).__rich__().text).isprintable()


def test_f3_an_error_that_repeats_a_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    _report(NotFound(f"There is no tool {NAME}.", hint=f"Ask for another than {NAME}."))
    assert all(one.isprintable() for one in capsys.readouterr().err.splitlines())


def test_f3_json_at_the_terminal_has_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    as_json({"name": NAME})
    assert all(one.isprintable() for one in capsys.readouterr().out.splitlines())
    assert clean(NAME).count("\n") == 1 and line(NAME).isprintable()


def test_a_fallback_is_announced_and_the_answer_says_whose_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    printer = TurnPrinter(stream=False)
    settings = Settings("zai", "glm-4.7", fallback=(("other", "m2"), ("third", "m3")))
    for fact in (
        TurnStarted((), settings),
        ModelFailed("auth", "The key was refused."),
        ModelFailed("unreachable", "No connection.", retryable=True),
        ModelReplied("Hello.", provider="other", model="m2"),
        ModelFailed("bad_request", "Not this way."),
    ):
        printer.show(TurnEvent("", "turn-1", fact))
    first, retried, answered = capsys.readouterr().err.splitlines()
    assert first == "The key was refused. Asking other/m2 instead."
    assert retried.startswith("No connection.") and "1 of 3" in retried
    assert answered == "Answered by other/m2."


@pytest.mark.parametrize(
    ("waiting", "text"),
    [
        (Waiting("slot", 0, ahead=3), "Waiting for a free slot. 3 turns ahead."),
        (Waiting("slot", 0, host="api.z.ai", ahead=1), "Waiting for a free slot at api.z.ai. 1 turn ahead."),
        (
            Waiting("rate_limit", 0, 57, "api.z.ai", "glm-4.7", attempt=1, attempts=3),
            "api.z.ai is limiting requests. Retrying in 17 s (1 of 3).",
        ),
        (
            Waiting("rate_limit", 0, 57, "api.z.ai", "glm-4.7", ahead=2),
            "api.z.ai is limiting requests. Asking in 17 s. 2 turns ahead.",
        ),
        (Waiting("first_token", 26, model="glm-4.7", usual_s=2.0), "Waiting for glm-4.7, 14 s. Usually 2 s."),
        (Waiting("silence", 0, 240, model="glm-4.7"), "No text from glm-4.7 for 40 s. Gives up in 200 s."),
        (Waiting("server", 32, server="files", call_id="c1"), "Starting files, 8 s."),
        (Waiting("tool", 0, 120, server="files", call_id="c1"), "No progress from look for 40 s. Gives up in 80 s."),
        (Waiting("sign_in", 0, server="drive"), "drive needs you to sign in. Calls are waiting, nothing is lost."),
        (Waiting("person", 0), "Waiting for your decision."),
        (Waiting("budget", 0), "Stopped at your budget."),
    ],
    ids=lambda value: value.for_ if isinstance(value, Waiting) else "",
)
def test_each_wait_is_one_line(waiting: Waiting, text: str) -> None:
    assert waiting_line(waiting, "look" if waiting.call_id else "", now=40) == text


def test_a_pipe_gets_one_line_for_each_thing_that_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    printer = TurnPrinter(stream=True)
    for what in (
        Waiting("slot", 0, ahead=2),
        Waiting("slot", 0, ahead=1),
        ModelFailed(
            "rate_limited", "api.z.ai is limiting requests. glm-4.7, HTTP 429: slow down.", retryable=True, wait_s=17
        ),
        Waiting("rate_limit", 0, 17, "api.z.ai", "glm-4.7", attempt=1, attempts=3),
        ReplyReset(2),
        ModelFailed("interrupted", "The reply of glm-4.7 broke off.", retryable=True),
        ReplyReset(3),
        ModelReplied("Hello"),
    ):
        printer.show(TurnEvent("", "turn-1", what))
    assert capsys.readouterr().err.splitlines() == [
        "Waiting for a free slot. 2 turns ahead.",
        "api.z.ai is limiting requests. Retrying in 17 s (1 of 3). glm-4.7, HTTP 429: slow down.",
        "The reply of glm-4.7 broke off. Retrying (2 of 3).",
    ]
