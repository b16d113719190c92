"""Whole scripts for the strict model server: a list of replies in order, or a function of the request.

For conversations at once, or for a server that is killed and asks again, the answer must depend on the
request alone: `by_round` and `loop` count the replies since the last user message.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from windlass.testing.recording import RecordedRequest
from windlass.testing.replies import (
    Scripted,
    ScriptedReply,
    calls,
    error,
    hang,
    headers,
    raw_call,
    say,
    think,
    wait_for,
)

ScriptFunction = Callable[[RecordedRequest], Scripted | Awaitable[Scripted]]
Script = Sequence[Scripted] | ScriptFunction


def by_round(*replies: Scripted) -> ScriptFunction:
    """The first reply to a fresh user message, the second after one round of calls, and so on; the last one repeats."""

    def reply_for(request: RecordedRequest) -> Scripted:
        return replies[min(request.rounds, len(replies) - 1)]

    return reply_for


def loop(
    tool: str = "echo",
    arguments: Mapping[str, object] | None = None,
    rounds: int = 2,
    parallel: int = 1,
    answer: str = "Done.",
) -> ScriptFunction:
    """`rounds` rounds of `parallel` calls, then the answer. The defaults are scenario S1 of the benchmarks."""
    once = raw_call(tool, json.dumps(dict(arguments or {})))
    asking, answering = calls(*[once] * parallel), say(answer)

    def reply_for(request: RecordedRequest) -> Scripted:
        return answering if request.rounds >= rounds or request.tool_choice == "none" else asking

    return reply_for


def script_from_file(path: Path) -> Script:
    return script_from_json(json.loads(path.read_text()))


def script_from_json(script: object) -> Script:
    """A list of replies, `{"by_round": [...]}` or `{"loop": {...}}`.

    A reply is an object with one of `say`, `think`, `call`, `wait_for`, `headers`, `hang`, `parts` (a list of
    these) or `error`, and the options `in_pieces`, `in_bytes`, `cut_after`, `finish_reason`, `anyway`.
    """
    match script:
        case list():
            return [_reply(item) for item in script]
        case {"by_round": list() as replies}:
            return by_round(*(_reply(item) for item in replies))
        case {"loop": dict() as settings}:
            return loop(**settings)
    raise ValueError(f"not a script: {script!r}")


def _reply(item: Mapping[str, Any]) -> Scripted:
    if failure := item.get("error"):
        return error(failure["status"], failure.get("code"), failure.get("message", ""), failure.get("headers"))
    reply = _parts(item)
    if "in_pieces" in item:
        reply = reply.in_pieces(item["in_pieces"])
    if "in_bytes" in item:
        reply = reply.in_bytes(*item["in_bytes"])
    if "cut_after" in item:
        reply = reply.cut_after(item["cut_after"])
    if "finish_reason" in item:
        reply = reply.ending(item["finish_reason"])
    return reply.anyway() if item.get("anyway") else reply


def _parts(item: Mapping[str, Any]) -> ScriptedReply:
    match item:
        case {"say": str(text)}:
            return say(text)
        case {"think": str(text)}:
            return think(text)
        case {"call": str(tool)}:
            arguments = item.get("arguments", {})
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            return raw_call(tool, text, cast(str | None, item.get("id")))
        case {"wait_for": str(path)}:
            return wait_for(path)
        case {"headers": True}:
            return headers()
        case {"hang": True}:
            return hang()
        case {"parts": list() as parts}:
            return calls(*(_parts(part) for part in parts))
    raise ValueError(f"not a reply: {item!r}")
