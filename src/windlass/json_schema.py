"""JSON Schema from strangers, compiled within bounds: references stay inside the document, sizes are capped, patterns
run in bounded time."""

import json
import math
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from windlass.core.errors import BadInput

LARGEST = 128 << 10
DEEPEST = 40
MOST_ERRORS = 5
_REGEX_BYTES = 1 << 20
_ENGINES = (
    jsonschema_rs.RegexOptions(size_limit=_REGEX_BYTES, dfa_size_limit=_REGEX_BYTES),
    # Look-around is common in ordinary schemas; this engine supports it, and gives up after so many steps.
    jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000, size_limit=_REGEX_BYTES, dfa_size_limit=_REGEX_BYTES),
)
MOST_PARTS = 20_000
MOST_TRIES = 100_000
_DEFINITIONS = ("$defs", "definitions")
DATA = frozenset({"const", "enum", "default", "examples", "required"})  # their values are no schemas


def check_bounds(schema: dict[str, Any]) -> None:
    """Raises `BadInput` where the schema is too big or refers to something outside of itself."""
    try:
        size = len(json.dumps(schema))
    except (ValueError, RecursionError, TypeError):
        raise BadInput("Its schema is nested too deep.") from None
    if size > LARGEST:
        raise BadInput(f"Its schema is too big: {size:,} bytes.")
    if any(depth > DEEPEST for _, depth in _nodes(schema)):
        raise BadInput("Its schema is nested too deep.")
    for node, _ in _nodes(schema):
        _refuse_far_references(node)


def compiled(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    failure = ""
    for engine in _ENGINES:
        try:
            return jsonschema_rs.validator_for(schema, pattern_options=engine, offline=True)
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            failure = str(error).partition("\n")[0]
    raise BadInput(f"Its schema is invalid: {_shortened(failure)}")


def deepest_value(schema: dict[str, Any]) -> int:
    """How deep a value may be nested to be checked in bounded time: a schema that refers to itself at several places
    is tried again at each of them, at every level. Raises `BadInput` where the schema alone is too much."""
    walk = _Expansion(schema)
    try:
        walk.follow(schema, ())
    except RecursionError:
        raise BadInput("Its schema is nested too deep.") from None
    return DEEPEST if walk.back < 2 else int(math.log(MOST_TRIES) / math.log(walk.back))


def depth_of(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [item for items in inner for item in items]
    return depth


class _Expansion:
    """Counts the schema's parts with every reference followed, and those that lead back to where it already is."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.back = 0
        self._root = root
        self._left = MOST_PARTS

    def follow(self, node: object, within: tuple[str, ...]) -> None:
        self._left -= 1
        if self._left < 0:
            raise BadInput("Its schema is too big once its references are followed.")
        if isinstance(node, list):
            for item in node:
                self.follow(item, within)
        elif isinstance(node, dict):
            if isinstance(target := node.get("$ref"), str):
                self._refer(target, within)
            for key, value in node.items():
                if key not in DATA and key not in _DEFINITIONS:
                    self.follow(value, within)

    def _refer(self, target: str, within: tuple[str, ...]) -> None:
        if target in within or target == "#":
            self.back += 1
        else:
            self.follow(_at(self._root, target), (*within, target))


def _at(root: object, target: str) -> object:
    """What a reference leads to; None where nothing is, which the compiler reports."""
    found = root
    for step in target.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            found = found.get(name) if isinstance(found, dict) else None
    return found


def errors_of(validator: jsonschema_rs.Validator, value: object, root: str) -> list[str]:
    """What does not fit, each with the JSON pointer to it; `root` names the value itself."""
    if validator.is_valid(value):  # much cheaper than the search for errors
        return []
    found: list[str] = []
    for error in validator.iter_errors(value):
        found.append(f"{_pointer(error.instance_path) or root}: {_shortened(error.message)}")
        if len(found) == MOST_ERRORS:
            break
    return found


def _nodes(schema: object) -> Iterator[tuple[dict[str, Any], int]]:
    """Every object that may be a schema, without recursion: the text may be nested deeper than our stack."""
    waiting: list[tuple[object, int]] = [(schema, 0)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, dict):
            yield node, depth
            waiting += [(value, depth + 1) for key, value in node.items() if key not in DATA]
        elif isinstance(node, list):
            waiting += [(value, depth + 1) for value in node]


def _refuse_far_references(node: dict[str, Any]) -> None:
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        target = node.get(keyword)
        if isinstance(target, str) and (not target.startswith("#") or keyword != "$ref"):
            raise BadInput(f"Its schema refers to {target[:100]!r}, outside of itself.")


def _pointer(path: list[str | int]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _shortened(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:200]} … {text[-80:]}"
