"""A model that cannot answer, and those that are asked instead: decided from the log alone."""

import pytest

from tests.core.memory import MemoryLog, Script, says, started
from windlass.core.engine import run_turn
from windlass.core.errors import ModelError
from windlass.core.events import Event, Limits, ModelFailed, ModelReplied, Settings, ToolFinished, TurnFinished
from windlass.core.fold import fold
from windlass.core.messages import ToolCall
from windlass.core.ports import ReplyReset
from windlass.core.steps import CallModel, Close, next_step

BEGUN = started(
    settings=Settings("first", "m1", fallback=(("second", "m2"), ("third", "m3")), limits=Limits(attempts=2))
)
BUSY = ModelFailed("overloaded", "Busy.", "Wait.", retryable=True, wait_s=3)
REFUSED = ModelFailed("auth", "The key was refused.", "Check the key.")


def asked(*events: Event) -> tuple[str, str]:
    settings = fold((BEGUN, *events)).asked
    return settings.provider, settings.model


def test_a_fallback_is_asked_once_the_model_before_it_gave_up() -> None:
    assert asked() == ("first", "m1")
    assert asked(BUSY) == ("first", "m1")
    assert next_step((BEGUN, BUSY)) == CallModel(2, wait_s=3)
    assert asked(BUSY, BUSY) == ("second", "m2")
    assert next_step((BEGUN, BUSY, BUSY)) == CallModel(3)  # at once, and its attempts are counted on
    assert asked(REFUSED, BUSY) == ("second", "m2")
    assert asked(REFUSED, BUSY, REFUSED) == ("third", "m3")


def test_a_turn_stays_with_the_fallback_that_answered() -> None:
    called = (REFUSED, ModelReplied("", (ToolCall("c1", "a"),)), ToolFinished("c1", "ok"))
    assert asked(*called) == ("second", "m2")
    assert asked(*called, BUSY) == ("second", "m2")
    assert asked(*called, BUSY, BUSY) == ("third", "m3")


def test_when_none_can_answer_all_of_them_are_named_and_the_first_is_to_be_fixed() -> None:
    gone = ModelFailed("unreachable", "No connection.")
    step = next_step((BEGUN, REFUSED, gone, BUSY, BUSY))
    assert step == Close(
        (TurnFinished("failed", "auth", "The key was refused. No connection. Busy.", "Check the key."),)
    )


@pytest.mark.parametrize("cause", ["bad_request", "context_overflow", "content_filter"])
def test_what_fails_anywhere_is_sent_to_nobody_else(cause: str) -> None:
    failed = ModelFailed(cause, "No.", "Rephrase.")
    assert next_step((BEGUN, failed)) == Close((TurnFinished("failed", cause, "No.", "Rephrase."),))


async def test_a_fallback_begins_its_reply_anew_and_is_named_in_the_log() -> None:
    log = MemoryLog(BEGUN)
    script = Script([ModelError("auth", "The key was refused.", partial="Hal"), says("Hello.")])
    await run_turn(log, script, script, script, script.emitted.append)
    assert [request.settings.provider for request in script.asked] == ["first", "second"]
    assert script.emitted == [ReplyReset(2)]  # at once: no pause is announced
    [replied] = [event for event in log.events if isinstance(event, ModelReplied)]
    assert replied.provider == "second" and log.events[-1] == TurnFinished("answered")
