"""A long result in short: where it is JSON its shape, and always its beginning and end. Also the two built-in tools
with which a model reads the rest."""

import json
import re
from typing import Any

from windlass.core.messages import ToolSpec

LONGEST = 16_000
_HEAD, _TAIL, _SHAPE = 9_000, 4_000, 2_000
_PARSED = 2_000_000  # longer ones would hold up the loop
_PIECE = 12_000
_MATCHES, _AROUND = 20, 160
_TEXT_BEGINS = re.compile(rb'"text"\s*:\s*"')


def preview(text: str, result_id: str) -> str:
    """At most `LONGEST` characters."""
    left_out = len(text) - _HEAD - _TAIL
    parts = [
        f"[This result has {len(text):,} characters; {left_out:,} in the middle are left out here. "
        f'Read on with result_read or result_search, result_id "{result_id}".]',
        *([f"[Shape: {found}]"] if (found := _shape_of_text(text)) else []),
        text[:_HEAD],
        f"[… {left_out:,} characters left out …]",
        text[-_TAIL:],
    ]
    return "\n".join(parts)


def raw_preview(whole: bytes, result_id: str) -> str:
    """Of an answer that was never parsed: the first text in it, unescaped where that is easy."""
    begins = _TEXT_BEGINS.search(whole, 0, 4096)
    start = begins.end() if begins else 0
    head = _decoded(whole[start : start + _HEAD], escaped=begins is not None)
    tail = _decoded(whole[-_TAIL:], escaped=False)
    return "\n".join(
        [
            f"[This result is very long: {len(whole):,} bytes, kept as the server wrote it. "
            f'Read on with result_read or result_search, result_id "{result_id}".]',
            head,
            "[… left out …]",
            tail,
        ]
    )


def read_piece(whole: bytes, offset: int = 0, length: int = _PIECE) -> str:
    """A piece of a kept result, cut between letters, with where to go on."""
    start = _letter_start(whole, max(0, min(offset, len(whole))))
    end = _letter_start(whole, min(len(whole), start + max(1, min(length, _PIECE))))
    text = whole[start:end].decode("utf-8", "replace")
    rest = f"; go on at offset {end}" if end < len(whole) else "; this is the end"
    return f"[bytes {start} to {end} of {len(whole)}{rest}]\n{text}"


def search_whole(whole: bytes, query: str) -> str:
    """Every place where the words stand, upper and lower case alike, with what is around them."""
    if not query.strip():
        return "Nothing to search for."
    # Only ASCII is folded: folding all of Unicode would move the offsets.
    lower, wanted = whole.lower(), query.encode("utf-8", "replace").lower()
    found: list[str] = []
    place = lower.find(wanted)
    while place >= 0 and len(found) < _MATCHES:
        start = _letter_start(whole, max(0, place - _AROUND))
        end = _letter_start(whole, min(len(whole), place + len(wanted) + _AROUND))
        found.append(f"offset {place}: …{whole[start:end].decode('utf-8', 'replace')}…")
        place = lower.find(wanted, max(end, place + 1))
    if not found:
        return f"{query!r} does not occur in this result."
    more = f"\n[more after offset {place}]" if place >= 0 else ""
    return "\n".join(found) + more


def _shape_of_text(text: str) -> str:
    if len(text) > _PARSED or text.lstrip()[:1] not in ("{", "["):
        return ""
    try:
        return shape(json.loads(text))[:_SHAPE]
    except (ValueError, RecursionError):
        return ""


def shape(value: Any, depth: int = 0) -> str:
    """`{name: text, tags: [120 of text]}`: what is in there, without the things themselves."""
    match value:
        case dict():
            if depth > 3:
                return "{…}"
            inner = [f"{key}: {shape(item, depth + 1)}" for key, item in list(value.items())[:20]]
            return "{" + ", ".join([*inner, *(["…"] if len(value) > 20 else [])]) + "}"
        case list():
            return f"[{len(value)} of {shape(value[0], depth + 1)}]" if value and depth <= 3 else f"[{len(value)}]"
        case str():
            return "text" if len(value) < 200 else f"text of {len(value):,}"
        case bool():
            return "true or false"
        case int() | float():
            return "number"
        case _:
            return "null"


def _decoded(piece: bytes, *, escaped: bool) -> str:
    text = piece.decode("utf-8", "ignore")
    if not escaped:
        return text
    for cut in range(7):  # the piece may end inside an escape, of which the longest is six letters
        try:
            return str(json.loads(f'"{text[: len(text) - cut]}"', strict=False))
        except ValueError:
            continue
    return text


def _letter_start(whole: bytes, place: int) -> int:
    while 0 < place < len(whole) and whole[place] & 0xC0 == 0x80:
        place -= 1
    return place


def _builtin(name: str, description: str, properties: dict[str, object]) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {"result_id": {"type": "string"}, **properties},
        "required": ["result_id", *(["query"] if "query" in properties else [])],
        "additionalProperties": False,
    }
    return ToolSpec(name, "windlass", name, description, json.dumps(schema), safe=True, approval="auto", read_only=True)


RESULT_TOOLS = (
    _builtin(
        "result_read",
        "Read a piece of an earlier tool result that was too long to be shown whole.",
        {
            "offset": {"type": "integer", "minimum": 0, "description": "where to begin, in bytes"},
            "length": {"type": "integer", "minimum": 1, "maximum": _PIECE},
        },
    ),
    _builtin(
        "result_search",
        "Find text in an earlier tool result that was too long to be shown whole.",
        {"query": {"type": "string", "minLength": 1, "description": "plain text, not a pattern"}},
    ),
)
