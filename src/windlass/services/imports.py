"""Importing conversations: each import is whole or leaves nothing, broken histories are repaired, and the times of
messages are kept where they can be believed."""

import json
import re
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from windlass.core.errors import BadInput, NotFound
from windlass.core.ids import call_id, new_id
from windlass.core.messages import NO_RESULT, Attachment, ChatMessage, ToolCall
from windlass.core.values import value_object
from windlass.store import Documents, Store


@value_object
class Import:
    conversation_id: str

    @property
    def key(self) -> str:
        """Not the conversation's own id: what belongs to that goes when this row goes."""
        return f"import-{self.conversation_id}"


class Imports:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._begun: Documents[Import] = store.documents("import", Import)

    @asynccontextmanager
    async def whole(self, conversation_id: str) -> AsyncIterator[None]:
        begun = Import(conversation_id)
        try:
            await self._begun.put(begun.key, begun, parent=conversation_id)
            yield
            await self._begun.delete(begun.key)
        except BaseException:  # a partial import is removed, also when its sender disconnected
            with suppress(NotFound):
                await self._store.conversations.delete(conversation_id)
            raise

    async def sweep(self) -> None:
        """At start: what was cut in two."""
        for begun in self._begun.everything():
            with suppress(NotFound):
                await self._store.conversations.delete(begun.conversation_id)
            await self._begun.delete(begun.key)


_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_ROLES = {"user", "assistant", "system", "tool"}
ImportedMessage = tuple[ChatMessage, float]  # and when, 0 where nothing tells
_OTHER_ROLES = {"developer": "system", "function": "tool", "human": "user", "ai": "assistant", "bot": "assistant"}


@dataclass(slots=True)
class RepairedHistory:
    """What a history became: for each turn its messages, with call ids still those of the source, and their times."""

    turns: list[list[ChatMessage]] = field(default_factory=list)
    times: list[list[float]] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(len(turn) for turn in self.turns)


def repaired(messages: Sequence[Any]) -> RepairedHistory:
    """A person's message begins a turn; what comes before the first one is a turn of its own."""
    found = RepairedHistory()
    readable = list(_readable(messages, found.repairs))
    for message, at in _paired(readable, found.repairs):
        if message.role == "user" or not found.turns:
            found.turns.append([])
            found.times.append([])
        found.turns[-1].append(message)
        found.times[-1].append(at)
    return found


def with_own_ids(turn_id: str, turn: Iterable[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Call ids from their place in this turn: those of other systems may clash, or be too long for some providers."""
    ours: dict[str, str] = {}
    made: list[ChatMessage] = []
    replies = 0
    for message in turn:
        if message.calls:
            replies += 1
            ours = {call.id: call_id(turn_id, replies, index) for index, call in enumerate(message.calls)}
            calls = tuple(
                ToolCall(ours[call.id], call.name, call.arguments, call.id, call.raw, repairs=call.repairs)
                for call in message.calls
            )
            made.append(ChatMessage(message.role, message.content, calls, reasoning=message.reasoning))
        elif message.role == "tool":
            made.append(ChatMessage("tool", message.content, call_id=ours[message.call_id], name=message.name))
        else:
            made.append(message)
    return tuple(made)


def tool_call(id: str, name: str, arguments: object) -> ToolCall:
    """A call whose name and arguments any wire takes back; the raw text is kept where it differs."""
    clean = _NOT_IN_NAMES.sub("_", name)[:64] or "unnamed"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    repairs = () if clean == name else (f"the name {name[:80]!r} cannot be sent",)
    try:
        if isinstance(json.loads(text), dict):
            return ToolCall(id, clean, text, repairs=repairs)
    except (ValueError, RecursionError):
        pass
    return ToolCall(id, clean, "{}", raw=text, repairs=(*repairs, "the arguments were not a JSON object"))


def _readable(messages: Sequence[Any], repairs: list[str]) -> Iterator[ImportedMessage]:
    for index, raw in enumerate(messages):
        if not isinstance(raw, Mapping):
            raise BadInput(f"messages[{index}] is no object.", detail={"path": f"messages[{index}]"})
        given = str(raw.get("role", ""))
        role = _OTHER_ROLES.get(given, given)
        if role not in _ROLES:
            repairs.append(f"message {index}: the role {given[:40]!r} is unknown; left out")
            continue
        content = _text(raw.get("content"))
        repairs += [f"message {index}: {part} left out" for part in _left_out(raw.get("content"))]
        calls = tuple(_calls(raw, index)) if role == "assistant" else ()
        if not content and not calls and role != "tool":
            repairs.append(f"message {index}: empty; left out")
            continue
        yield _message(role, content, calls, raw), moment(raw)


def _message(role: str, content: str, calls: tuple[ToolCall, ...], raw: Mapping[str, Any]) -> ChatMessage:
    name = str(raw.get("name") or "")
    match role:
        case "tool":
            return ChatMessage("tool", content or "(no output)", call_id=str(raw.get("tool_call_id") or ""), name=name)
        case "assistant":
            reasoning = raw.get("reasoning") or raw.get("reasoning_content") or ""
            return ChatMessage("assistant", content or None, calls, reasoning=_text(reasoning))
        case "system":
            return ChatMessage("system", content)
        case _:
            named = _NOT_IN_NAMES.sub("_", name)[:64]
            return ChatMessage("user", content, name=named, attached=tuple(_attached(raw.get("attached"))))


def _attached(given: object) -> Iterator[Attachment]:
    """What an export of ours holds of resources that came with a message."""
    for one in given if isinstance(given, list) else []:
        if isinstance(one, dict) and all(isinstance(one.get(field), str) for field in ("server", "uri", "text")):
            server = _NOT_IN_NAMES.sub("_", one["server"])[:32]
            yield Attachment(new_id("att"), server, one["uri"], one["text"])


def _text(content: Any) -> str:
    """Content may be a text, null, or a list of parts of which the texts are kept, and a note in place of the others:
    without it a model answers as if there had been no picture."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = (_part(part) for part in content if isinstance(part, str | dict))
        return "\n".join(text for text in texts if text)
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def _part(part: str | dict[str, Any]) -> str:
    message = part if isinstance(part, str) else part.get("text")
    if isinstance(message, str):
        return message
    return "".join(f"[{kind} left out]" for kind in _left_out([part]))


def _left_out(content: Any) -> list[str]:
    """The kinds of the parts that are no text."""
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    kinds = [part.get("type") for part in parts if not isinstance(part.get("text"), str)]
    return [kind[:40] for kind in kinds if isinstance(kind, str) and kind not in {"", "text"}]


def _calls(raw: Mapping[str, Any], index: int) -> Iterator[ToolCall]:
    given = raw.get("tool_calls")
    for index, call in enumerate(given if isinstance(given, list) else []):
        if not isinstance(call, Mapping):
            continue
        function = call.get("function")
        function = function if isinstance(function, Mapping) else {}
        id = str(call.get("id") or f"unnamed-{index}-{index}")
        yield tool_call(id, str(function.get("name") or ""), function.get("arguments") or "{}")


def _paired(messages: Sequence[ImportedMessage], repairs: list[str]) -> Iterator[ImportedMessage]:
    index = 0
    while index < len(messages):
        message, at = messages[index]
        index += 1
        if message.role == "tool":
            repairs.append("a result without its call was left out")
        elif not message.calls:
            yield message, at
        else:
            results: dict[str, ImportedMessage] = {}
            while index < len(messages) and messages[index][0].role == "tool":
                results.setdefault(messages[index][0].call_id, messages[index])
                index += 1
            maker = _distinct(message, repairs)
            yield maker, at
            yield from _results(maker.calls, results, repairs)


def _results(
    calls: Sequence[ToolCall], results: Mapping[str, ImportedMessage], repairs: list[str]
) -> Iterator[ImportedMessage]:
    wanted = {call.id for call in calls}
    repairs += ["a result without its call was left out" for id in results if id not in wanted]
    for call in calls:
        repairs += [f"{call.name}: {repair}" for repair in call.repairs]
        result, at = results.get(call.id, (None, 0.0))
        if result is None:
            repairs.append(f"{call.name}: had no result; it got one that says so")
        yield ChatMessage("tool", result.content if result else NO_RESULT, call_id=call.id, name=call.name), at


def _distinct(message: ChatMessage, repairs: list[str]) -> ChatMessage:
    seen: dict[str, ToolCall] = {}
    for call in message.calls:
        if call.id in seen:
            repairs.append(f"{call.name}: a second call with the same id was left out")
        seen.setdefault(call.id, call)
    return ChatMessage(message.role, message.content, tuple(seen.values()), reasoning=message.reasoning)


PARSED = ("timestamp", "created_at", "create_time", "createdAt")
BEGAN = ("created_at", "create_time", "createdAt")
CHANGED = ("updated_at", "update_time", "updatedAt")
_IN_MS = 1e11  # as seconds this is the year 5138

Span = tuple[float, float]  # when a turn began and ended


def moment(given: Mapping[str, Any], names: Sequence[str] = PARSED) -> float:
    """In seconds; 0 where nothing tells. Text is ISO 8601, in UTC where it names no zone."""
    found = (_seconds(given.get(name)) for name in names)
    return next((at for at in found if 0 < at <= time.time()), 0)


def spans(turns: Sequence[Sequence[float]], otherwise: float) -> list[Span]:
    """A turn of which nothing tells the time is put after the one before it."""
    last = next((at for turn in turns for at in turn if at), otherwise)
    found: list[Span] = []
    for turn in turns:
        known = [at for at in turn if at] or [last]
        last = max(known[0], known[-1])
        found.append((known[0], last))
    return found


def _seconds(value: object) -> float:
    match value:
        case bool():
            return 0
        case int() | float() if 0 < value < _IN_MS * 1000:
            return value / 1000 if value > _IN_MS else float(value)
        case str():
            return _from_text(value)
        case _:
            return 0


def _from_text(text: str) -> float:
    try:
        read = datetime.fromisoformat(text)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0
