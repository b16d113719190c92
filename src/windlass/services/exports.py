"""A conversation taken out: as JSON that can come back in, or as Markdown to read."""

from collections.abc import Sequence

from windlass.api import schemas
from windlass.turns.views import TurnRecord, iso, messages_shown

VERSION = 1


def as_json(
    conversation: schemas.Conversation,
    context: list[schemas.ContextItem],
    tools: list[schemas.EnabledTool],
    path: Sequence[TurnRecord],
    turns: Sequence[TurnRecord],
    now: float,
) -> schemas.Export:
    return schemas.Export(
        format="windlass",
        version=VERSION,
        exported_at=iso(now),
        conversation=conversation,
        context=context,
        enabled_tools=tools,
        messages=[message for record in path for message in _messages(record)],
        turns=[_turn(record) for record in turns],
    )


def as_markdown(conversation: schemas.Conversation, path: Sequence[TurnRecord]) -> str:
    parts = [f"# {conversation.title or 'Conversation'}"]
    if conversation.description:
        parts.append(conversation.description)
    for record in path:
        for message in _messages(record):
            parts += _section(message)
    return "\n\n".join(parts) + "\n"


def _turn(record: TurnRecord) -> schemas.ExportedTurn:
    return schemas.ExportedTurn(
        id=record.id,
        parent_turn_id=record.parent_id,
        outcome=record.outcome,
        started_at=iso(record.rows[0].at),
        messages=_messages(record),
    )


def _messages(record: TurnRecord) -> list[schemas.Message]:
    """The files of results are not taken along; their text says so, also to a model that reads it after an import."""
    messages = messages_shown(record)
    for message in messages:
        if message.files and (left := [file for file in message.files if file.kind != "link"]):
            names = ", ".join(f"{file.kind} {file.mime or file.name}, {file.size} bytes" for file in left)
            message.content = f"{message.content}\n[Left out of the export: {names}]"
    return messages


def _section(message: schemas.Message) -> list[str]:
    who = f"Tool {message.name}" if message.role == "tool" else message.role.capitalize()
    parts = [f"## {who} ({message.timestamp})"]
    if message.content:
        parts.append(_fenced(message.content) if message.role == "tool" else message.content)
    for one in message.attached or []:
        parts.append(f"Attached from {one.server}, {one.uri}:\n\n" + _fenced(one.text))
    for call in message.tool_calls or []:
        parts.append(f"Calls `{call.function.name}`:\n\n" + _fenced(call.function.arguments, "json"))
    if message.sources:
        parts.append("\n".join(f"{source.n}. [{source.title}]({source.url})" for source in message.sources))
    if message.error:
        parts.append(f"> {message.error.message}")
    return parts


def _fenced(text: str, language: str = "") -> str:
    """A fence longer than any in the text, so that a result cannot break out of its block."""
    longest = max((len(line) - len(line.lstrip("`")) for line in text.splitlines()), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
