"""A turn as the terminal shows it."""

import pytest

from windlass.api.events import TurnEvent
from windlass.cli.output import as_json, clean, line
from windlass.cli.program import _report
from windlass.cli.stream import RunningCall, TurnPrinter
from windlass.core.errors import NotFound
from windlass.core.events import ModelFailed, ModelReplied, Settings, ToolFinished, ToolStarted, TurnStarted
from windlass.core.messages import ToolCall, ToolOutput

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
