"""Tool schemas: which can be used at all, what of them a model is shown, and whether arguments fit. All that a server
writes here may be hostile, so references stay inside the document, sizes are capped, patterns run in bounded time."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from windlass.core.errors import BadInput
from windlass.json_schema import DATA, check_bounds, compiled, errors_of
from windlass.servers.values import CallResult

MOST_NODES = 20_000
LONGEST_MISFIT = 300
_NOT_FOR_MODELS = frozenset({"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "examples"})
_COMBINING = ("allOf", "anyOf", "oneOf")
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


class Checker:
    """A tool's schema, compiled once. Raises `BadInput` with the reason when the tool cannot be offered."""

    def __init__(self, schema: Mapping[str, Any] | None) -> None:
        self.schema = _usable(schema)
        self._validator = compiled(self.schema)
        self.shown = shown(self.schema)

    def errors(self, arguments: object) -> list[str]:
        """What does not fit, each with the JSON pointer to it."""
        return errors_of(self._validator, arguments, "(arguments)")


def checked_result(result: CallResult, schema: Mapping[str, Any] | None) -> CallResult:
    """With what breaks the tool's own output schema; a result is worth more than its schema, so it is kept."""
    if schema is None or result.structured is None or result.failed:
        return result
    try:
        errors = errors_of(_output_validator(json.dumps(schema, sort_keys=True)), result.structured, "(result)")
    except BadInput:  # a schema that cannot be used fits everything
        return result
    return replace(result, misfit="; ".join(errors)[:LONGEST_MISFIT]) if errors else result


@lru_cache(maxsize=256)
def _output_validator(schema: str) -> Any:
    whole = json.loads(schema)
    check_bounds(whole)
    return compiled(whole)


def shown(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as models accept it: one plain object, no references, no invisible characters. A copy; arguments are
    checked against the schema as it was written."""
    budget = _Budget(MOST_NODES)
    clean: Any = _clean(schema, schema, (), budget)
    if not isinstance(clean, dict):
        raise BadInput("Its schema does not describe an object.")
    properties: dict[str, Any] = {}
    for part in (*(branch for keyword in _COMBINING for branch in clean.pop(keyword, ())), clean):
        if isinstance(part, dict) and isinstance(part.get("properties"), dict):
            properties.update(part["properties"])
    clean.update(type="object", properties=properties)
    return clean


def visible(text: str) -> str:
    """Without the characters that a person cannot see but a model reads."""
    return _INVISIBLE.sub("", text)


def _usable(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    if schema is None:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, dict):
        raise BadInput("Its schema is not an object.")
    if schema.get("type", "object") not in ("object", ["object"]):
        raise BadInput("Its schema does not describe an object.")
    check_bounds(schema)
    return schema


class _Budget:
    def __init__(self, nodes: int) -> None:
        self._left = nodes

    def spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise BadInput("Its schema is too big once its references are followed.")


def _clean(node: Any, root: Mapping[str, Any], within: tuple[str, ...], budget: _Budget) -> Any:
    budget.spend()
    if isinstance(node, list):
        return [_clean(item, root, within, budget) for item in node]
    if not isinstance(node, dict):
        return visible(node) if isinstance(node, str) else node
    target = node.get("$ref")
    if isinstance(target, str):
        return _followed(node, target, root, within, budget)
    return {
        key: _cleaned_value(key, value, root, within, budget)
        for key, value in node.items()
        if key not in _NOT_FOR_MODELS and not key.startswith("x-")
    }


def _cleaned_value(key: str, value: Any, root: Mapping[str, Any], within: tuple[str, ...], budget: _Budget) -> Any:
    if key in _NAMED and isinstance(value, dict):  # these keys are names in the tool, not keywords of JSON Schema
        return {name: _clean(inner, root, within, budget) for name, inner in value.items()}
    return value if key in DATA else _clean(value, root, within, budget)


def _followed(
    node: dict[str, Any], target: str, root: Mapping[str, Any], within: tuple[str, ...], budget: _Budget
) -> Any:
    if target in within:
        raise BadInput("Its schema refers to itself.")
    found = _resolved(target, root)
    beside = {key: value for key, value in node.items() if key != "$ref"}
    return _clean({**found, **beside} if isinstance(found, dict) else found, root, (*within, target), budget)


def _resolved(target: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for step in target.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            found = found[int(name)] if isinstance(found, list) else found[name]
        except (KeyError, IndexError, ValueError, TypeError):
            raise BadInput(f"Its schema refers to {target[:100]!r}, which does not exist.") from None
    if found is root:
        raise BadInput("Its schema refers to itself.")
    return found
