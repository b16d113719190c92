"""Where a text is cut."""

import pytest

from windlass.sentences import whole_sentences


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Short.", "Short."),
        ("Two  words\non lines", "Two words on lines"),
        ("api.z.ai is busy. It answers again in a while, or so it says.", "api.z.ai is busy."),
        ("Use a port, e.g. one above 1024, which nobody else has taken", "Use a port, e.g. one above…"),
        ("no_space_anywhere_in_this_long_name", "no_space_anywhere_in_this_long…"),
    ],
)
def test_a_text_is_cut_after_a_sentence_or_else_after_a_word(text: str, cut: str) -> None:
    assert whole_sentences(text, 30) == cut
