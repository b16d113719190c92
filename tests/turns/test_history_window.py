import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from windlass.core.errors import BadInput
from windlass.core.events import NO_HISTORY
from windlass.core.messages import ChatMessage, MediaRef, PastTurn, ToolCall, Toolset, ToolSpec
from windlass.turns.history_window import Budget, Kept, estimated_tokens, kept_within, messages_tokens, tools_tokens

HELLO = (ChatMessage("user", "hello"),)


def turn(number: int, words: int = 10, calls: int = 0) -> PastTurn:
    """A question, rounds of a call and its result, and an answer."""
    rounds = [
        message
        for n in range(calls)
        for message in (
            ChatMessage("assistant", None, (ToolCall(f"call_{number}_{n}", "look", '{"at": "it"}'),)),
            ChatMessage("tool", "seen " * words, call_id=f"call_{number}_{n}"),
        )
    ]
    return PastTurn(
        f"turn-{number}",
        (ChatMessage("user", "word " * words), *rounds, ChatMessage("assistant", "word " * words)),
    )


def test_without_a_budget_everything_is_shown() -> None:
    kept = kept_within(Budget(), "system", [turn(n) for n in range(5)], HELLO)
    assert (kept.history_from, kept.cut_turns, kept.cut_messages) == ("", 0, 0)
    assert kept.tokens > 0


@pytest.mark.parametrize(
    ("most", "history_from", "cut_turns"),
    [
        (100, "", 0),
        (11, "", 0),
        (10, "turn-1", 1),
        (7, "turn-2", 2),
        (3, "turn-4", 4),
        (2, NO_HISTORY, 5),
        (1, NO_HISTORY, 5),
    ],
)
def test_a_budget_of_messages_cuts_whole_turns(most: int, history_from: str, cut_turns: int) -> None:
    kept = kept_within(Budget(max_messages=most), "", [turn(n) for n in range(5)], HELLO)
    assert (kept.history_from, kept.cut_turns, kept.cut_messages) == (history_from, cut_turns, 2 * cut_turns)


def test_a_budget_of_tokens_keeps_the_latest_turns() -> None:
    past = [turn(0, words=1000), turn(1), turn(2)]
    kept = kept_within(Budget(max_tokens=200), "system", past, HELLO)
    assert (kept.history_from, kept.cut_turns) == ("turn-1", 1)
    assert kept.tokens <= 200


def test_a_turn_that_does_not_fit_ends_the_history_although_older_ones_would_fit() -> None:
    past = [turn(0), turn(1, words=1000), turn(2)]
    assert kept_within(Budget(max_tokens=200), "", past, HELLO).history_from == "turn-2"


def test_when_nothing_of_the_past_fits_the_new_message_is_still_sent() -> None:
    kept = kept_within(Budget(max_tokens=50), "", [turn(0, words=1000)], HELLO)
    assert (kept.history_from, kept.cut_turns) == (NO_HISTORY, 1)


def test_a_message_longer_than_the_budget_is_refused_in_words() -> None:
    with pytest.raises(BadInput) as refused:
        kept_within(Budget(max_tokens=100), "system", [turn(0)], (ChatMessage("user", "word " * 500),))
    assert refused.value.code == "message_too_long"
    assert "estimate" in refused.value.message and "100" in refused.value.message and "max_tokens" in refused.value.hint


def test_tools_count_against_the_budget() -> None:
    tools = Toolset("h", (ToolSpec("look", "s", "look", "d" * 4000),))
    assert tools_tokens(tools) > 1000
    kept_within(Budget(max_tokens=500), "", [], HELLO)
    with pytest.raises(BadInput):
        kept_within(Budget(max_tokens=500), "", [], HELLO, tools)


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 3)), max_size=8),
    st.one_of(st.none(), st.integers(1, 400)),
    st.one_of(st.none(), st.integers(1, 40)),
)
def test_what_is_kept_is_a_tail_of_whole_turns_that_fits_and_could_not_be_longer(
    sizes: list[tuple[int, int]], max_tokens: int | None, max_messages: int | None
) -> None:
    past = [turn(n, words, calls) for n, (words, calls) in enumerate(sizes)]
    fixed = messages_tokens(HELLO)
    assume(max_tokens is None or max_tokens >= fixed)
    kept = kept_within(Budget(max_tokens, max_messages), "", past, HELLO)

    def fits(tail: list[PastTurn]) -> bool:
        messages = [message for one in tail for message in one.messages]
        return (max_tokens is None or fixed + messages_tokens(messages) <= max_tokens) and (
            max_messages is None or len(HELLO) + len(messages) <= max_messages
        )

    tail = past[kept.cut_turns :]
    assert kept.history_from == ("" if not kept.cut_turns else tail[0].turn_id if tail else NO_HISTORY)
    assert not tail or fits(tail)
    assert not kept.cut_turns or not fits(past[kept.cut_turns - 1 :])
    assert kept.tokens == fixed + messages_tokens(message for one in tail for message in one.messages)


def test_a_picture_takes_room_where_the_model_takes_it() -> None:
    seen = ChatMessage(
        "tool", "a chart", call_id="c", parts=("<r>", MediaRef("result-1", 0, "image/png", 90_000), "</r>")
    )
    past = [PastTurn("turn-0", (seen,))]
    budget = Budget(max_tokens=500)
    assert kept_within(budget, "", past, HELLO).cut_turns == 1
    assert kept_within(budget, "", past, HELLO, takes=lambda mime: False).cut_turns == 0


def test_no_past_is_nothing_cut() -> None:
    assert kept_within(Budget(1000, 1), "", [], HELLO) == Kept(tokens=messages_tokens(HELLO))


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("The quick brown fox jumps over the lazy dog.", 9, 13),
        ("今天天气怎么样?", 6, 10),
        ("Какая сегодня погода?", 6, 16),
        ("def main():\n    return 1\n", 5, 12),
        ("🎉🎉", 2, 6),
        ("\ud800", 0, 2),
    ],
)
def test_the_estimate_is_near_what_tokenizers_count(text: str, least: int, most: int) -> None:
    assert least <= estimated_tokens(text) <= most


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(first: str, second: str) -> None:
    assert estimated_tokens(first + second) >= max(estimated_tokens(first), estimated_tokens(second))
