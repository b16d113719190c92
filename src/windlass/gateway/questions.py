"""What is asked of the calling program's person: whether a call may run, and what a tool's server wants to know."""

import json
from typing import Any, Literal

from windlass.api import schemas
from windlass.core.ports import InputNeeded
from windlass.core.values import value_object
from windlass.gateway.sdk import types

ALLOW, DENY = "allow once", "deny"
DECISION: dict[str, Any] = {  # without a default: a program that fills in defaults allows nothing
    "type": "object",
    "properties": {"decision": {"type": "string", "title": "Decision", "enum": [ALLOW, DENY]}},
    "required": ["decision"],
}
Params = types.ElicitRequestFormParams | types.ElicitRequestURLParams


@value_object
class Modes:
    """Which kinds of questions a program declares that it can put to its person."""

    form: bool = False
    url: bool = False


def modes_of(capabilities: types.ClientCapabilities | None) -> Modes:
    """Programs of before there were two kinds declare nothing inside, and mean forms."""
    found = capabilities.elicitation if capabilities else None
    if found is None:
        return Modes()
    return Modes(found.form is not None or found.url is None, found.url is not None)


def approval(pending: schemas.PendingCall, program: str) -> types.ElicitRequestFormParams:
    """Everything that would be sent, in full, and where."""
    where = f" on {pending.server_slug}" if pending.server_slug else ""
    lines = [
        f"May {visible(program)} call {visible(pending.name)}{where}?",
        f"Why Windlass asks: {visible(pending.why or pending.rule)}",
        "Arguments:",
        visible(_pretty(pending.arguments)),
    ]
    return types.ElicitRequestFormParams(message="\n".join(lines), requested_schema=DECISION)


def decision(answer: types.ElicitResult) -> Literal["allow", "deny", ""]:
    """ "" where nothing was decided: the form was put away, or says neither."""
    if answer.action == "decline":
        return "deny"
    if answer.action != "accept":
        return ""
    match (answer.content or {}).get("decision"):
        case "allow once":
            return "allow"
        case "deny":
            return "deny"
    return ""


def forwarded(question: InputNeeded, server: str) -> Params:
    """A question of a tool's server, with the server's name before it."""
    message = f"{server} asks: {visible(question.message)}" if server else visible(question.message)
    if question.url:
        return types.ElicitRequestURLParams(message=message, url=question.url, elicitation_id=question.call_id)
    return types.ElicitRequestFormParams(message=message, requested_schema=json.loads(question.schema) or _NOTHING)


def answered(answer: types.ElicitResult) -> schemas.InputAnswer:
    content: Any = answer.content if answer.action == "accept" else None
    return schemas.InputAnswer(answer.action, content)


_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}


def visible(text: str) -> str:
    """Nothing stands in it that a person cannot see."""
    return "".join(letter if letter.isprintable() or letter == "\n" else f"\\u{ord(letter):04x}" for letter in text)


def _pretty(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return arguments
