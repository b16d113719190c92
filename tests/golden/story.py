"""What happened in a turn, in neutral terms: the server, the fold of its events and the page must agree on it."""

import json
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


def story_of(turn: Json, messages: Sequence[Json]) -> Json:
    """From a turn and messages as the API shows them. `ui/src/testing/story.ts` makes the same of the page's state."""
    return {
        "id": turn["id"],
        "parent": turn["parent_turn_id"],
        "origin": turn["origin"],
        "state": turn["state"],
        "outcome": turn["outcome"],
        "error": _only(turn["error"], "code", "message") if turn["error"] else None,
        "rounds": turn["rounds"],
        "usage": [turn["usage"]["prompt_tokens"], turn["usage"]["completion_tokens"]],
        "calls": [_call(call) for call in turn["calls"]],
        "pending": [_only(call, "call_id", "kind") for call in turn["pending_calls"]],
        "sources": [_only(source, "n", "title", "url") for source in turn["sources"]],
        "messages": [_message(message) for message in messages if message["turn_id"] == turn["id"]],
    }


def _call(call: Json) -> Json:
    return {
        **_only(call, "id", "name", "arguments", "state", "cause"),
        "result": _result(call["state"], call["result"]),
    }


def _result(state: str, text: str | None) -> str | None:
    """What went wrong is wrapped in JSON for the model."""
    return json.loads(text)["error"] if text is not None and state != "ok" else text


def _message(message: Json) -> Json:
    """The text of a result is told with its call."""
    if message["role"] == "tool":
        return {"role": "tool", "call_id": message["tool_call_id"]}
    return _only(message, "role", "content")


def _only(value: Json, *names: str) -> Json:
    return {name: value[name] for name in names}
