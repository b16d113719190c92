"""What a server writes beside its results, less the secrets it was given: definitions of tools, questions, errors. The
results themselves are redacted where they are cut and kept."""

import asyncio
import json
from dataclasses import replace
from typing import Protocol

from windlass.core.errors import ToolError
from windlass.servers.values import Question, ToolDefinition

MANY = 200  # definitions; more are looked through in a thread


class Redaction(Protocol):
    """Each gives back the very same object where it found nothing."""

    def text(self, text: str) -> str: ...

    async def long_text(self, text: str) -> str: ...

    async def long_body(self, body: bytes) -> bytes: ...


class NoRedaction:
    """Where no secrets are known."""

    def text(self, text: str) -> str:
        return text

    async def long_text(self, text: str) -> str:
        return text

    async def long_body(self, body: bytes) -> bytes:
        return body


async def redacted_tools(tools: tuple[ToolDefinition, ...], redaction: Redaction) -> tuple[ToolDefinition, ...]:
    if len(tools) <= MANY:
        return tuple(_definition(tool, redaction) for tool in tools)
    return await asyncio.to_thread(lambda: tuple(_definition(tool, redaction) for tool in tools))


def _definition(tool: ToolDefinition, redaction: Redaction) -> ToolDefinition:
    """The name stays: the server would not know another one."""
    fields = [tool.title, tool.description, tool.input_schema, tool.output_schema, tool.annotations]
    text = json.dumps(fields, ensure_ascii=False)
    found = redaction.text(text)
    if found is text:
        return tool
    title, description, input_schema, output_schema, annotations = json.loads(found)
    return ToolDefinition(
        tool.name, title, description, input_schema, output_schema, annotations, needs_task=tool.needs_task
    )


def redacted_question(question: Question, redaction: Redaction) -> Question:
    """Its `state` goes back to the server as it came."""
    schema = json.dumps(question.schema, ensure_ascii=False)
    found = redaction.text(schema)
    return replace(
        question,
        message=redaction.text(question.message),
        url=redaction.text(question.url),
        schema=question.schema if found is schema else json.loads(found),
    )


def redacted_error(error: ToolError, redaction: Redaction) -> ToolError:
    message = redaction.text(error.message)
    if message is error.message:
        return error
    return ToolError(message, cause=error.code, sent=error.sent, hint=redaction.text(error.hint))
