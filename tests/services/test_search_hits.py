"""The excerpt of a search: plain words around what was found, from the message that has most of it."""

from typing import Literal

import pytest

from windlass.api import schemas
from windlass.services.search_hits import LONGEST, search_hit

Role = Literal["user", "assistant", "tool"]


def message(text: str, role: Role = "assistant", id: str = "msg-1-0") -> schemas.Message:
    return schemas.Message(id=id, role=role, content=text, timestamp="2026-11-18T08:00:00Z", turn_id="turn-1")


def pieces(text: str, query: str) -> list[str]:
    hit = search_hit([message(text)], query)
    assert hit is not None
    return hit.pieces


def test_the_words_found_stand_between_the_words_around_them() -> None:
    assert pieces("Use full jitter when you retry", "JIT retry") == ["Use full ", "jit", "ter when you ", "retry", ""]


def test_the_message_with_most_of_the_words_is_the_hit() -> None:
    texts = [message("retry", "user", "a"), message("retry and jitter", "tool", "b"), message("jitter", id="c")]
    hit = search_hit(texts, "jitter retry")
    assert hit and hit.message_id == "b" and hit.role == "tool"


def test_what_was_written_comes_before_what_a_tool_gave() -> None:
    texts = [message("jitter", "tool", "a"), message("jitter", id="b"), message("jitter", id="c")]
    hit = search_hit(texts, "jitter")
    assert hit and hit.message_id == "b"


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("Un café à Zürich", "cafe zurich", ["café", "Zürich"]),
        ("the header retry-after says when", "retry-after", ["retry-after"]),
        ("İstanbul", "istanbul", ["İstanbul"]),
        ("שלום עולם", "עולם", ["עולם"]),
        ("a+b", "a+b", ["a+b"]),
    ],
)
def test_letters_are_compared_as_the_index_compares_them(text: str, query: str, found: list[str]) -> None:
    assert pieces(text, query)[1::2] == found


def test_the_signs_of_markdown_are_not_in_an_excerpt() -> None:
    text = "# Retry\n\n> Use **full** *random* `jitter`, 2 * 3, see [the page](https://example.org/x)\n\n"
    text += "```python\nretry()\n```\n- done"
    assert "".join(pieces(text, "jitter")) == "Retry Use full random jitter, 2 * 3, see the page retry() done"


def test_a_long_message_is_cut_around_the_first_word_found() -> None:
    shown = "".join(pieces("before " * 100 + "needle " + "after " * 100, "needle"))
    assert shown.startswith("…before ") and " needle after" in shown and shown.endswith(" after…")
    assert len(shown) <= LONGEST + 2


@pytest.mark.parametrize("text", ["x" * 500 + "needle", "needle" + "x" * 500, "needle needle"])
def test_a_text_without_spaces_is_cut_all_the_same(text: str) -> None:
    hit = search_hit([message(text.replace("xneedle", "x needle"))], "needle")
    assert hit is not None and "needle" in hit.pieces and len("".join(hit.pieces)) <= LONGEST + 2


def test_words_within_each_other_are_marked_once() -> None:
    assert pieces("retrying", "retry retryi") == ["", "retry", "", "i", "ng"]


def test_a_turn_whose_words_are_gone_has_no_hit() -> None:
    assert search_hit([message("nothing"), message("")], "needle !!") is None


@pytest.mark.parametrize("filling", ["\n", " ", "[", "](", "*", "`", "# ", "> ", "a ", "\t\n", "```"])
def test_no_text_makes_a_search_slow(filling: str) -> None:
    """With a quadratic pattern this takes minutes, and the test its time limit."""
    hit = search_hit([message("needle " + filling * 200_000 + "x")], "needle")
    assert hit is not None and hit.pieces[1] == "needle"
