"""Schemas from strangers: whatever they say, checking an answer against them takes bounded time."""

from typing import Any

import pytest

from windlass.core.errors import BadInput
from windlass.json_schema import DEEPEST, compiled, deepest_value, depth_of, errors_of
from windlass.providers.structured import output_format


def doubling(levels: int) -> dict[str, Any]:
    """Each definition tries the next one twice."""
    twice = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(levels)}
    return {"$defs": {**twice, f"a{levels}": {"type": "string"}}, "$ref": "#/$defs/a0"}


TREE = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
BRANCHING = {
    "$defs": {"e": {"anyOf": [{"properties": {side: {"$ref": "#/$defs/e"} for side in "ab"}} for _ in range(2)]}},
    "$ref": "#/$defs/e",
}


def asked_for(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}


@pytest.mark.parametrize("levels", [15, 40, 400])
def test_a_schema_that_explodes_is_refused(levels: int) -> None:
    with pytest.raises(BadInput, match=r"too big once its references are followed|nested too deep"):
        output_format(asked_for(doubling(levels)))


def test_ordinary_references_are_followed() -> None:
    assert deepest_value(doubling(3)) == DEEPEST
    assert errors_of(compiled(doubling(3)), "x", "(answer)") == []
    assert errors_of(compiled(doubling(3)), 7, "(answer)")


def test_a_schema_that_refers_to_itself_bounds_how_deep_an_answer_may_be() -> None:
    assert deepest_value(TREE) == DEEPEST
    assert 5 < deepest_value(BRANCHING) < 12
    wanted = output_format(asked_for(BRANCHING))
    assert wanted is not None
    assert not wanted.problem('{"a": {"b": {}}}')
    assert "cannot be checked" in wanted.problem('{"a":' * 20 + "1" + "}" * 20)


@pytest.mark.parametrize(("value", "depth"), [(1, 1), ([], 1), ({"a": [1]}, 3), ([[[]]], 3)])
def test_depth_counts_levels(value: object, depth: int) -> None:
    assert depth_of(value) == depth
