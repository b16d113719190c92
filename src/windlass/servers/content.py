"""The SDK's models as our values. Imported late, with `sdk`."""

from collections.abc import Mapping
from typing import Any

from windlass.servers.sdk import types
from windlass.servers.values import EmbeddedPart, LinkPart, MediaPart, Part, TextPart, ToolDefinition


def definition_of(tool: types.Tool) -> ToolDefinition:
    annotations = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else None
    return ToolDefinition(
        tool.name, tool.title or "", tool.description or "", tool.input_schema, tool.output_schema, annotations
    )


def parts_of(result: types.CallToolResult) -> tuple[Part, ...]:
    return tuple(_part(block) for block in result.content)


def raw_of(result: types.CallToolResult) -> Mapping[str, Any] | None:
    """All that the server said, where our own values hold less."""
    if result.structured_content is None and all(_plain(block) for block in result.content):
        return None
    return result.model_dump(by_alias=True, exclude_none=True, mode="json")


def _plain(block: types.ContentBlock) -> bool:
    return isinstance(block, types.TextContent) and block.annotations is None


def _part(block: types.ContentBlock) -> Part:
    match block:
        case types.TextContent():
            return TextPart(block.text)
        case types.ImageContent():
            return MediaPart("image", block.mime_type, block.data)
        case types.AudioContent():
            return MediaPart("audio", block.mime_type, block.data)
        case types.ResourceLink():
            return LinkPart(block.uri, block.name, block.title or "", block.description or "", block.mime_type or "")
        case types.EmbeddedResource():
            return _embedded(block.resource)


def _embedded(held: types.TextResourceContents | types.BlobResourceContents) -> EmbeddedPart:
    if isinstance(held, types.TextResourceContents):
        return EmbeddedPart(held.uri, held.mime_type or "", text=held.text)
    return EmbeddedPart(held.uri, held.mime_type or "", blob=held.blob)
