"""Markup that leaks into a reply's text: calls as a chat template writes them, and the model's thoughts in tags.

`Sieve` keeps it from the eyes of whoever watches the reply grow; `recover_calls` and `split_thoughts` read it from the
whole text. Only tools that were offered are ever recovered.
"""

import json
import re
from collections.abc import Callable

from windlass.core.messages import Toolset, ToolSpec
from windlass.core.ports import DraftCall
from windlass.providers.arguments import read_arguments

_BLOCK = re.compile(r"<tool_call>\s*(.*?)\s*(</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_NAME = re.compile(r"([\w.-]+)\s*")
_PAIR = re.compile(r"\s*<arg_key>\s*(.*?)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_FUNCTION = re.compile(r"<function=([\w.-]+)>\s*(.*?)\s*</function>", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter=([^>]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_LEAKED = "a call was written as text"


def recover_calls(text: str, offered: Toolset) -> tuple[str, list[DraftCall]]:
    """The text without its leaked calls, and the calls. A block that names no offered tool stays text."""
    if "<tool_call>" not in text or not offered.tools:
        return text, []
    calls: list[DraftCall] = []

    def taken(block: re.Match[str]) -> str:
        call = _call(block, offered)
        if call is None:
            return block[0]
        calls.append(call)
        return ""

    rest = _BLOCK.sub(taken, text)
    return (rest.strip() if calls else text), calls


def split_thoughts(text: str, *, told_apart: bool) -> tuple[str, str, str]:
    """Text, thoughts and the repair made. `told_apart`: the server sends reasoning in its own field, so that a stray
    end tag is only a leftover."""
    if "</think>" not in text:
        return text, "", ""
    before, _, after = text.partition("</think>")
    if before.lstrip().startswith("<think>"):
        return after.lstrip(), before.lstrip().removeprefix("<think>").strip(), "thoughts stood in the text"
    if told_apart:
        return before + after, "", "a stray </think> stood in the text"
    return after.lstrip(), before.strip(), "thoughts stood in the text"


class Sieve:
    """Passes on text as it grows, thoughts in tags as thoughts, and holds back what may turn out to be a call."""

    __slots__ = ("_held", "_mode", "_say", "_tags", "_think")

    def __init__(self, say: Callable[[str], None], think: Callable[[str], None], *, calls: bool) -> None:
        self._say = say
        self._think = think
        self._mode = "start"
        self._held = ""
        self._tags = ("<tool_call>", "</think>") if calls else ("</think>",)

    def feed(self, text: str) -> None:
        if self._mode == "text" and not self._held and "<" not in text:
            self._say(text)
            return
        self._held += text
        if self._mode == "start":
            self._begin()
        if self._mode == "thinking":
            self._think_on()
        if self._mode == "text":
            self._talk_on()

    def _begin(self) -> None:
        opening = self._held.lstrip()
        if opening.startswith("<think>"):
            self._mode, self._held = "thinking", opening.removeprefix("<think>").lstrip()
        elif not "<think>".startswith(opening):
            self._mode = "text"

    def _think_on(self) -> None:
        thought, found, rest = self._held.partition("</think>")
        if found:
            self._mode, self._held = "text", rest.lstrip()
        else:
            thought, self._held = _before_tag(thought, ("</think>",))
        if thought:
            self._think(thought)

    def _talk_on(self) -> None:
        for tag in self._tags:
            before, found, rest = self._held.partition(tag)
            if found and tag == "</think>":
                self._held = before + rest
            elif found:
                self._mode, self._held = "held", ""
                if before:
                    self._say(before)
                return
        text, self._held = _before_tag(self._held, self._tags)
        if text:
            self._say(text)


def _before_tag(text: str, tags: tuple[str, ...]) -> tuple[str, str]:
    """What can be shown, and a tail that may be the beginning of a tag."""
    start = text.rfind("<")
    if start >= 0 and any(tag.startswith(text[start:]) for tag in tags):
        return text[:start], text[start:]
    return text, ""


def _call(block: re.Match[str], offered: Toolset) -> DraftCall | None:
    inner, closed = block[1], block[2] == "</tool_call>"
    read = _from_json(inner) or _from_functions(inner, offered) or _from_pairs(inner, offered)
    name = read[0] if read else _NAME.match(inner)[1] if _NAME.match(inner) else ""  # type: ignore[index]
    if name not in offered.by_name:
        return None
    if read is None or not closed:
        return DraftCall(
            name, raw=block[0], broken="The call was written as text and is not whole.", repairs=(_LEAKED,)
        )
    arguments = read_arguments(read[1])[0]
    return DraftCall(name, arguments.text, raw=block[0], broken=arguments.broken, repairs=(_LEAKED,))


def _from_json(inner: str) -> tuple[str, str] | None:
    if not inner.startswith("{"):
        return None
    try:
        value = json.loads(inner)
    except (ValueError, RecursionError):
        return None
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str):
        return None
    arguments = value.get("arguments", value.get("parameters", {}))
    return name, arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _from_functions(inner: str, offered: Toolset) -> tuple[str, str] | None:
    written = _FUNCTION.fullmatch(inner)
    return (written[1], _typed(_PARAMETER, written[2], offered.by_name.get(written[1]))) if written else None


def _from_pairs(inner: str, offered: Toolset) -> tuple[str, str] | None:
    name = _NAME.match(inner)
    if not name:
        return None
    rest = inner[name.end() :]
    if _PAIR.sub("", rest).strip():
        return None
    return name[1], _typed(_PAIR, rest, offered.by_name.get(name[1]))


def _typed(pairs: re.Pattern[str], text: str, tool: ToolSpec | None) -> str:
    """Values have no quotes in markup; the tool's schema says which are strings."""
    properties = json.loads(tool.schema).get("properties", {}) if tool else {}
    found = {key: _value(value, properties.get(key)) for key, value in pairs.findall(text)}
    return json.dumps(found, ensure_ascii=False)


def _value(text: str, schema: object) -> object:
    if isinstance(schema, dict) and schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
