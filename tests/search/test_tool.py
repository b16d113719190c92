import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.errors import ToolError
from windlass.search.backend import Hit
from windlass.search.page import Page
from windlass.search.tool import EXTRACT_CHARS, WEB_SEARCH, Reading, Wanted, extract, report, wanted


def test_the_tool_is_built_in_safe_and_takes_a_query() -> None:
    assert (WEB_SEARCH.name, WEB_SEARCH.server, WEB_SEARCH.safe) == ("web_search", "windlass", True)
    schema = json.loads(WEB_SEARCH.schema)
    assert schema["required"] == ["query"] and set(schema["properties"]) == {"query", "count"}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [('{"query": "x"}', Wanted("x", 5)), ('{"query": "x", "count": 3, "more": 1}', Wanted("x", 3))],
)
def test_arguments_are_read(arguments: str, found: Wanted) -> None:
    assert wanted(arguments) == found


@pytest.mark.parametrize("arguments", ["", "{}", "[]", '{"query": 1}', '{"query": "x", "count": "y"}'])
def test_unreadable_arguments_are_an_error(arguments: str) -> None:
    with pytest.raises(ToolError, match="cannot be read"):
        wanted(arguments)


def test_of_a_long_page_the_part_about_the_question_is_kept() -> None:
    filler = "\n".join(f"Paragraph {n} about gardening and nothing else. {'Flowers grow. ' * 30}" for n in range(40))
    text = f"{filler}\nIn Nanaimo the weather is rain with 7 degrees. {'It rains. ' * 30}\n{filler}"
    kept = extract(text, "weather in Nanaimo", 1000)
    assert "the weather is rain with 7 degrees" in kept and len(kept) <= 1000


def test_paragraphs_stay_in_the_pages_order() -> None:
    text = "\n".join(f"{text} {'x' * 300}" for text in ("alpha beta", "gamma", "alpha", "delta"))
    kept = extract(text, "alpha beta", 700)
    assert kept.index("alpha beta") < kept.rindex("alpha x") and "gamma" not in kept


def test_one_endless_paragraph_is_cut_at_its_beginning() -> None:
    kept = extract("word " * 10_000, "word", 100)
    assert len(kept) == 100 and kept.endswith("…")


@given(st.text(), st.text(), st.integers(min_value=1, max_value=200))
def test_an_extract_is_never_longer_than_asked_for(text: str, query: str, chars: int) -> None:
    assert len(extract(text, query, chars)) <= chars


def test_a_report_of_the_largest_size_fits_a_tool_result() -> None:
    hits = [Hit("t" * 200, f"https://a.test/{n}", "s" * 5000, "2026-02-10") for n in range(10)]
    readings = {hit.url: Reading(Page(hit.url, "", "p" * 50_000)) for hit in hits[:3]}
    text = report("query", "zai", hits, readings)
    assert len(text) < 20_000 and text.count("p" * 100) >= 3 * (EXTRACT_CHARS // 100 - 1)


def test_one_result_is_one_result() -> None:
    assert "Found 1 result.\n" in report("q", "zai", [Hit("t", "https://a.test/")], {})
