"""Markup that leaks into a reply's text: calls as a chat template writes them, and the model's thoughts in tags.

While the reply grows, `MarkupFilter` keeps it from watchers and `DeltaBuffer` joins what they get. At the end
`recover_calls` and `thoughts.split_thoughts` read it from the whole text, in linear time. Only offered tools are ever
recovered.
"""

import json
import re
from collections.abc import Callable

from windlass.core.messages import Toolset, ToolSpec
from windlass.core.ports import CallDelta, DraftCall, Emit, ReasoningDelta, TextDelta
from windlass.providers.calls import read_arguments
from windlass.providers.thoughts import CLOSING, OPENING

OPEN, CLOSE = "<tool_call>", "</tool_call>"
LEAKED = "a call was written as text"
_NAME = re.compile(r"[\w.-]+")
_BEGUN_TAG = re.compile(r"(?:<[\s/]*[thinkg]{0,8}\s*)?", re.IGNORECASE)
_BEGUN_TAG_AT_END = re.compile(r"<[\s/]*[thinkg]{0,8}\s*$", re.IGNORECASE)


def recover_calls(text: str, offered: Toolset) -> tuple[str, list[DraftCall]]:
    """The text without its leaked calls, and the calls. A block that names no offered tool stays text."""
    kept: list[str] = []
    calls: list[DraftCall] = []
    at, start = 0, text.find(OPEN) if offered.tools else -1
    while start >= 0:
        following = text.find(OPEN, start + len(OPEN))
        stop = len(text) if following < 0 else following
        end = text.find(CLOSE, start, stop)
        if end >= 0:
            stop = end + len(CLOSE)
        call = _call(text[start:stop], end >= 0, offered)
        if call:
            kept.append(text[at:start])
            calls.append(call)
            at = stop
        start = following
    return ("".join((*kept, text[at:])).strip(), calls) if calls else (text, [])


class MarkupFilter:
    """Passes on text as it grows, thoughts in tags as thoughts, and holds back what may turn out to be a call."""

    __slots__ = ("_calls", "_held", "_mode", "_reasoning", "_text")

    def __init__(self, text: Callable[[str], None], reasoning: Callable[[str], None], *, calls: bool) -> None:
        self._text = text
        self._reasoning = reasoning
        self._calls = calls
        self._mode = "start"
        self._held = ""

    def feed(self, text: str) -> None:
        if self._mode == "text" and not self._held and "<" not in text:
            self._text(text)
        elif self._mode != "held":
            self._held += text
            self._sift()

    def _sift(self) -> None:
        if self._mode == "start":
            self._read_start()
        if self._mode == "thinking":
            self._read_reasoning()
        if self._mode == "text":
            self._read_text()

    def _read_start(self) -> None:
        opening = self._held.lstrip()
        if opens := OPENING.match(opening):
            self._mode, self._held = "thinking", opening[opens.end() :].lstrip()
        elif ends := CLOSING.match(opening):
            self._held = opening[ends.end() :].lstrip()
            self._read_start()
        elif not _BEGUN_TAG.fullmatch(opening) or len(self._held) > 200:
            self._mode = "text"

    def _read_reasoning(self) -> None:
        thought, found = self._held, CLOSING.search(self._held)
        if found:
            thought, self._held = thought[: found.start()], thought[found.end() :].lstrip()
            self._mode = "start"
        else:
            tail = _BEGUN_TAG_AT_END.search(thought)
            thought, self._held = (thought[: tail.start()], thought[tail.start() :]) if tail else (thought, "")
        if thought:
            self._reasoning(thought)
        if found:
            self._sift()

    def _read_text(self) -> None:
        text, found, _ = self._held.partition(OPEN) if self._calls else (self._held, "", "")
        if found:
            self._mode, self._held = "held", ""
        else:
            text, self._held = _before_tag(text, OPEN) if self._calls else (text, "")
        if text:
            self._text(text)


class DeltaBuffer:
    """Joins text that arrives together: a burst of tokens costs every listener one delta, not one a token. Text waits
    until `flush`, or until a delta of another kind comes, so that the order stays."""

    __slots__ = ("_attempt", "_emit", "_kind", "_pieces")

    def __init__(self, emit: Emit, attempt: int = 1) -> None:
        self._emit = emit
        self._attempt = attempt
        self._kind: type[TextDelta] | type[ReasoningDelta] = TextDelta
        self._pieces: list[str] = []

    def text(self, piece: str) -> None:
        if self._kind is not TextDelta:
            self.flush()
            self._kind = TextDelta
        self._pieces.append(piece)

    def reasoning(self, piece: str) -> None:
        if self._kind is not ReasoningDelta:
            self.flush()
            self._kind = ReasoningDelta
        self._pieces.append(piece)

    def call(self, index: int, name: str, piece: str) -> None:
        self.flush()
        self._emit(CallDelta(self._attempt, index, name, piece))

    def flush(self) -> None:
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            self._emit(self._kind(self._attempt, text))


def _before_tag(text: str, tag: str) -> tuple[str, str]:
    """What can be shown, and a tail that may be the beginning of the tag."""
    start = text.rfind("<")
    if start >= 0 and tag.startswith(text[start:]):
        return text[:start], text[start:]
    return text, ""


def _call(block: str, closed: bool, offered: Toolset) -> DraftCall | None:
    inner = block.removeprefix(OPEN).removesuffix(CLOSE).strip()
    read = _from_json(inner) or _from_function(inner, offered) or _from_pairs(inner, offered)
    named = _NAME.match(inner)
    name = read[0] if read else named[0] if named else ""
    tool = offered.by_name.get(name)
    if tool is None or tool.server == "provider":
        return None
    if read is None or not closed:
        return DraftCall(name, raw=block, broken="The call was written as text and is not whole.", repairs=(LEAKED,))
    arguments = read_arguments(read[1])[0]
    return DraftCall(name, arguments.text, raw=block, broken=arguments.broken, repairs=(LEAKED,))


def _from_json(inner: str) -> tuple[str, str] | None:
    if not inner.startswith("{"):
        return None
    try:
        value = json.loads(inner)
    except (ValueError, RecursionError):
        return None
    name = value.get("name")
    if not isinstance(name, str):
        return None
    arguments = value.get("arguments", value.get("parameters", {}))
    return name, arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _from_function(inner: str, offered: Toolset) -> tuple[str, str] | None:
    """`<function=NAME><parameter=KEY>VALUE</parameter></function>`"""
    if not (inner.startswith("<function=") and inner.endswith("</function>")):
        return None
    name, _, rest = inner.removeprefix("<function=").removesuffix("</function>").partition(">")
    pairs = _pairs(rest, "<parameter=", ">", "", "</parameter>")
    return None if pairs is None else (name, _typed(pairs, offered.by_name.get(name)))


def _from_pairs(inner: str, offered: Toolset) -> tuple[str, str] | None:
    """`NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>`"""
    name = _NAME.match(inner)
    if not name:
        return None
    pairs = _pairs(inner[name.end() :], "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
    return None if pairs is None else (name[0], _typed(pairs, offered.by_name.get(name[0])))


def _pairs(text: str, key: str, key_end: str, value: str, value_end: str) -> dict[str, str] | None:
    """Keys and values between these marks; None unless the text is nothing else."""
    found: dict[str, str] = {}
    at = _skip_blank(text, 0)
    while at < len(text):
        key_at, key_stop = at + len(key), text.find(key_end, at)
        if not text.startswith(key, at) or key_stop < 0:
            return None
        at = key_stop + len(key_end)
        at = _skip_blank(text, at) if value else at
        value_at, value_stop = at + len(value), text.find(value_end, at)
        if not text.startswith(value, at) or value_stop < 0:
            return None
        inner = text[value_at:value_stop]
        found[text[key_at:key_stop].strip()] = inner if value else inner.removeprefix("\n").removesuffix("\n")
        at = _skip_blank(text, value_stop + len(value_end))
    return found


def _skip_blank(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _typed(pairs: dict[str, str], tool: ToolSpec | None) -> str:
    """Values have no quotes in markup; the tool's schema says which are strings."""
    properties = json.loads(tool.schema).get("properties", {}) if tool else {}
    return json.dumps({key: _value(text, properties.get(key)) for key, text in pairs.items()}, ensure_ascii=False)


def _value(text: str, schema: object) -> object:
    if isinstance(schema, dict) and schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
