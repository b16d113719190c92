"""The text of a kept result as a person reads it. What is more than text is kept as the server's JSON; read from that,
a text would be escaped, and escaped again on its way to the model."""

import asyncio

from windlass.toolbox.kept_parts import body_of, result_of
from windlass.toolbox.results import JSON, text_of

LONG = 256 * 1024  # more is decoded in a thread


async def kept_text(body: bytes, mime: str) -> bytes:
    """The body itself where it is a text already, or nothing we can read."""
    if mime != JSON:
        return body
    return _text(body) if len(body) <= LONG else await asyncio.to_thread(_text, body)


def _text(body: bytes) -> bytes:
    found = body_of(body)
    if found is None or (found.content is None and not found.structured_content):
        return body
    text = text_of(result_of(found)).encode("utf-8", "replace")
    if found.structured_content and text.lstrip()[:1] not in (b"{", b"["):  # a text in JSON says the same again
        text = b"\n".join(filter(None, (text, bytes(found.structured_content))))
    return text
