"""What can be said of a JSON-RPC message from its two ends, when the whole is too long or too broken to parse."""

import json
import re
from typing import Literal

from windlass.core.values import value_object

_ID = rb'("(?:[^"\\]|\\.){0,256}"|-?\d{1,18})'
_PAIR = re.compile(rb'\s*[{,]\s*"(jsonrpc|id)"\s*:\s*' + _ID)
_BODY = re.compile(rb'\s*[{,]\s*"(result|error|method|params)"\s*:')
_LAST = re.compile(rb',\s*"id"\s*:\s*' + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


@value_object
class Peeked:
    """`other` is a request or notification of the server's own, whose id is none of ours."""

    kind: Literal["result", "error", "other"]
    id: int | str | None = None


def peek(head: bytes, tail: bytes) -> Peeked:
    """Some servers write the id first, some last; both ends are looked at, and only at the top level: the brace after
    an id at the very end can only be the message's own."""
    found: bytes | None = None
    place = 0
    while pair := _PAIR.match(head, place):
        found = pair[2] if pair[1] == b"id" else found
        place = pair.end()
    body = _BODY.match(head, place)
    if body is None or body[1] in (b"method", b"params"):
        return Peeked("other")
    if found is None and (last := _LAST.search(tail)):
        found = last[1]
    return Peeked("result" if body[1] == b"result" else "error", _id(found))


def _id(text: bytes | None) -> int | str | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, int | str) else None
