"""Argument texts: what is taken, what is repaired, what is called broken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.providers.calls import DEPTH, Arguments, read_arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), JSON, max_size=4)


@given(OBJECT)
def test_an_object_is_taken_as_it_stands(value: dict[str, object]) -> None:
    text = json.dumps(value)
    assert read_arguments(text) == (Arguments(text),)


@given(OBJECT, st.data())
def test_an_object_cut_short_is_never_run(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(value)
    (cut,) = read_arguments(text[: data.draw(st.integers(1, len(text) - 1))])
    assert cut.broken
    assert cut.text == "{}"


@given(st.text())
def test_whatever_comes_an_object_goes_back(text: str) -> None:
    for one in read_arguments(text):
        assert isinstance(json.loads(one.text), dict)


@pytest.mark.parametrize("text", ["", "  ", "null", "[]", "{}{}", '"{}"'])
def test_nothing_is_an_empty_object(text: str) -> None:
    (one,) = read_arguments(text)
    assert (one.text, one.broken) == ("{}", "")
    assert one.repair


def test_arguments_run_together_are_split() -> None:
    read = read_arguments('{"a":1}{"a":2}\n{"a":3}, {}')
    assert [one.text for one in read] == ['{"a":1}', '{"a":2}', '{"a":3}']
    assert {one.repair for one in read} == {"several arguments were run together"}


def test_an_object_in_a_string_after_another_is_still_an_object() -> None:
    (one,) = read_arguments('{},"{\\"a\\":1}"')
    assert json.loads(one.text) == {"a": 1}


def test_an_echo_is_one_call_not_two() -> None:
    assert read_arguments('{"a":1}{"a":1}') == (Arguments('{"a":1}', "the arguments were sent more than once"),)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1}{"a":',
        '{"a":1}</tool_call>',
        '{"a":NaN}',
        '{"a":1,"a":2}',
        '{"a":{"b":1,"b":2}}',
        '{"a":"\\ud800"}',
        "[1]",
        "3",
        '"text"',
        "{'a': 1}",
        "```json\n{\n```",
        "```",
        '{"a":' * (DEPTH + 1) + "1" + "}" * (DEPTH + 1),
        '{"a":' * 100_000,
        "[" * 100_000,
        '{"a":' + "9" * 5000 + "}",
    ],
)
def test_what_has_no_plain_meaning_is_broken(text: str) -> None:
    (one,) = read_arguments(text)
    assert one.broken
    assert one.text == "{}"


def test_what_is_deep_but_not_too_deep_is_taken() -> None:
    text = '{"a":' * DEPTH + "1" + "}" * DEPTH
    assert read_arguments(text) == (Arguments(text),)


def test_many_brackets_are_not_depth() -> None:
    text = json.dumps({"rows": [[n] for n in range(500)]})
    assert read_arguments(text) == (Arguments(text),)
