"""A burst of tokens is told as one; order and kinds stay."""

from windlass.core.messages import Toolset
from windlass.core.ports import CallDelta, LiveEvent, ReasoningDelta, TextDelta
from windlass.providers.assembly import Assembly
from windlass.providers.coalesce import Joined


def test_words_of_one_kind_are_told_together() -> None:
    told: list[LiveEvent] = []
    joined = Joined(told.append)
    joined.think("let ")
    joined.think("me see")
    joined.say("It ")
    joined.say("is ")
    joined.call(0, "look", "{}")
    joined.say("noon")
    joined.flush()
    joined.flush()
    assert told == [
        ReasoningDelta(1, "let me see"),
        TextDelta(1, "It is "),
        CallDelta(1, 0, "look", "{}"),
        TextDelta(1, "noon"),
    ]


def test_events_that_came_in_one_piece_give_one_delta() -> None:
    told: list[LiveEvent] = []
    assembly = Assembly(Toolset(), told.append)
    assembly.feed(*(_word(word) for word in ("one ", "two ", "three ")))
    assembly.feed(_word("four"))
    assert told == [TextDelta(1, "one two three "), TextDelta(1, "four")]


def _word(text: str) -> bytes:
    return b'{"model":"m","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}' % text.encode()
