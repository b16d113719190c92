"""What is sent after a stream whose final text is another."""

import pytest

from windlass.web.stream_text import missing_text


@pytest.mark.parametrize(
    ("sent", "text", "missing"),
    [
        ("", "All.", "All."),
        ("One ", "One two.", "two."),
        ("One two.", "One two.", ""),
        ("It is Paris.\n</think>\nParis.", "Paris.", ""),
        ("Thoughts.\n</think>\nThe capital is Par", "The capital is Paris.", "is."),
        ("Look: <call>", "Look:", ""),
        ("12 degrees [3].", "12 degrees [2].", ""),
        ("12 degrees [3]. And", "12 degrees [2]. And rain [12], [1, 2].", " rain [12], [1, 2]."),
        ("Hm. </think> A  b", "A b", ""),
        ("Another answer", "Paris.", "\n\nParis."),
    ],
)
def test_only_what_is_missing_of_a_reply_is_sent(sent: str, text: str, missing: str) -> None:
    assert missing_text(sent, text) == missing
