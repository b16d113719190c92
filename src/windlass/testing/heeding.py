"""A model that heeds every parameter: its answer shows each one it got, so that a client which reaches it through a
server that drops one gets another answer than straight. `StrictLLM(heed)` serves it.

    a user message that names an offered tool   calls it, with arguments made from its schema
    a result of a tool                          is repeated in the answer
    `response_format`                           JSON made from the schema
    all else                                    the user's text, then the parameters as JSON
"""

import json
from collections.abc import Mapping
from typing import Any

from windlass.testing.recording import RecordedRequest
from windlass.testing.replies import ScriptedReply, calls, raw_call, say

_NOT_SHOWN = frozenset(
    "model messages stream stream_options tools tool_choice response_format max_completion_tokens n".split()
)
_SAMPLES: dict[str, object] = {"integer": 7, "number": 0.5, "boolean": True, "null": None, "string": "text"}


def heed(request: RecordedRequest) -> ScriptedReply:
    body = request.body
    names = _called(request)
    if names:
        made = [raw_call(name, json.dumps(sample(_parameters(request, name)))) for name in names]
        return calls(*made[: 1 if body.get("parallel_tool_calls") is False else None])
    form = body.get("response_format") or {}
    match form.get("type"):
        case "json_schema":
            return say(json.dumps(sample(form["json_schema"]["schema"])))
        case "json_object":
            return say(json.dumps({"answer": request.user_text}))
    return _limited(f"{_stopped(' '.join([*request.results, request.user_text]), body)} {shown(body)}", body)


def shown(body: Mapping[str, Any]) -> str:
    """The parameters of a request, in a stable order; the limit of a reply under one name. Null is left out."""
    found = {name: value for name, value in body.items() if name not in _NOT_SHOWN and value is not None}
    if "max_completion_tokens" in body:
        found["max_tokens"] = body["max_completion_tokens"]
    return json.dumps(found, sort_keys=True, separators=(",", ":"))


def sample(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """A value that fits an ordinary schema."""
    root = root or schema
    if "$ref" in schema:
        return sample(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return sample(schema[key][0], root)
    if schema.get("type") == "array":
        return [sample(schema.get("items", {}), root)]
    if schema.get("type") == "object" or "properties" in schema:
        return {name: sample(inner, root) for name, inner in schema.get("properties", {}).items()}
    return _SAMPLES.get(str(schema.get("type")), "text")


def _called(request: RecordedRequest) -> list[str]:
    choice, offered = request.tool_choice, request.tool_names
    if request.results or choice == "none":
        return []
    if isinstance(choice, dict):
        return [choice["function"]["name"]]
    named = [name for name in offered if name in request.user_text]
    return named or (offered[:1] if choice == "required" else [])


def _parameters(request: RecordedRequest, name: str) -> Mapping[str, Any]:
    function = next(tool["function"] for tool in request.tools if tool["function"]["name"] == name)
    found: Mapping[str, Any] = function.get("parameters") or {"type": "object", "properties": {}}
    return found


def _stopped(text: str, body: Mapping[str, Any]) -> str:
    given = body.get("stop") or []
    for stop in [given] if isinstance(given, str) else given:
        text = text.partition(stop)[0]
    return text


def _limited(text: str, body: Mapping[str, Any]) -> ScriptedReply:
    """What stands between blanks counts as one token."""
    most = body.get("max_tokens") or body.get("max_completion_tokens")
    tokens = text.split(" ")
    if most is not None and len(tokens) > most:
        return say(" ".join(tokens[:most])).ending("length")
    return say(*(f"{token} " for token in tokens[:-1]), tokens[-1])
