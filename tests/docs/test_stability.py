"""What the first edition promised is still there: every public name, and every request and response field of the API.
`docs/public_names.py` lists names; the first edition's listing and `/openapi.json` are kept as it made them."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from docs.public_names import description, listing

ROOT = Path(__file__).parents[2]
EDITION_1 = ROOT / "tests" / "fixtures" / "edition_1"
OUT_OF_DATE = "is out of date: run `make docs`, and say in CHANGELOG.md what changed for a user"

# What the first edition had and this one has not, each with its reason. A line here needs one in CHANGELOG.md too.
GONE: dict[str, str] = {
    "windlass.testing: windlass.testing.ScriptedModel.reply(1 hear)": "`emit` now, given by position",
    **dict.fromkeys(
        (
            "GET /policy policy_get 200 operator_rules[].then always",
            "GET /policy policy_get 200 rules[].then always",
            "PUT /policy policy_put_put 200 operator_rules[].then always",
            "PUT /policy policy_put_put 200 rules[].then always",
            "policy_put_put rules[].then required",
        ),
        "`then` is given in every answer beside `approval`, its successor; a request may leave either out",
    ),
    **dict.fromkeys(
        (
            *(f"POST /v1/chat/completions v1_begin {status}" for status in (409, 422)),
            *(f"POST /v1/chat/completions v1_begin {status} application/json" for status in (409, 422)),
        ),
        "a request that cannot be right is a 400 under /v1, as OpenAI's clients expect",
    ),
    "access_log_in token required": "a login key may stand in its place",
}
RENAMED = {"windlass.testing: windlass.testing.ScriptedModel.reply(1 emit)"}  # what stands in its place

UPPER = ("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum")
LOWER = ("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum")

Json = dict[str, Any]


def test_the_listing_of_public_names_is_up_to_date() -> None:
    assert listing() == (ROOT / "docs" / "public-names.txt").read_text(), f"docs/public-names.txt {OUT_OF_DATE}"


def test_the_committed_description_of_the_api_is_up_to_date() -> None:
    assert description() == (ROOT / "docs" / "openapi.json").read_text(), f"docs/openapi.json {OUT_OF_DATE}"


def test_no_public_name_of_the_first_edition_is_gone() -> None:
    then, now = names((EDITION_1 / "public-names.txt").read_text()), names(listing())
    optional_now = {name.replace("=)", ")") for name in now}
    gone = then - now - optional_now - GONE.keys()
    assert sorted(gone) == []


def test_nothing_that_could_be_left_out_must_be_given_now() -> None:
    then, now = names((EDITION_1 / "public-names.txt").read_text()), names(listing())
    functions = {name.partition("(")[0] for name in then if name.endswith("()")}
    required = {name for name in now if re.fullmatch(r".*\((\d+ )?\w+\)", name)}
    assert sorted(name for name in required - then - RENAMED if name.partition("(")[0] in functions) == []


def test_no_operation_or_response_field_of_the_first_edition_is_gone() -> None:
    gone = set(responses(api_of_the_first_edition())) - set(responses(json.loads(description()))) - GONE.keys()
    assert sorted(gone) == []


def test_no_request_of_the_first_edition_is_refused_by_its_shape() -> None:
    then, now = dict(requests(api_of_the_first_edition())), dict(requests(json.loads(description())))
    gone = {name for name in then.keys() - now.keys() if f"{name.partition(' = ')[0]}: string" not in now}
    assert sorted(gone - GONE.keys()) == []
    assert [name for name, bounds in then.items() if tightened(bounds, now.get(name, {}))] == []
    old = {name.partition(" ")[0] for name in then}
    demanded = {
        name for name in now.keys() - then.keys() if name.endswith(" required") and not is_inside_new(name, then)
    }
    assert sorted(name for name in demanded if name.partition(" ")[0] in old) == []


def is_inside_new(name: str, then: Mapping[str, object]) -> bool:
    """What a field of today needs inside concerns nobody who does not send that field."""
    operation, field, *_ = name.split(" ")
    outer = re.split(r"[.\[]", field)[0]
    return outer != field and f"{operation} {outer}" not in then


def test_what_is_said_to_be_gone_is_gone() -> None:
    """The table of exceptions is no place to forget things in."""
    document = json.loads(description())
    there = names(listing()) | set(responses(document)) | dict(requests(document)).keys()
    assert sorted(GONE.keys() & there) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda api: api["paths"].pop("/policy"), "policy_put_put rules"),
        (lambda api: _schema(api, "ChatRequest")["properties"].pop("model"), "turns_chat model"),
        (lambda api: _schema(api, "Decision")["properties"]["decision"]["enum"].remove("deny"), "= deny"),
    ],
    ids=["a route", "a field", "a value"],
)
def test_a_loss_would_be_found(change: Any, found: str) -> None:
    api = api_of_the_first_edition()
    change(api)
    missing = dict(requests(api_of_the_first_edition())).keys() - dict(requests(api)).keys()
    assert [name for name in missing if found in name]


def names(text: str) -> set[str]:
    """Each with its section, and without what may widen."""
    found, section = set(), ""
    for line in text.splitlines():
        if line.startswith("# "):
            section = line[2:]
        elif line:
            found.add(f"{section}: {line.partition(' : ')[0]}")
    return found


def api_of_the_first_edition() -> Json:
    found: Json = json.loads((EDITION_1 / "openapi.json").read_text())
    return found


def responses(api: Json) -> Iterator[str]:
    """Operations, their statuses, and each field that an answer always or sometimes has."""
    for name, operation in operations(api):
        yield name
        for status, response in operation["responses"].items():
            yield f"{name} {status}"
            for mime, content in response.get("content", {}).items():
                yield f"{name} {status} {mime}"
                if status < "300":
                    yield from (f"{name} {status} {fact}" for fact, _ in walked(api, content["schema"], out=True))


def requests(api: Json) -> Iterator[tuple[str, Json]]:
    """Everything that may be sent, with the bounds of it; the first word is the operation."""
    for _, operation in operations(api):
        name = operation["operationId"]
        yield f"{name} there", {}
        for parameter in operation.get("parameters", []):
            own = f"{name} ?{parameter['name']}"
            yield own, {}
            if parameter["required"]:
                yield f"{own} required", {}
            yield from ((f"{own}{fact}", bounds) for fact, bounds in walked(api, parameter["schema"]))
        for content in operation.get("requestBody", {}).get("content", {}).values():
            yield from ((f"{name} {fact}", bounds) for fact, bounds in walked(api, content["schema"]))


def operations(api: Json) -> Iterator[tuple[str, Json]]:
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path} {operation['operationId']}", operation


Facts = Iterator[tuple[str, Json]]


def walked(api: Json, schema: Json, path: str = "", *, out: bool = False, seen: tuple[str, ...] = ()) -> Facts:
    """Each field with its types and values, and the bounds of what may be sent."""
    if ref := schema.get("$ref"):
        if ref not in seen:
            yield from walked(api, _schema(api, ref.rpartition("/")[2]), path, out=out, seen=(*seen, ref))
        return
    yield from _kinds(schema, path, out)
    for field, below in schema.get("properties", {}).items():
        own = f"{path}.{field}".lstrip(".")
        yield own, {}
        if field in schema.get("required", []):
            yield own + (" always" if out else " required"), {}
        yield from walked(api, below, own, out=out, seen=seen)
    inner = [(schema.get("items"), "[]"), (schema.get("additionalProperties"), ".*")]
    for below, way in (*inner, *((one, "") for one in schema.get("anyOf", []))):
        if isinstance(below, dict):
            yield from walked(api, below, path + way, out=out, seen=seen)


def _kinds(schema: Json, path: str, out: bool) -> Facts:
    """A text of a few values only is less to send, and no less to get."""
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if out and values:
        yield from ((f"{path}: {kind}", {}) for kind in {_kind(value) for value in values})
    elif values:
        yield from ((f"{path} = {value}", {}) for value in values)
    elif "type" in schema:
        bounds = {key: schema[key] for key in (*UPPER, *LOWER) if key in schema}
        yield f"{path}: {schema['type']}", {} if out else bounds


def tightened(then: Json, now: Json) -> bool:
    upper = any(key in now and now[key] < then.get(key, float("inf")) for key in UPPER)
    lower = any(key in now and now[key] > then.get(key, 0) for key in LOWER)
    return upper or lower


def _kind(value: object) -> str:
    return {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}[type(value)]


def _schema(api: Json, name: str) -> Json:
    found: Json = api["components"]["schemas"][name]
    return found
