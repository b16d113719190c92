"""`[ref_1]` of a provider's search becomes the number of its source, as text grows and in the whole of it."""

import pytest

from windlass.providers.references import ReferenceFilter, References


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Rain [ref_1].", "Rain [1]."),
        ("Rain [ref_1][REF_2], 【ref_3】", "Rain [1][2], [3]"),
        ("Rain [ref_1, ref_2; ref_3]", "Rain [1, 2, 3]"),
        ("a[0] [r] [ref] [ref_] [ref_x] ref_1 [1]", "a[0] [r] [ref] [ref_] [ref_x] ref_1 [1]"),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_references_are_numbered_wherever_the_text_is_cut(text: str, shown: str, size: int) -> None:
    grown: list[str] = []
    filtered = ReferenceFilter(grown.append, References(()))
    for start in range(0, len(text), size):
        filtered.feed(text[start : start + size])
    filtered.feed(" end")
    assert "".join(grown) == f"{shown} end"
    assert References(()).numbered(text) == shown


def test_numbers_go_on_after_those_the_turn_has_already() -> None:
    references = References(("https://a.test", "https://b.test"))
    assert references.numbered("[ref_1]") == "[3]"  # its sources are not known yet
    references.learn("ref_1", "https://c.test")
    references.learn("ref_2", "https://a.test")
    references.learn(None, "https://d.test")
    references.learn("ref_4", "https://e.test")
    assert references.numbered("[ref_1] [ref_2] [ref_4] [ref_9]") == "[3] [1] [5] [ref_9]"
