import json

import pytest

from windlass.core.errors import ToolError
from windlass.search.tool import WEB_SEARCH, Wanted, wanted


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
