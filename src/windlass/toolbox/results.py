"""From what a server answered to what a model reads. Nothing is lost: what the model is not shown is kept whole under a
result id, and it can read on with the built-in tools below."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import IO

from windlass.core.messages import ToolOutput
from windlass.servers.values import CallResult, EmbeddedPart, LinkPart, MediaPart, Part, TextPart
from windlass.toolbox.preview import LONGEST, preview, raw_preview
from windlass.toolbox.sources import sources_in

Keep = Callable[[bytes, str], Awaitable[str]]
JSON, PLAIN = "application/json", "text/plain; charset=utf-8"


async def tool_output(result: CallResult, keep: Keep, *, untrusted: bool = False, foreign: bool = False) -> ToolOutput:
    """`keep` stores the whole and gives its result id; it is only called where the model is not shown everything."""
    if result.spilled:
        return replace(await _spilled(result, keep), untrusted=untrusted, foreign=foreign)
    text, only_text = text_of(result), _only_text(result)
    whole, mime = (_bytes(text), PLAIN) if only_text else (_bytes(_structure(result)), JSON)
    result_id = "" if only_text and len(text) <= LONGEST else await keep(whole, mime)
    short = text if len(text) <= LONGEST else preview(text, result_id)
    return ToolOutput(
        short,
        result_id,
        len(whole),
        shortened=short is not text,
        digest=_digest(whole),
        sources=sources_in(result),
        untrusted=untrusted,
        foreign=foreign,
        failed=result.failed,
    )


def text_of(result: CallResult) -> str:
    """All parts as one text. Structured content is only told where no text says it already."""
    told = [_told(part) for part in result.parts]
    if result.structured is not None and not any(isinstance(part, TextPart) for part in result.parts):
        told.append(_json(result.structured))
    return "\n".join(told)


def _told(part: Part) -> str:
    match part:
        case TextPart(text):
            return text
        case MediaPart(kind, mime, data):
            return f"[{kind}, {mime}, {_size(data)}; it is shown to the person]"
        case LinkPart(uri, name, title, description):
            return f"[{title or name or uri}]({uri}) {description}".rstrip()
        case EmbeddedPart(uri, mime, text, blob):
            return f"{uri}:\n{text}" if text is not None else f"[{uri}, {mime or 'binary'}, {_size(blob or '')}]"


def _structure(result: CallResult) -> str:
    if result.raw is not None:
        return _json(result.raw)
    body = {"content": [_block(part) for part in result.parts], "isError": result.failed}
    if result.structured is not None:
        body["structuredContent"] = result.structured
    return _json(body)


def _only_text(result: CallResult) -> bool:
    """Whether the text is all there is. Many servers send structured content and the same again as text."""
    if not all(isinstance(part, TextPart) for part in result.parts):
        return False
    if result.structured is None:
        return True
    if len(result.parts) != 1 or not isinstance(result.parts[0], TextPart) or len(result.parts[0].text) > LONGEST:
        return not result.parts
    try:
        return bool(json.loads(result.parts[0].text) == result.structured)
    except ValueError:
        return False


def _block(part: Part) -> dict[str, object]:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case MediaPart(kind, mime, data):
            return {"type": kind, "mimeType": mime, "data": data}
        case LinkPart(uri, name, title, description, mime):
            said = {"uri": uri, "name": name, "title": title, "description": description, "mimeType": mime}
            return {"type": "resource_link", **{key: value for key, value in said.items() if value}}
        case EmbeddedPart(uri, mime, text, blob):
            held = {"text": text} if text is not None else {"blob": blob or ""}
            return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, **held}}


async def _spilled(result: CallResult, keep: Keep) -> ToolOutput:
    """An answer too long to be parsed is kept as the server wrote it, and shown by its two ends."""
    line = result.spilled
    assert line is not None and line.file is not None  # noqa: S101 - only kept lines become results
    whole, digest = await asyncio.to_thread(_read_all, line.file)
    result_id = await keep(whole, JSON)
    failed = b'"isError":true' in line.head or b'"isError":true' in line.tail
    return ToolOutput(
        raw_preview(whole, result_id),
        result_id,
        line.size,
        shortened=True,
        digest=digest,
        failed=failed,
    )


def _read_all(file: IO[bytes]) -> tuple[bytes, str]:
    with file:
        file.seek(0)
        whole = file.read()
    return whole, _digest(whole)


def _digest(whole: bytes) -> str:
    return hashlib.sha256(whole).hexdigest()[:32]


def _size(base64: str) -> str:
    return f"{len(base64) * 3 // 4 / 1024:,.0f} KB"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
