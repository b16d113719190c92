"""Thoughts in the text, in every form that was seen, and talk about the tags, which stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.kit import Recorder
from tests.providers.test_assembly import assembled, chunk
from windlass.core.ports import ReasoningDelta, TextDelta
from windlass.providers.thoughts import split_thoughts


@pytest.mark.parametrize(
    ("text", "answer", "thoughts"),
    [
        ("<think>Hm.</think>Yes.", "Yes.", "Hm."),
        ("\n<think>\nHm.\n</think>\n\nYes.", "Yes.", "Hm."),
        ("Hm, so it is seven.</think>Yes.", "Yes.", "Hm, so it is seven."),
        ("Hm, so it is seven. </think> Yes.", "Yes.", "Hm, so it is seven."),
        ("Hm\n</think>\n\nYes.", "Yes.", "Hm"),
        ("the answer is seven</think>\n\nSeven.", "Seven.", "the answer is seven"),
        ("</think>Yes.", "Yes.", ""),
        ("\n\n</think>\n\nYes.", "Yes.", ""),
        ("Yes.</think>", "Yes.", ""),
        ("Yes.\n</think>\n", "Yes.", ""),
        ("Yes.</think> </think>\n", "Yes.", ""),
        ("<think>Hm.</think></think>Yes.", "Yes.", "Hm."),
        ("<think>Hm.</think>First.\n<think>And?</think>\nSecond.", "First.\n\nSecond.", "Hm.\n\nAnd?"),
        ("<think>a</think><think>b</think>Yes.", "Yes.", "a\n\nb"),
        ("<think>\n</think>\nYes.", "Yes.", ""),
        ("<think>Hm, it was cut", "", "Hm, it was cut"),
        ("<THINK>Hm.</Think >Yes.", "Yes.", "Hm."),
        ("<thinking>Hm.</thinking>Yes.", "Yes.", "Hm."),
        ("<think>Is `</think>` a tag?</think>Yes.", "Yes.", "Is `</think>` a tag?"),
        ("Denk nach。</think>答え。", "答え。", "Denk nach。"),
    ],
)
def test_thoughts_in_any_form_go_to_the_reasoning(text: str, answer: str, thoughts: str) -> None:
    assert split_thoughts(text)[:2] == (answer, thoughts)
    assert split_thoughts(text)[2]


@pytest.mark.parametrize(
    "text",
    [
        "Close it with `</think>` when done.",
        'The text "</think>" ends it.',
        "The </think> tag ends what <think> began.",
        "Models write <think>like this</think> before they answer.",
        "```xml\n<think>\nHm.\n</think>\n```\nThat is the form.",
        "a < b and <thin> is no tag",
    ],
)
def test_talk_about_the_tags_stays(text: str) -> None:
    assert split_thoughts(text) == (text, "", "")


@given(st.text(alphabet="<>/think \n`.a", max_size=60))
def test_nothing_but_tags_is_ever_lost(text: str) -> None:
    def letters(text: str) -> list[str]:
        return sorted(letter for letter in text if letter in "`.a")

    answer, thoughts, _ = split_thoughts(text)
    assert letters(answer + thoughts) == letters(text)


def test_many_tags_take_linear_time() -> None:
    assert split_thoughts("<think>a</think>" * 20_000)[0] == ""
    assert split_thoughts("a" + "</think> " * 20_000)[0] == "a"


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("end", ["</think>", "</thinking>", "< / THINK >"])
def test_thoughts_stream_as_thoughts_however_they_are_cut(size: int, end: str) -> None:
    recorder, text = Recorder(), f"<think>Is 1 < 2? {end}{end}<think>Yes.{end}It is."
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    reply = assembled(*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop"), recorder=recorder)
    assert (reply.text, reply.reasoning) == ("It is.", "Is 1 < 2?\n\nYes.")
    shown = "".join(heard.text for heard in recorder.events if isinstance(heard, TextDelta))
    thought = "".join(heard.text for heard in recorder.events if isinstance(heard, ReasoningDelta))
    assert (shown, thought) == ("It is.", "Is 1 < 2? Yes.")


def test_thoughts_in_the_text_follow_those_in_their_own_field() -> None:
    reply = assembled(chunk({"reasoning_content": "I should"}), chunk({"content": " add.</think>7"}, "stop"))
    assert (reply.text, reply.reasoning) == ("7", "I should\n\nadd.")
