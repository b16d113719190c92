"""The line that a program sends most: the answer to a call, and in it nothing but text. Read without the SDK's models,
which take twenty times as long; what is not quite of this form is left to them."""

from typing import Any, Literal

import msgspec

from windlass.servers.values import CallResult, TextPart

LONGEST = 1 << 20


class PlainAnswer(msgspec.Struct, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: int
    result: dict[str, Any]


class _Text(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["text"]
    text: str


class _Plain(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    content: list[_Text]
    is_error: bool = False


_answer = msgspec.json.Decoder(PlainAnswer).decode


def quickly(line: bytes) -> PlainAnswer | None:
    if len(line) > LONGEST:
        return None
    try:
        return _answer(line)
    except (ValueError, RecursionError):
        return None


def plain_result(result: dict[str, Any]) -> CallResult | None:
    try:
        plain = msgspec.convert(result, _Plain)
    except ValueError:
        return None
    return CallResult(tuple(TextPart(block.text) for block in plain.content), failed=plain.is_error)
