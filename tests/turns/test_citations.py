import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.cpu import linear
from windlass.turns.citations import Citations, citations


@pytest.mark.parametrize(
    ("answer", "cited", "unknown"),
    [
        ("It rains [1].", (1,), ()),
        ("It rains [7].", (), (7,)),
        ("It rains [2] and blows [1], as said [2].", (2, 1), ()),
        ("[5] and [6]", (5,), (6,)),
        ("Rain.[1][2][9]", (1, 2), (9,)),
        ("Rain [1, 2]; wind [3;7]", (1, 2, 3), (7,)),
        ("Rain [2-4] [4\N{EN DASH}6]", (2, 3, 4, 5), (6,)),
        ("It is raining[1].", (1,), ()),
        ("It is raining[7].", (), ()),
        ("今天下雨[1]。明天[7]", (1,), (7,)),
        ("今天下雨\u30101\u3011 \u30107†source\u3011", (1,), (7,)),
        ("[1](https://a.test/) [link](https://b.test)", (1,), ()),
        ("**[1]** *[2]* ([3])", (1, 2, 3), ()),
        ("- [1]\n- [2]", (1, 2), ()),
        ("the value of a[1] and xs[7] and f(x)[7] and m[1][7]", (), ()),
        ("a_b[1] A[1] x1[7] arr[7] list[7]", (), ()),
        ("set x = [7] or y=[7, 8]", (), ()),
        ("`[7]` and ``a ` [7]`` then [1]", (1,), ()),
        ("```python\nprint([7])\n```\nRain [1]", (1,), ()),
        ("~~~\n[7]\n```\n[7]\n~~~\n[1]", (1,), ()),
        ("```\n[7] never closed", (), ()),
        ("````\n```\n[7]\n````\n[2]", (2,), ()),
        ("[1]: https://a.test/\n[7]: https://b.test/", (), ()),
        ("a lone ` and [2]", (2,), ()),
        ("- [ ] to do\n- [x] done", (), ()),
        ("in [2024] and [0] and [] and [a]", (), ()),
        ("", (), ()),
    ],
)
def test_citations_are_told_from_brackets_of_other_kinds(
    answer: str, cited: tuple[int, ...], unknown: tuple[int, ...]
) -> None:
    assert citations(answer, 5) == Citations(cited, unknown)


def test_without_sources_every_citation_is_unknown() -> None:
    assert citations("Rain [1].", 0) == Citations((), (1,))


@given(st.text(alphabet="[]0123456789,-`~\n a=\u3010\u3011"), st.integers(min_value=0, max_value=9))
def test_numbers_are_cited_or_unknown_never_both(answer: str, sources: int) -> None:
    found = citations(answer, sources)
    assert all(1 <= n <= sources for n in found.cited) and all(n > sources for n in found.unknown)


@pytest.mark.parametrize("unit", ["`", "` ``", "[1", "[1,", "[1][", "```\n", "\u30101", "[1-", "[1]:\n", "a[1]"])
def test_an_answer_made_to_be_slow_is_read_in_no_time(unit: str) -> None:
    with linear():
        found = citations(unit * (500_000 // len(unit)), 5)
    assert set(found.cited) <= {1} and found.unknown == ()
