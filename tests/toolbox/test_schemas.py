"""Schemas: honest ones are shown plainly and checked exactly, hostile ones keep their tool out; neither costs time."""

import copy
import json
import socket
from typing import Any

import pytest

from tests.kit.cpu import linear
from windlass.core.errors import BadInput
from windlass.servers import CallResult, TextPart
from windlass.toolbox.results import not_kept, tool_output
from windlass.toolbox.schemas import Checker, checked_result, shown, visible

TREE = {"type": "object", "properties": {"child": {"$ref": "#"}}}
BOMB: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/d0"}},
    "$defs": {
        **{f"d{n}": {"properties": {x: {"$ref": f"#/$defs/d{n + 1}"} for x in "abcd"}} for n in range(12)},
        "d12": {"type": "string"},
    },
}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def of(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


HOSTILE: dict[str, tuple[Any, str]] = {
    "a list": ([], "not an object"),
    "a text": ("object", "not an object"),
    "not of an object": ({"type": "array"}, "does not describe an object"),
    "of several types": ({"type": ["object", "null"]}, "does not describe an object"),
    "a type nobody knows": (of(type="wat"), "invalid"),
    "a remote reference": (of(**{"$ref": "http://127.0.0.1:1/x.json"}), "outside of itself"),
    "a file": (of(**{"$ref": "file:///etc/passwd"}), "outside of itself"),
    "a relative reference": (of(**{"$ref": "other.json#/a"}), "outside of itself"),
    "a remote reference in a definition": ({"type": "object", "$defs": {"a": {"$ref": "https://x/y"}}}, "outside"),
    "a dynamic reference": (of(**{"$dynamicRef": "#node"}), "outside of itself"),
    "a remote dialect": ({"$schema": "http://127.0.0.1:1/dialect", "type": "object"}, "invalid"),
    "itself": ({"type": "object", "$ref": "#"}, "itself"),
    "a tree": (TREE, "itself"),
    "a loop of two": (
        {**of(**{"$ref": "#/$defs/a"}), "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        "itself",
    ),
    "a reference to nothing": (of(**{"$ref": "#/$defs/none"}), "invalid"),
    "a reference that explodes": (BOMB, "too big"),
    "five megabytes": (of(description="x" * 5_000_000), "too big"),
    "many properties": (
        {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(9000)}},
        "too big",
    ),
    "nested deep": (nested(30), "nested too deep"),
    "nested beyond the stack": (nested(3000), "nested too deep"),
    "a pattern that is none": (of(type="string", pattern="("), "invalid"),
    "a pattern as big as memory": (of(type="string", pattern="((a{1000}){1000}){1000}"), "invalid"),
    "a limit that is a text": (of(type="string", maxLength="many"), "invalid"),
    "required as a text": ({"type": "object", "required": "a"}, "invalid"),
    "properties as a list": ({"type": "object", "properties": [1]}, "invalid"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_schema_keeps_its_tool_out_with_a_reason(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a schema reached for the network"))
    schema, reason = HOSTILE[kind]
    with linear(), pytest.raises(BadInput, match=reason):
        Checker(schema)


REDOS = [
    r"^(a+)+$",
    r"^(a|aa)+$",
    r"^(a|a?)+$",
    r"(.*a){20}$",
    r"^(?=(a+)+$)",
    r"^(a+)+\1$",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-z]+))*$",
]


@pytest.mark.parametrize("pattern", REDOS)
@pytest.mark.parametrize("keyword", ["pattern", "patternProperties"])
def test_a_pattern_meant_to_take_for_ever_does_not(pattern: str, keyword: str) -> None:
    evil = "a" * 300_000 + "!"
    if keyword == "pattern":
        checker, arguments = Checker(of(type="string", pattern=pattern)), {"a": evil}
    else:
        checker = Checker({"type": "object", "patternProperties": {pattern: {"type": "integer"}}})
        arguments = {evil: "x"}
    with linear():
        errors = checker.errors(arguments)
    gave_up = "backtracking count exceeded" in "".join(errors)
    assert gave_up or len(errors) == (1 if keyword == "pattern" else 0)


def test_errors_name_the_place_by_json_pointer() -> None:
    schema = {
        "type": "object",
        "properties": {"to": {"type": "array", "items": {"type": "object", "required": ["a/b"]}}, "n": {"minimum": 3}},
        "required": ["to"],
        "additionalProperties": False,
    }
    checker = Checker(schema)
    assert checker.errors({"to": [{"a/b": 1}]}) == []
    errors = checker.errors({"to": [{"a/b": 1}, {}], "n": 1})
    assert any(error.startswith("/to/1: ") for error in errors) and any(error.startswith("/n: ") for error in errors)
    assert checker.errors({})[0].startswith("(arguments): ")


def test_there_are_never_too_many_or_too_long_errors() -> None:
    checker = Checker({"type": "object", "additionalProperties": {"type": "integer"}})
    errors = checker.errors({f"k{n}": "x" * 10_000 for n in range(100)})
    assert len(errors) == 5 and all(len(error) < 400 for error in errors)


def test_a_look_ahead_in_an_honest_schema_works() -> None:
    checker = Checker(of(type="string", pattern=r"^(?!\.)[a-z.]+$"))
    assert checker.errors({"a": "ok.txt"}) == [] and checker.errors({"a": ".hidden"})


def test_the_model_sees_one_plain_object_and_the_original_stays() -> None:
    schema: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "tool",
        "type": "object",
        "properties": {
            "path": {"$ref": "#/definitions/path", "description": "where\u200b to\U000e0041"},
            "x-axis": {"type": "number", "x-internal": 1, "examples": [1]},
            "definitions": {"type": "string"},
        },
        "definitions": {"path": {"type": "string", "description": "any path", "minLength": 1}},
        "anyOf": [{"properties": {"extra": {"type": "string"}}, "required": ["extra"]}, {"required": ["path"]}],
    }
    before = copy.deepcopy(schema)
    checker = Checker(schema)
    assert checker.shown == {
        "type": "object",
        "properties": {
            "extra": {"type": "string"},
            "path": {"type": "string", "description": "where to", "minLength": 1},
            "x-axis": {"type": "number"},
            "definitions": {"type": "string"},
        },
    }
    assert schema == before
    assert checker.errors({}) and not checker.errors({"path": "a"})


def test_no_schema_means_no_arguments_are_known() -> None:
    assert Checker(None).shown == {"type": "object", "properties": {}}
    assert Checker({}).shown == {"type": "object", "properties": {}}


def test_data_inside_a_schema_is_not_taken_for_schema() -> None:
    schema = of(const={"$ref": "http://x/y", "$id": "z"}, default={"x-a": 1}, enum=[{"$comment": "kept"}])
    assert shown(schema) == schema
    Checker(schema)


def test_the_corpus_of_broken_schemas_never_raises_anything_else() -> None:
    words = ["type", "properties", "required", "items", "pattern", "enum", "$ref", "allOf", "not", "minimum"]
    values: list[Any] = [None, 1, -1, "x", "#", "#/a/0", [], {}, [{}], True, 1e308, "\ud800", {"$ref": "#"}, ["object"]]
    cases = [{word: value} for word in words for value in values]
    cases += [{"type": "object", "properties": {"a": case}} for case in cases]
    assert len(cases) >= 200
    for case in cases:
        try:
            Checker(case).errors(json.loads('{"a": [1, "x", null]}'))
        except BadInput as error:
            assert error.message


def test_invisible_letters_are_taken_out_of_what_models_read() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore")
    assert visible(f"Read{hidden} a\u202e file\ufeff, na\u00efve \u2713") == "Read a file, na\u00efve \u2713"


OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("structured", "failed", "misfit"),
    [
        ({"n": 7}, False, ""),
        ({"n": "seven"}, False, "n"),
        ({}, False, "n"),
        (None, False, ""),
        ({"n": "seven"}, True, ""),
    ],
)
async def test_a_result_that_breaks_its_own_output_schema_is_kept_and_marked(
    structured: object, failed: bool, misfit: str
) -> None:
    result = checked_result(CallResult((TextPart("seven"),), structured, failed), OUTPUT)
    assert bool(result.misfit) == bool(misfit) and misfit in result.misfit
    output = await tool_output(result, not_kept)
    assert output.text.endswith("seven") and ("does not fit" in output.text) == bool(misfit)


def test_an_output_schema_that_cannot_be_used_fits_everything() -> None:
    result = CallResult((), {"n": 1})
    assert checked_result(result, {"$ref": "https://elsewhere.example/schema"}) == result
