"""The text of a kept result as a person reads it. What is more than text is kept as the server's JSON; read from that,
a text would be escaped, and escaped again on its way to the model."""

import asyncio
from typing import Literal

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from windlass.servers.values import CallResult, EmbeddedPart, LinkPart, MediaPart, Part, TextPart
from windlass.toolbox.results import JSON, text_of

LONG = 256 * 1024  # more is decoded in a thread


class KeptResource(Struct, rename="camel"):
    uri: str | None = None
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None


class KeptBlock(Struct, rename="camel"):
    type: Literal["text", "image", "audio", "resource_link", "resource"] = "text"
    text: str | None = None
    mime_type: str | None = None
    data: str | None = None
    uri: str | None = None
    name: str | None = None
    title: str | None = None
    description: str | None = None
    resource: KeptResource | None = None


class KeptBody(Struct, rename="camel"):
    """A result, or a whole answer with the result in it where that was too long to be parsed when it came."""

    content: list[KeptBlock] | None = None
    structured_content: Raw = Raw()
    result: "KeptBody | None" = None


_BODY = Decoder(KeptBody)


async def kept_text(body: bytes, mime: str) -> bytes:
    """The body itself where it is a text already, or nothing we can read."""
    if mime != JSON:
        return body
    return _text(body) if len(body) <= LONG else await asyncio.to_thread(_text, body)


def _text(body: bytes) -> bytes:
    try:
        found = _BODY.decode(body)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return body
    found = found.result or found
    if found.content is None and not found.structured_content:
        return body
    text = text_of(CallResult(tuple(map(_part, found.content or ())))).encode("utf-8", "replace")
    if found.structured_content and text.lstrip()[:1] not in (b"{", b"["):  # a text in JSON says the same again
        text = b"\n".join(filter(None, (text, bytes(found.structured_content))))
    return text


def _part(block: KeptBlock) -> Part:
    if block.resource:
        held = block.resource
        return EmbeddedPart(held.uri or "", held.mime_type or "", held.text, held.blob)
    if block.type == "resource_link":
        return LinkPart(block.uri or "", block.name or "", block.title or "", block.description or "")
    if block.type in ("image", "audio"):
        return MediaPart(block.type, block.mime_type or "", block.data or "")
    return TextPart(block.text or "")
