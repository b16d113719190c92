"""The parts of a result as it is kept: the server's own JSON, or its whole answer where that was too long to be parsed
when it came."""

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from windlass.servers.values import CallResult, EmbeddedPart, LinkPart, MediaPart, Part, TextPart


class KeptResource(Struct, rename="camel"):
    uri: str | None = None
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None


class KeptBlock(Struct, rename="camel"):
    type: str = "text"
    text: str | None = None
    mime_type: str | None = None
    data: str | None = None
    uri: str | None = None
    name: str | None = None
    title: str | None = None
    description: str | None = None
    resource: KeptResource | None = None


class KeptBody(Struct, rename="camel"):
    content: list[KeptBlock] | None = None
    structured_content: Raw = Raw()
    is_error: bool = False
    result: "KeptBody | None" = None


_BODY = Decoder(KeptBody)


def body_of(body: bytes) -> KeptBody | None:
    """None where it is not JSON, or not a result."""
    try:
        found = _BODY.decode(body)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found.result or found


def parts_of(body: bytes) -> CallResult:
    """Without its structured content; with no parts where there is nothing we can read."""
    found = body_of(body)
    return result_of(found) if found else CallResult()


def result_of(body: KeptBody) -> CallResult:
    return CallResult(tuple(map(_part, body.content or ())), failed=body.is_error)


def _part(block: KeptBlock) -> Part:
    if block.resource:
        held = block.resource
        return EmbeddedPart(held.uri or "", held.mime_type or "", held.text, held.blob)
    if block.type == "resource_link":
        texts = block.uri, block.name, block.title, block.description, block.mime_type
        return LinkPart(*(text or "" for text in texts))
    if block.type in ("image", "audio"):
        return MediaPart("image" if block.type == "image" else "audio", block.mime_type or "", block.data or "")
    return TextPart(block.text or "")
