"""The usual answer is read without the SDK, to the same result; everything else is left to the SDK."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.servers.pipes import LONGEST_PLAIN, plain_answer, plain_result
from windlass.servers.sdk import types
from windlass.servers.session import result_of
from windlass.servers.values import CallResult, TextPart

ANSWER = {"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "hello"}]}}
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])))


@given(TEXTS, st.none() | st.booleans(), st.booleans())
def test_the_fast_way_and_the_sdks_way_give_the_same_result(
    texts: list[str], failed: bool | None, ascii_only: bool
) -> None:
    result: dict[str, object] = {"content": [{"type": "text", "text": text} for text in texts]}
    if failed is not None:
        result["isError"] = failed
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "result": result}, ensure_ascii=ascii_only).encode()
    fast, slow = plain_answer(line), types.JSONRPCResponse.model_validate_json(line, by_name=False)
    assert fast and (fast.id, fast.result) == (slow.id, slow.result)
    by_sdk = result_of(types.CallToolResult.model_validate(slow.result, by_name=False))
    assert plain_result(fast.result) == by_sdk == CallResult(tuple(map(TextPart, texts)), failed=bool(failed))


def test_an_answer_of_nothing_but_text_is_read() -> None:
    answer = plain_answer(json.dumps(ANSWER).encode())
    assert answer and answer.id == 7
    assert plain_result(answer.result) == CallResult((TextPart("hello"),))
    failed = {"content": [{"type": "text", "text": "no"}, {"type": "text", "text": "way"}], "isError": True}
    assert plain_result(failed) == CallResult((TextPart("no"), TextPart("way")), failed=True)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}',
        b'{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}',
        b'{"jsonrpc":"2.0","id":"7","result":{}}',
        b'{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}',
        b'{"jsonrpc":"1.0","id":7,"result":{}}',
        b'{"jsonrpc":"2.0","id":7,"result":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":7,"result":{"x":"\xff"}}',
        b'{"jsonrpc":"2.0","id":7,"result":{"x":' + b"[" * 5000 + b"]" * 5000 + b"}}",
        b'{"jsonrpc":"2.0","id":7,"result":{"x":"' + b"a" * LONGEST_PLAIN + b'"}}',
        b'{"jsonrpc":"2.0","id":7,"resu',
    ],
)
def test_a_line_of_another_form_is_left_alone(line: bytes) -> None:
    assert plain_answer(line) is None


@pytest.mark.parametrize(
    "more",
    [
        {"structuredContent": {"a": 1}},
        {"_meta": {"windlass/spilled": 7}},
        {"content": [{"type": "image", "data": "", "mimeType": "image/png"}]},
        {"content": [{"type": "text", "text": "hello", "annotations": {"audience": ["user"]}}]},
        {"content": [{"type": "text", "text": 5}]},
        {"content": None},
        {"isError": "no"},
    ],
)
def test_a_result_that_is_more_than_text_is_left_alone(more: dict[str, object]) -> None:
    assert plain_result({"content": [{"type": "text", "text": "hello"}], **more}) is None
