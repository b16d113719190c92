"""JSON Schema from strangers, compiled within bounds: references stay inside the document, sizes are capped, patterns
run in bounded time."""

import json
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


def errors_of(validator: jsonschema_rs.Validator, value: object, root: str) -> list[str]:
    """What does not fit, each with the JSON pointer to it; `root` names the value itself."""
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
