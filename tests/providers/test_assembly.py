"""Assembly from chunks: equal to a plain reading for every well-formed stream, never a crash for any other."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.kit import TOOLS, Recorder
from windlass.core.errors import ModelError
from windlass.core.messages import Toolset, ToolSpec
from windlass.core.ports import CallDelta, DraftCall, LiveEvent, ReasoningDelta, Reply, TextDelta
from windlass.providers.assembly import RAW_CAP, Assembly
from windlass.providers.markup import DeltaBuffer

WORD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<"), max_size=12)
CALL = st.tuples(
    st.sampled_from([tool.name for tool in TOOLS.tools]),
    st.dictionaries(st.text("abc", min_size=1, max_size=3), WORD | st.integers(), max_size=3),
)


def chunk(delta: object, finish: str | None = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"model": "m", "choices": [choice], **more}).encode()


def assembled(*events: bytes, tools: Toolset = TOOLS, recorder: Recorder | None = None) -> Reply:
    assembly = Assembly(tools, recorder or Recorder(), provider="p1")
    for event in events:
        assembly.feed(event)
    return assembly.reply()


@given(
    st.lists(WORD, max_size=6),
    st.lists(WORD, max_size=4),
    st.lists(CALL, max_size=4),
    st.integers(1, 9),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_a_well_formed_stream_gives_exactly_what_was_sent(
    texts: list[str],
    thoughts: list[str],
    calls: list[tuple[str, dict[str, object]]],
    size: int,
    repeats: bool,
    dice: random.Random,
) -> None:
    lanes = [[chunk({"content": text}) for text in texts], [chunk({"reasoning_content": text}) for text in thoughts]]
    lanes += [call_chunks(index, name, json.dumps(given), size, repeats) for index, (name, given) in enumerate(calls)]
    recorder = Recorder()
    reply = assembled(*interleaved(lanes, dice), chunk({}, "tool_calls" if calls else "stop"), recorder=recorder)
    assert reply.text == "".join(texts)
    assert reply.reasoning == "".join(thoughts)
    assert list(reply.calls) == [
        DraftCall(name, json.dumps(given), f"id-{index}") for index, (name, given) in enumerate(calls)
    ]
    assert (
        "".join(heard.text for heard in recorder.events if isinstance(heard, TextDelta)).strip() == reply.text.strip()
    )
    assert not set(reply.repairs) - {"the calls were numbered with gaps"}


def call_chunks(index: int, name: str, arguments: str, size: int, repeats: bool) -> list[bytes]:
    opening = {"index": index, "id": f"id-{index}", "type": "function", "function": {"name": name, "arguments": ""}}
    pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    again = {"id": f"id-{index}", "type": "function"} if repeats else {}
    named = {"name": name} if repeats else {}
    more = [{"index": index, **again, "function": {**named, "arguments": piece}} for piece in pieces]
    return [chunk({"tool_calls": [part]}) for part in (opening, *more)]


def interleaved(lanes: list[list[bytes]], dice: random.Random) -> list[bytes]:
    queues = [list(lane) for lane in lanes if lane]
    mixed = []
    while queues:
        queue = dice.choice(queues)
        mixed.append(queue.pop(0))
        queues = [queue for queue in queues if queue]
    return mixed


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.sampled_from(["", "0", "stop", "function", "get_time", "{", "{}"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "choices delta message content tool_calls function name arguments id index type finish_reason error "
                "code success data usage prompt_tokens web_search link reasoning_content refusal text".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(st.lists(ANY_JSON, max_size=5))
def test_no_json_crashes_it_and_every_call_can_go_back(values: list[Any]) -> None:
    assembly = Assembly(TOOLS, Recorder(), provider="p1")
    try:
        for value in values:
            assembly.feed(json.dumps(value).encode())
        reply = assembly.reply()
    except ModelError:
        return
    assert all(isinstance(json.loads(call.arguments), dict) for call in reply.calls)
    assert all(call.name or call.broken for call in reply.calls)


@given(ANY_JSON)
def test_no_whole_body_crashes_it(value: Any) -> None:
    assembly = Assembly(TOOLS, Recorder())
    try:
        assembly.feed_whole(json.dumps(value).encode())
        assembly.reply()
    except ModelError as error:
        assert error.message


@given(st.binary(max_size=60))
def test_no_bytes_crash_it(data: bytes) -> None:
    assembly = Assembly(TOOLS, Recorder())
    with pytest.raises(ModelError):
        assembly.feed(data)
        assembly.reply()


def test_leaked_markup_is_not_shown_while_it_streams() -> None:
    recorder = Recorder()
    text = "Wait. <tool_call>get_time</tool_call>"
    reply = assembled(*(chunk({"content": one}) for one in text), chunk({}, "stop"), recorder=recorder)
    assert [call.name for call in reply.calls] == ["get_time"]
    assert "".join(heard.text for heard in recorder.events if isinstance(heard, TextDelta)) == "Wait. "


def test_a_lesser_sign_is_shown_as_soon_as_it_is_harmless() -> None:
    recorder = Recorder()
    assembled(*(chunk({"content": one}) for one in ("1 <", " 2 <to", "day", "<")), chunk({}, "stop"), recorder=recorder)
    assert [heard.text for heard in recorder.events if isinstance(heard, TextDelta)] == ["1 ", "< 2 ", "<today"]


def test_markup_is_plain_text_when_no_tools_were_offered() -> None:
    reply = assembled(chunk({"content": "<tool_call>get_time</tool_call>"}, "stop"), tools=Toolset())
    assert (reply.text, reply.calls) == ("<tool_call>get_time</tool_call>", ())


def test_a_providers_own_tool_is_not_recovered_from_markup() -> None:
    own = Toolset("h", (ToolSpec("web_search", "provider", "web_search", schema='{"type":"web_search"}'),))
    reply = assembled(chunk({"content": "<tool_call>web_search</tool_call>"}, "stop"), tools=own)
    assert reply.calls == ()


def test_words_about_tags_stay_words() -> None:
    text = "Close it with `</think>` when done."
    assert assembled(chunk({"content": text}, "stop")).text == text


def test_the_raw_text_is_kept_only_when_something_was_repaired_and_has_a_cap() -> None:
    assert assembled(chunk({"content": "x" * 100}, "stop")).raw == ""
    repaired = assembled(
        chunk({"content": "x" * RAW_CAP}), chunk({"tool_calls": [{"function": {"name": "get_time"}}]}, "tool_calls")
    )
    assert len(repaired.raw) == RAW_CAP


def test_a_call_is_heard_with_its_place_and_name() -> None:
    recorder = Recorder()
    first = {"index": 1, "id": "b", "function": {"name": "get_time", "arguments": "{"}}
    assembled(
        chunk({"tool_calls": [first]}),
        chunk({"tool_calls": [{"index": 1, "function": {"arguments": "}"}}]}, "tool_calls"),
        recorder=recorder,
    )
    assert recorder.events == [CallDelta(1, 0, "get_time", "{"), CallDelta(1, 0, "get_time", "}")]


def test_calls_without_end_are_refused_in_linear_time() -> None:
    parts = [{"index": n, "id": f"i{n}", "function": {"name": "get_time", "arguments": "{}"}} for n in range(20_000)]
    with pytest.raises(ModelError, match="more than 1024 calls"):
        assembled(*(chunk({"tool_calls": [part]}) for part in parts), chunk({}, "tool_calls"))


def test_much_markup_takes_linear_time() -> None:
    pairs = "<arg_key>a</arg_key><arg_value>b</arg_value>" * 20_000
    text = f"<tool_call>get_time{pairs}</tool_call>" + "<tool_call>" * 20_000 + "<tool_call>" + " " * 100_000
    reply = assembled(chunk({"content": text}, "stop"))
    assert json.loads(reply.calls[0].arguments) == {"a": "b"}


def test_text_of_one_kind_is_joined_and_keeps_its_order() -> None:
    emitted: list[LiveEvent] = []
    buffer = DeltaBuffer(emitted.append)
    buffer.reasoning("let ")
    buffer.reasoning("me see")
    buffer.text("It ")
    buffer.text("is ")
    buffer.call(0, "look", "{}")
    buffer.text("noon")
    buffer.flush()
    buffer.flush()
    assert emitted == [
        ReasoningDelta(1, "let me see"),
        TextDelta(1, "It is "),
        CallDelta(1, 0, "look", "{}"),
        TextDelta(1, "noon"),
    ]


def test_events_that_came_in_one_piece_give_one_delta() -> None:
    emitted: list[LiveEvent] = []
    assembly = Assembly(Toolset(), emitted.append)
    assembly.feed(*(_text_chunk(text) for text in ("one ", "two ", "three ")))
    assembly.feed(_text_chunk("four"))
    assert emitted == [TextDelta(1, "one two three "), TextDelta(1, "four")]


def _text_chunk(text: str) -> bytes:
    return b'{"model":"m","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}' % text.encode()
