"""Content of the SDK's types as our own values. Imported late, with `sdk`."""

from windlass.servers.sdk import types
from windlass.servers.values import EmbeddedPart, LinkPart, MediaPart, Part, TextPart


def part_of(block: types.ContentBlock) -> Part:
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
            return embedded_of(block.resource)


def embedded_of(held: types.TextResourceContents | types.BlobResourceContents) -> EmbeddedPart:
    if isinstance(held, types.TextResourceContents):
        return EmbeddedPart(held.uri, held.mime_type or "", text=held.text)
    return EmbeddedPart(held.uri, held.mime_type or "", blob=held.blob)
