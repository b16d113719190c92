"""The messages of an OpenAI client, read strictly: what cannot be passed on is refused by its path, and nothing is left
out in silence."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from windlass.core.errors import BadInput
from windlass.core.ids import call_id
from windlass.core.messages import ChatMessage, ToolCall
from windlass.core.values import value_object

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_FIT_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,40}")  # some providers take no longer ones
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content", "name"},
    # `annotations` are our own sources, sent back by clients that repeat a message as they got it.
    "assistant": {"role", "content", "name", "tool_calls", "refusal", "reasoning_content", "reasoning", "annotations"},
    "tool": {"role", "content", "name", "tool_call_id"},
}
_OLD_CALLS = "Deprecated by OpenAI: use `tool_calls` and messages of the role `tool`."

# The messages of the turn that made these calls, with the results that the caller brings; None where it is gone.
KeptRounds = Callable[[Sequence[ToolCall], dict[str, str]], Sequence[ChatMessage] | None]


@value_object
class ReadHistory:
    """System messages stand apart, in their order: they are joined at the top of the prompt."""

    system: str
    messages: tuple[ChatMessage, ...]


def read_messages(given: Sequence[Any], kept: KeptRounds) -> ReadHistory:
    read = [_read(f"messages[{index}]", message) for index, message in enumerate(given)]
    system = [message.content or "" for message in read if message.role == "system"]
    rest = [(index, message) for index, message in enumerate(read) if message.role != "system"]
    return ReadHistory("\n\n".join(filter(None, system)), _with_fit_ids(list(_paired(rest, kept))))


def _read(where: str, given: Any) -> ChatMessage:
    if not isinstance(given, dict):
        raise _refused(where, "A message is an object.")
    message = {name: value for name, value in given.items() if value is not None}
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        old = _OLD_CALLS if message.get("role") == "function" else "One of system, developer, user, assistant, tool."
        raise _refused(f"{where}.role", old)
    for key in message.keys() - _KEYS[role]:
        raise _refused(f"{where}.{key}", _OLD_CALLS if key == "function_call" else f"Not possible in a {role} message.")
    content = _text(f"{where}.content", message.get("content"), role)
    match role:
        case "assistant":
            return _assistant(where, message, content)
        case "tool":
            answered = message.get("tool_call_id")
            if not isinstance(answered, str) or not answered:
                raise _refused(f"{where}.tool_call_id", "A tool message names the call it answers.")
            return ChatMessage("tool", content or "(no output)", call_id=answered, name=_name(message))
        case "user":
            return ChatMessage("user", content, name=_name(message))
    return ChatMessage("system", content)


def _assistant(where: str, message: dict[str, Any], content: str) -> ChatMessage:
    refusal = message.get("refusal")
    reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
    if not isinstance(reasoning, str):
        raise _refused(f"{where}.reasoning_content", "A text is needed.")
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise _refused(f"{where}.tool_calls", "A list is needed.")
    read = tuple(_call(f"{where}.tool_calls[{index}]", call) for index, call in enumerate(calls))
    if len({call.id for call in read}) < len(read):
        raise _refused(f"{where}.tool_calls", "Two calls have the same id.")
    text = "\n".join(filter(None, (content, refusal if isinstance(refusal, str) else "")))
    return ChatMessage("assistant", text or None, read, name=_name(message), reasoning=reasoning)


def _call(where: str, call: Any) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or call.get("type", "function") != "function":
        raise _refused(where, "A call of a function is needed.")
    id, name, arguments = call.get("id"), function.get("name"), function.get("arguments") or "{}"
    if not isinstance(id, str) or not id:
        raise _refused(f"{where}.id", "A text is needed.")
    if not isinstance(name, str) or not name:
        raise _refused(f"{where}.function.name", "A text is needed.")
    try:
        fits = isinstance(arguments, str) and isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        fits = False
    if not fits:
        raise _refused(f"{where}.function.arguments", "The text of a JSON object is needed.")
    return ToolCall(id, name, arguments)


def _text(where: str, content: Any, role: str) -> str:
    match content:
        case str():
            return content
        case None if role == "assistant":
            return ""
        case list():
            return "\n".join(filter(None, (_part(f"{where}[{index}]", part) for index, part in enumerate(content))))
    raise _refused(where, "A text, or a list of parts, is needed.")


def _part(where: str, part: Any) -> str:
    match part:
        case {"type": "text" | "input_text" | "output_text", "text": str(text)} | {
            "type": "refusal",
            "refusal": str(text),
        }:
            return text
        case {"type": str(kind)}:
            raise _refused(where, f"Parts of the type {kind[:40]!r} are not supported; send text.")
    raise _refused(where, "A part is an object with a type.")


def _name(message: dict[str, Any]) -> str:
    return _NOT_IN_NAMES.sub("_", str(message.get("name") or ""))[:64]


def _paired(messages: Sequence[tuple[int, ChatMessage]], kept: KeptRounds) -> Iterator[ChatMessage]:
    """Each message with calls and their results, where it can be as the turn left them: once each, since a turn may be
    far longer than the message that stands for it. Empty messages say nothing."""
    position = 0
    put_back: set[str] = set()
    while position < len(messages):
        index, message = messages[position]
        position += 1
        if message.role == "tool":
            raise _refused(f"messages[{index}]", f"No message before it makes the call {message.call_id!r}.")
        if not message.calls:
            if message.content:
                yield message
            continue
        results: dict[str, str] = {}
        while position < len(messages) and messages[position][1].role == "tool":
            at, result = messages[position]
            if result.call_id not in {call.id for call in message.calls} or result.call_id in results:
                raise _refused(f"messages[{at}]", f"The message before it has no open call {result.call_id!r}.")
            results[result.call_id] = result.content or ""
            position += 1
        for call in message.calls:
            if call.id not in results:
                raise _refused(f"messages[{index}].tool_calls", f"No tool message answers {call.id!r}.")
        rounds = kept(message.calls, results) if put_back.isdisjoint(results) else None
        if rounds:
            put_back |= results.keys()
        yield from rounds or _as_written(message, results)


def _as_written(message: ChatMessage, results: dict[str, str]) -> Iterator[ChatMessage]:
    yield message
    for call in message.calls:
        yield ChatMessage("tool", results[call.id], call_id=call.id, name=call.name)


def _with_fit_ids(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Ids stay as they are, so that a prompt extends the one before it; one that some provider would refuse, or that
    was used before, is replaced by one that follows from its position."""
    used: set[str] = set()
    ours: dict[str, str] = {}
    made: list[ChatMessage] = []
    for number, message in enumerate(messages):
        if message.calls:
            ours = {call.id: _fit_id(call.id, used, number, at) for at, call in enumerate(message.calls)}
            message = replace(message, calls=tuple(replace(call, id=ours[call.id]) for call in message.calls))
        elif message.role == "tool":
            message = replace(message, call_id=ours[message.call_id])
        made.append(message)
    return tuple(made)


def _fit_id(id: str, used: set[str], number: int, at: int) -> str:
    fit = id if _FIT_ID.fullmatch(id) and id not in used else call_id("v1-own", number, at)
    used.add(fit)
    return fit


def _refused(path: str, reason: str) -> BadInput:
    return BadInput(f"{path}: {reason}", detail={"path": path})
