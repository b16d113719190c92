"""The bytes of a reply, without a server."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from windlass.testing import Gate, Usage, call, hang, headers, say, think, wait_for
from windlass.testing.chat_wire import Answering, Step, answer_body, answer_steps, limited, resliced
from windlass.testing.replies import Hang, Headers, Pause

WHOLE = Answering(number=3, model="m", prompt_chars=40)
STREAM = replace(WHOLE, stream=True)


def events(body: bytes) -> list[Any]:
    return [json.loads(line[6:]) for line in body.decode().split("\n\n") if line.startswith("data: {")]


def test_a_whole_answer_is_one_json_object() -> None:
    body = json.loads(answer_body(think("hm") + say("hi ", "there") + call("a", n=1), WHOLE))
    [choice] = body["choices"]
    assert choice["message"] == {
        "role": "assistant",
        "content": "hi there",
        "reasoning_content": "hm",
        "tool_calls": [{"id": "call_3_0", "type": "function", "function": {"name": "a", "arguments": '{"n": 1}'}}],
    }
    assert choice["finish_reason"] == "tool_calls"


def test_calls_alone_have_null_content_and_silence_is_an_empty_text() -> None:
    assert json.loads(answer_body(call("a"), WHOLE))["choices"][0]["message"]["content"] is None
    assert json.loads(answer_body(say(), WHOLE))["choices"][0]["message"]["content"] == ""


def test_a_stream_ends_with_a_reason_and_done() -> None:
    body = answer_body(say("hi"), STREAM)
    assert body.endswith(b"data: [DONE]\n\n")
    assert [event["choices"][0]["finish_reason"] for event in events(body)] == [None, None, "stop"]


def test_pauses_keep_their_place() -> None:
    gate = Gate()
    steps = list(answer_steps(headers() + wait_for(gate) + say("a", wait_for(gate), "b") + hang(), STREAM))
    kinds = [type(step) for step in steps]
    assert kinds[:5] == [Headers, Pause, bytes, bytes, Pause]
    assert kinds[6] is Hang
    assert steps[5] and b'"b"' in steps[5]  # type: ignore[operator]


def test_usage_is_counted_from_what_was_said() -> None:
    usage = json.loads(answer_body(say("x" * 40), WHOLE))["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (11, 11, 22)


def test_the_right_reply_of_a_sum_decides_options_and_the_left_keeps_its_own() -> None:
    joined = say("a").in_pieces(2).using(Usage(1, 2)) + call("b").ending("length").using(None)
    assert (joined.piece_chars, joined.finish_reason, joined.usage) == (2, "length", None)
    assert (joined.text, len(joined.calls)) == ("a", 1)


@given(
    text=st.text(max_size=30),
    arguments=st.text(max_size=30),
    chars=st.integers(1, 9),
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=4),
)
def test_any_chunking_gives_the_same_reply(text: str, arguments: str, chars: int, sizes: list[int]) -> None:
    reply = (say(text) + call("a", words=arguments)).in_pieces(chars)
    whole = answer_body(reply, STREAM)
    torn = list(resliced(answer_steps(reply, STREAM), sizes))
    assert b"".join(piece for piece in torn if isinstance(piece, bytes)) == whole
    assert max(len(piece) for piece in torn if isinstance(piece, bytes)) <= max(sizes)
    deltas = [event["choices"][0]["delta"] for event in events(whole)]
    assert "".join(delta.get("content") or "" for delta in deltas) == text
    calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert json.loads("".join(made["function"]["arguments"] for made in calls)) == {"words": arguments}


@given(count=st.integers(0, 800))
def test_a_limit_gives_a_prefix(count: int) -> None:
    steps = list(answer_steps(say("abc", "def"), STREAM))
    cut = b"".join(step for step in limited(steps, count) if isinstance(step, bytes))
    assert cut == answer_body(say("abc", "def"), STREAM)[:count]


def test_a_pause_flushes_the_bytes_before_it() -> None:
    steps: list[Step] = [b"abcde", Pause(Gate()), b"fg"]
    assert [step if isinstance(step, bytes) else None for step in resliced(steps, [3])] == [b"abc", b"de", None, b"fg"]
