"""Every rule refuses a bad request with a message that names the position, and lets the good one beside it pass."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.testing.strict_history import OPENAI, ZAI, history_faults

Request = dict[str, Any]
Change = Callable[[Request], object]


def good() -> Request:
    """A whole exchange: two calls answered out of order, an answer, and the next question."""
    return {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "List both."},
            {"role": "assistant", "content": None, "tool_calls": [made_call("c1"), made_call("c2")]},
            {"role": "tool", "tool_call_id": "c2", "content": "b"},
            {"role": "tool", "tool_call_id": "c1", "content": "a"},
            {"role": "assistant", "content": "a and b"},
            {"role": "user", "content": [{"type": "text", "text": "Thanks."}]},
        ],
        "tools": [made_tool("list_directory"), made_tool("read-file_2")],
        "tool_choice": "auto",
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.7,
        "max_tokens": 100,
    }


def made_call(call_id: str, arguments: str = '{"path": "/docs"}', name: str = "list_directory") -> Request:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def made_tool(name: str) -> Request:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": schema}}


def message(index: int, **fields: object) -> Change:
    return lambda request: request["messages"][index].update(fields)


def without(index: int) -> Change:
    return lambda request: request["messages"].pop(index)


def inserted(index: int, role: str, **fields: object) -> Change:
    return lambda request: request["messages"].insert(index, {"role": role, **fields})


def called(index: int, **fields: object) -> Change:
    return lambda request: request["messages"][2]["tool_calls"][index].update(fields)


def function(**fields: object) -> Change:
    return lambda request: request["messages"][2]["tool_calls"][0]["function"].update(fields)


def tool(**fields: object) -> Change:
    return lambda request: request["tools"][0]["function"].update(fields)


def top(**fields: object) -> Change:
    return lambda request: request.update(fields)


def dropped(key: str) -> Change:
    return lambda request: request.pop(key)


BAD: dict[str, tuple[Change, str]] = {
    "a call without its result": (without(4), "messages[2]: no tool message answers 'c1' before messages[4]"),
    "no results at all": (
        lambda r: r.update(messages=r["messages"][:3]),
        "messages[2]: no tool message answers 'c1', 'c2'",
    ),
    "a result without its call": (without(2), "messages[2]: answers 'c2', which is no open call"),
    "a result to an unknown call": (message(3, tool_call_id="c9"), "messages[3]: answers 'c9'"),
    "a second result to one call": (inserted(5, "tool", tool_call_id="c1", content="x"), "messages[5]: answers 'c1'"),
    "a result after another message": (
        inserted(3, "user", content="wait"),
        "no tool message answers 'c1', 'c2' before",
    ),
    "a result before its call": (
        lambda r: r["messages"].insert(2, r["messages"].pop(3)),
        "messages[2]: answers 'c2', which is no open call",
    ),
    "a result that names no call": (message(3, tool_call_id=""), "messages[3].tool_call_id"),
    "two calls with one id": (called(1, id="c1"), "messages[2].tool_calls: two calls have the id 'c1'"),
    "an id used in an earlier reply": (
        lambda r: r["messages"].extend(copy.deepcopy(r["messages"][2:5])),
        "messages[7]: call id 'c1' was used before",
    ),
    "an empty id": (called(0, id=""), "messages[2].tool_calls[0].id: must not be empty"),
    "a missing id": (lambda r: r["messages"][2]["tool_calls"][0].pop("id"), "tool_calls[0].id: must not be empty"),
    "an id that is too long": (called(0, id="c" * 41), "tool_calls[0].id: 41 characters"),
    "a call of another type": (called(0, type="code"), "tool_calls[0].type: must be 'function'"),
    "a call without a function": (called(0, function=None), "tool_calls[0]: must be an object with a function"),
    "a call with an unknown key": (called(0, state="ok"), "tool_calls[0].state: unknown key"),
    "a function with an unknown key": (function(args={}), "tool_calls[0].function.args: unknown key"),
    "arguments that are no JSON": (function(arguments='{"path": '), "function.arguments: is not JSON"),
    "arguments with NaN": (function(arguments='{"n": NaN}'), "function.arguments: is not JSON"),
    "arguments that are no object": (function(arguments="[1]"), "function.arguments: must be a JSON object"),
    "arguments that are empty": (function(arguments=""), "function.arguments: is not JSON"),
    "arguments that are no string": (function(arguments={"path": "/"}), "function.arguments: must be a string of JSON"),
    "arguments nested beyond reason": (function(arguments="[" * 100_000), "function.arguments: is not JSON"),
    "an empty function name": (function(name=""), "function.name: '' does not match"),
    "a function name with a dot": (function(name="files.list"), "'files.list' does not match"),
    "an empty list of calls": (message(5, tool_calls=[]), "messages[5].tool_calls: must be a list with at least one"),
    "calls that are null": (message(5, tool_calls=None), "messages[5].tool_calls: must be a list with at least one"),
    "no messages": (top(messages=[]), "messages: must be a list with at least one message"),
    "messages that are no list": (top(messages="hi"), "messages: must be a list"),
    "a message that is no object": (lambda r: r["messages"].append("hi"), "messages[7]: must be an object"),
    "no user message": (lambda r: r.update(messages=r["messages"][:1]), "messages: no user message"),
    "an unknown role": (message(0, role="function"), "messages[0].role: unknown role 'function'"),
    "a missing role": (lambda r: r["messages"][0].pop("role"), "messages[0].role: unknown role None"),
    "a role that is not a string": (message(0, role=["user"]), "messages[0].role: unknown role"),
    "an unknown key in a message": (message(1, timestamp="now"), "messages[1].timestamp: unknown key in a user"),
    "calls of a user": (message(1, tool_calls=[made_call("c8")]), "messages[1].tool_calls: unknown key in a user"),
    "an empty name": (message(1, name=""), "messages[1].name: must not be empty"),
    "null content without calls": (message(5, content=None), "messages[5].content: must not be null"),
    "null content of a result": (message(3, content=None), "messages[3].content: must not be null"),
    "empty content of a user": (message(1, content=""), "messages[1].content: must not be empty"),
    "empty content of an answer": (message(5, content=""), "messages[5].content: must not be empty"),
    "content that is a number": (message(1, content=7), "messages[1].content: must be a string or a list"),
    "content without parts": (message(1, content=[]), "messages[1].content: must be a string or a list"),
    "a part without a type": (message(1, content=[{"text": "x"}]), "messages[1].content[0]: a part must be an object"),
    "an empty text part": (message(1, content=[{"type": "text", "text": ""}]), "messages[1].content[0].text"),
    "reasoning that is null": (message(5, reasoning_content=None), "messages[5].reasoning_content"),
    "an empty list of tools": (lambda r: (r.update(tools=[]), r.pop("tool_choice")), "tools: must be a list with at"),
    "two tools of one name": (tool(name="read-file_2"), "tools: two functions are named 'read-file_2'"),
    "a tool name with a space": (tool(name="list directory"), "tools[0].function.name: 'list directory' does not"),
    "a tool name of 65": (tool(name="x" * 65), "tools[0].function.name"),
    "a tool name with a newline": (tool(name="list\n"), "tools[0].function.name"),
    "an empty tool name": (tool(name=""), "tools[0].function.name: '' does not match"),
    "a tool with an unknown key": (tool(annotations={}), "tools[0].function.annotations: unknown key"),
    "a description that is null": (tool(description=None), "tools[0].function.description: must be a string"),
    "parameters that are no object": (tool(parameters={"type": "string"}), "parameters: must be a JSON Schema of type"),
    "parameters without a type": (tool(parameters={"properties": {}}), "parameters: must be a JSON Schema of type"),
    "parameters that are null": (tool(parameters=None), "parameters: must be a JSON Schema of type"),
    "properties that are a list": (tool(parameters={"type": "object", "properties": []}), "properties: must be an"),
    "required that is a flag": (tool(parameters={"type": "object", "required": True}), "required: must be a list"),
    "a tool of an unknown type": (lambda r: r["tools"][0].update(type="web_search"), "tools[0]: must be an object of"),
    "a tool whose type is not a string": (
        lambda r: r["tools"][0].update(type=["function"]),
        "tools[0]: must be an object",
    ),
    "more tools than allowed": (lambda r: r.update(tools=[made_tool(f"t{n}") for n in range(129)]), "tools: 129 given"),
    "tool_choice without tools": (dropped("tools"), "tool_choice: only allowed with tools"),
    "an unknown tool_choice": (top(tool_choice="maybe"), "tool_choice: must be none, auto, required"),
    "a tool_choice of a stranger": (
        top(tool_choice={"type": "function", "function": {"name": "nope"}}),
        "tool_choice: names 'nope'",
    ),
    "an unknown parameter": (top(do_sample=True), "unknown parameter 'do_sample'"),
    "no model": (dropped("model"), "model: a non-empty string is required"),
    "a temperature that is too high": (top(temperature=2.5), "temperature: 2.5 is outside [0, 2]"),
    "a temperature as text": (top(temperature="hot"), "temperature: must be a number"),
    "a negative top_p": (top(top_p=-0.1), "top_p: -0.1 is outside [0, 1]"),
    "no room for an answer": (top(max_tokens=0), "max_tokens: must be a whole number"),
    "stream that is a string": (top(stream="yes"), "stream: must be true or false"),
    "stream_options without a stream": (dropped("stream"), "stream_options: only allowed with stream: true"),
}

FINE: dict[str, Change] = {
    "the request itself": lambda request: None,
    "a prompt without tools": lambda r: (r.pop("tools"), r.pop("tool_choice")),
    "a developer message": message(0, role="developer"),
    "empty content beside calls": message(2, content=""),
    "no content key beside calls": lambda r: r["messages"][2].pop("content"),
    "text beside calls": message(2, content="Let me see."),
    "reasoning": message(2, reasoning_content="hm"),
    "a name on a result": message(3, name="list_directory"),
    "an id of 40": lambda r: (called(0, id="c" * 40)(r), message(4, tool_call_id="c" * 40)(r)),
    "empty arguments": function(arguments="{}"),
    "a function that is no longer offered": function(name="gone"),
    "a tool without parameters": lambda r: r["tools"][0]["function"].pop("parameters"),
    "a tool name of 64": tool(name="x" * 64),
    "128 tools": lambda r: r.update(tools=[made_tool(f"t{n}") for n in range(128)]),
    "a forbidden tool_choice": top(tool_choice="none"),
    "a named tool_choice": top(tool_choice={"type": "function", "function": {"name": "list_directory"}}),
    "the highest temperature": top(temperature=2),
    "an answer at the end": without(6),
}


@pytest.mark.parametrize(("change", "expected"), BAD.values(), ids=BAD)
def test_a_provider_would_refuse(change: Change, expected: str) -> None:
    request = good()
    change(request)
    faults = history_faults(request)
    assert any(expected in fault for fault in faults), faults


@pytest.mark.parametrize("change", FINE.values(), ids=FINE)
def test_a_provider_would_accept(change: Change) -> None:
    request = good()
    change(request)
    assert history_faults(request) == []


@pytest.mark.parametrize("value", [0, 1, 1.5, -1])
@pytest.mark.parametrize("key", ["temperature", "top_p"])
def test_zai_wants_numbers_inside_the_open_interval(key: str, value: float) -> None:
    request = {"model": "glm-4.7", "messages": [{"role": "user", "content": "hi"}]}
    assert history_faults({**request, key: 0.01}, ZAI) == []
    assert history_faults({**request, key: value}, ZAI) == [f"{key}: {value:g} is outside (0, 1)"]


def test_zai_has_parameters_and_a_tool_of_its_own() -> None:
    search = {"type": "web_search", "web_search": {"enable": "True", "search_engine": "search_pro"}}
    request = {
        "model": "glm-4.7",
        "messages": [{"role": "user", "content": "hi"}],
        "thinking": {"type": "enabled"},
        "tool_stream": True,
        "do_sample": False,
        "tools": [search],
    }
    assert history_faults(request, ZAI) == []
    assert history_faults({**request, "tools": [{"type": "web_search"}]}, ZAI) == [
        "tools[0].web_search: must be an object"
    ]
    assert len(history_faults(request, OPENAI)) == 4


def test_a_parameter_can_be_allowed() -> None:
    request = {**good(), "top_k": 4}
    assert history_faults(request) == ["unknown parameter 'top_k'"]
    assert history_faults(request, replace(OPENAI, parameters=OPENAI.parameters | {"top_k"})) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
KEYS = st.sampled_from(["messages", "tools", "tool_choice", "temperature", "stream", "model", "stream_options"])


@given(key=KEYS, value=JSON)
def test_no_value_anywhere_breaks_the_check(key: str, value: object) -> None:
    assert all(isinstance(fault, str) for fault in history_faults({**good(), key: value}))


@given(index=st.integers(0, 6), key=st.sampled_from(["role", "content", "tool_calls", "tool_call_id"]), value=JSON)
def test_no_value_in_a_message_breaks_the_check(index: int, key: str, value: object) -> None:
    request = good()
    request["messages"][index][key] = value
    assert all(isinstance(fault, str) for fault in history_faults(request))


@given(st.integers(0, 7), st.integers(0, 7))
def test_any_slice_with_half_an_exchange_is_refused(start: int, end: int) -> None:
    messages = good()["messages"][start:end]
    roles = [m["role"] for m in messages]
    whole = roles.count("tool") == (2 if any("tool_calls" in m for m in messages) else 0)
    assert (history_faults({"model": "m", "messages": messages}) == []) == (whole and "user" in roles)


def test_the_request_is_left_as_it_was() -> None:
    request = good()
    before = json.dumps(request)
    history_faults(request)
    assert json.dumps(request) == before
