"""From what a server answered to what a model reads. Nothing is lost: what the model is not shown is kept whole under a
result id, and it can read on with the built-in tools (`local_tools`). A long result is shown in short: where it is JSON
its shape, and always its beginning and end. Its sources are its links, its structured content, the addresses in its
text."""

import asyncio
import hashlib
import json
import re
from binascii import a2b_base64
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from windlass.core.messages import OutputFile, SourceLink, ToolOutput
from windlass.providers.media_types import ENDS, IMAGES, SOUNDS, size_text, true_mime
from windlass.servers.redaction import NoRedaction, Redaction
from windlass.servers.values import CallResult, EmbeddedPart, LinkPart, LongLine, MediaPart, Part, TextPart
from windlass.toolbox.kept_parts import parts_of

NO_REDACTION = NoRedaction()
Keep = Callable[[bytes, str], Awaitable[str]]
JSON, PLAIN = "application/json", "text/plain; charset=utf-8"
LONGEST = 16_000  # characters, where no limit is set
_PARSED = 2_000_000  # parsing longer ones would block the event loop
_TEXT_BEGINS = re.compile(rb'"text"\s*:\s*"')
MOST_SOURCES = MOST_FILES = 20
_LOOKED_AT = 200_000
_MARKDOWN = re.compile(r"\[([^\]\n]{1,200})\]\((https?://[^\s()<>\"]{1,2000})\)")
_BARE = re.compile(r"https?://[^\s()<>\[\]{}\"'`\\|]{4,2000}")
MISFIT = "[The structured part of this result does not fit the tool's own output schema: {}]"
_URL_KEYS, _TITLE_KEYS = ("url", "link", "uri", "href"), ("title", "name", "headline")


async def not_kept(body: bytes, mime: str) -> str:
    """A `Keep` that keeps nothing."""
    return ""


async def tool_output(
    result: CallResult,
    keep: Keep,
    redaction: Redaction = NO_REDACTION,
    *,
    longest: int = LONGEST,
    untrusted: bool = False,
    foreign: bool = False,
    verbatim: bool = False,
) -> ToolOutput:
    """`keep` stores the whole and gives its result id; it is only called where the model is not shown everything, or
    where the result is to be handed on as it was (`verbatim`) and a text would not be the same. Secrets are taken out
    first: where a text is cut, half of one would not be known."""
    whole = b""
    if result.spilled:
        whole = await redaction.long_body(await asyncio.to_thread(_read_all, result.spilled))
        result = await _with_files(whole, result)
    if result.spilled:
        return replace(await _spilled(result.spilled, whole, keep, longest), untrusted=untrusted, foreign=foreign)
    only_text = not whole and (_is_one_text(result) if verbatim else _only_text(result))
    text, mime = await redaction.long_text(text_of(result)), PLAIN if only_text else JSON
    if not whole:
        whole = _bytes(text) if only_text else await redaction.long_body(_bytes(_structure(result)))
    result_id = "" if only_text and len(text) <= longest else await keep(whole, mime)
    short = text if len(text) <= longest else preview(text, result_id, longest)
    marked = f"{MISFIT.format(result.misfit)}\n{short}" if result.misfit else short
    files = tuple(_without_secrets(file, redaction) for file in files_in(result))
    return ToolOutput(
        marked,
        result_id,
        _content_size(result) if files else len(whole),
        shortened=short is not text,
        digest=_digest(whole),
        sources=tuple(_redacted(source, redaction) for source in sources_in(result)),
        untrusted=untrusted,
        foreign=foreign,
        failed=result.failed,
        files=files,
    )


def text_of(result: CallResult) -> str:
    """All parts as one text. Structured content is added only where there is no text, which usually repeats it."""
    sendable = [file.at for file in files_in(result) if file.true_mime]
    texts = [_part_text(part, at, sendable) for at, part in enumerate(result.parts)]
    if result.structured is not None and not any(isinstance(part, TextPart) for part in result.parts):
        texts.append(_json(result.structured))
    return "\n".join(texts)


def _part_text(part: Part, at: int, sendable: list[int]) -> str:
    match part:
        case TextPart(text):
            return text
        case MediaPart(kind, mime, data):
            size = size_text(decoded_size(data))
            if at in sendable:
                return f"[{kind}{_number(at, sendable)}, {_true_mime(kind, data)}, {size}]"
            return f"[{kind}, {_line(mime)}, {size}: {_why_not(kind, mime, data)}; it is shown to the person]"
        case LinkPart(uri, name, title, description):
            return f"[{title or name or uri}]({uri}) {description}".rstrip()
        case EmbeddedPart(uri, mime, text, blob):
            size = size_text(decoded_size(blob or ""))
            if at in sendable:
                return f"{uri}:\n[{_kind(mime)}{_number(at, sendable)}, {_true_mime(_kind(mime), blob or '')}, {size}]"
            return f"{uri}:\n{text}" if text is not None else f"[{uri}, {mime or 'binary'}, {size}]"


def _number(at: int, sendable: list[int]) -> str:
    """As in a request, of several."""
    return f" {sendable.index(at) + 1}" if len(sendable) > 1 else ""


def _why_not(kind: str, mime: str, data: str) -> str:
    """Why no model is shown it."""
    if _true_mime(kind, data):
        return f"only the first {MOST_FILES} files of a result are sent to a model"
    if mime in IMAGES or mime in SOUNDS:
        return f"it is not {_line(mime)}, whatever the tool says, so it is not sent to a model"
    return f"models do not take {_line(mime)}"


def _line(mime: str) -> str:
    return " ".join(mime.split())[:80]


def _true_mime(kind: str, base64: str) -> str:
    """By the bytes at its ends; "" for what models do not take. Whether all of it is base64 is seen when it is read."""
    data = base64.strip()
    try:
        mime = true_mime(a2b_base64(data[: 4 * ENDS // 3]), a2b_base64(data[-4 * ENDS // 3 :]))
    except ValueError:
        return ""
    return mime if mime.startswith(f"{kind}/") else ""


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


def _is_one_text(result: CallResult) -> bool:
    return result.raw is None and len(result.parts) <= 1 and _only_text(result)


def _block(part: Part) -> dict[str, object]:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case MediaPart(kind, mime, data):
            return {"type": kind, "mimeType": mime, "data": data}
        case LinkPart(uri, name, title, description, mime):
            fields = {"uri": uri, "name": name, "title": title, "description": description, "mimeType": mime}
            return {"type": "resource_link", **{key: value for key, value in fields.items() if value}}
        case EmbeddedPart(uri, mime, text, blob):
            held = {"text": text} if text is not None else {"blob": blob or ""}
            return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, **held}}


async def _with_files(whole: bytes, result: CallResult) -> CallResult:
    """An answer that is so long for its pictures or files is parsed after all: its two ends would say nothing."""
    found = await asyncio.to_thread(parts_of, whole)
    return found if next(files_in(found), None) else result


async def _spilled(line: LongLine, whole: bytes, keep: Keep, longest: int) -> ToolOutput:
    """An answer too long to be parsed is kept as the server wrote it, and shown by its two ends."""
    digest = await asyncio.to_thread(_digest, whole)
    result_id = await keep(whole, JSON)
    failed = b'"isError":true' in line.head or b'"isError":true' in line.tail
    return ToolOutput(
        raw_preview(whole, result_id, longest),
        result_id,
        len(whole),
        shortened=True,
        digest=digest,
        failed=failed,
    )


def _read_all(line: LongLine) -> bytes:
    assert line.file is not None  # noqa: S101 - only kept lines become results
    with line.file as file:
        file.seek(0)
        return file.read()


def _digest(whole: bytes) -> str:
    return hashlib.sha256(whole).hexdigest()[:32]


def decoded_size(base64: str) -> int:
    return len(base64) * 3 // 4 - base64[-2:].count("=")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def preview(text: str, result_id: str, longest: int = LONGEST) -> str:
    """At most `longest` characters."""
    head, tail = _ends(longest)
    left_out = len(text) - head - tail
    parts = [
        f"[This result has {len(text):,} characters; {left_out:,} in the middle are left out here. "
        f'Read on with result_read or result_search, result_id "{result_id}".]',
        *([f"[Shape: {found}]"] if (found := _shape_of_text(text)[: longest // 8]) else []),
        text[:head],
        f"[… {left_out:,} characters left out …]",
        text[-tail:],
    ]
    return "\n".join(parts)


def _ends(longest: int) -> tuple[int, int]:
    """How much is shown of the beginning and the end; the rest is for the words around them."""
    return longest * 9 // 16, longest // 4


def raw_preview(whole: bytes, result_id: str, longest: int = LONGEST) -> str:
    """Of an answer that was never parsed: the first text in it, unescaped where that is easy."""
    begins = _TEXT_BEGINS.search(whole, 0, 4096)
    start = begins.end() if begins else 0
    head_bytes, tail_bytes = _ends(longest)
    head = _decoded(whole[start : start + head_bytes], escaped=begins is not None)
    tail = _decoded(whole[-tail_bytes:], escaped=False)
    return "\n".join(
        [
            f"[This result is very long: {len(whole):,} bytes, kept as the server wrote it. "
            f'Read on with result_read or result_search, result_id "{result_id}".]',
            head,
            "[… left out …]",
            tail,
        ]
    )


def _shape_of_text(text: str) -> str:
    if len(text) > _PARSED or text.lstrip()[:1] not in ("{", "["):
        return ""
    try:
        return shape(json.loads(text))
    except (ValueError, RecursionError):
        return ""


def shape(value: Any, depth: int = 0) -> str:
    """`{name: text, tags: [120 of text]}`: what is in there, without the things themselves."""
    match value:
        case dict():
            if depth > 3:
                return "{…}"
            inner = [f"{key}: {shape(item, depth + 1)}" for key, item in list(value.items())[:20]]
            return "{" + ", ".join([*inner, *(["…"] if len(value) > 20 else [])]) + "}"
        case list():
            return f"[{len(value)} of {shape(value[0], depth + 1)}]" if value and depth <= 3 else f"[{len(value)}]"
        case str():
            return "text" if len(value) < 200 else f"text of {len(value):,}"
        case bool():
            return "true or false"
        case int() | float():
            return "number"
        case _:
            return "null"


def _decoded(piece: bytes, *, escaped: bool) -> str:
    text = piece.decode("utf-8", "ignore")
    if not escaped:
        return text
    for cut in range(7):  # the piece may end inside an escape, of which the longest is six letters
        try:
            return str(json.loads(f'"{text[: len(text) - cut]}"', strict=False))
        except ValueError:
            continue
    return text


def files_in(result: CallResult) -> Iterator[OutputFile]:
    """What is not text alone, without its contents."""
    found = (_file(part, at) for at, part in enumerate(result.parts))
    return islice((file for file in found if file is not None), MOST_FILES)


def _file(part: Part, at: int) -> OutputFile | None:
    match part:
        case MediaPart(kind, mime, data):
            return OutputFile(kind, at, mime=mime, size=decoded_size(data), true_mime=_true_mime(kind, data))
        case LinkPart(uri, name, title, _, mime):
            return OutputFile("link", at, title or name or _last_of(uri), mime, uri=uri)
        case EmbeddedPart(uri, mime, text, blob):
            size = len(_bytes(text)) if text is not None else decoded_size(blob or "")
            found = _true_mime(_kind(mime), blob) if blob else ""
            return OutputFile(_kind(mime), at, _last_of(uri), mime, size, true_mime=found)
        case TextPart():
            return None


def _content_size(result: CallResult) -> int:
    """What was sent, without the encoding it travelled in: the sum of what a person sees of it."""
    texts = sum(len(_bytes(part.text)) for part in result.parts if isinstance(part, TextPart))
    return texts + sum(file.size for file in files_in(result))


def _kind(mime: str) -> Literal["image", "audio", "file"]:
    if mime.startswith("image/"):
        return "image"
    return "audio" if mime.startswith("audio/") else "file"


def _last_of(uri: str) -> str:
    return unquote(uri.rstrip("/").rpartition("/")[2])[:200] or uri[:200]


def _without_secrets(file: OutputFile, redaction: Redaction) -> OutputFile:
    return replace(file, name=redaction.text(file.name), uri=redaction.text(file.uri))


def sources_in(result: CallResult) -> tuple[SourceLink, ...]:
    """Links and structured content come first; addresses that merely occur in a text count if there is nothing else."""
    if result.failed:
        return ()
    found = _unique([*_linked(result), *_structured(result.structured)])
    return found or _unique(_written(result))


def _redacted(source: SourceLink, redaction: Redaction) -> SourceLink:
    return SourceLink(redaction.text(source.title), redaction.text(source.url))


def _unique(sources: list[SourceLink]) -> tuple[SourceLink, ...]:
    first: dict[str, SourceLink] = {}
    for source in sources:
        first.setdefault(source.url, source)
    return tuple(first.values())[:MOST_SOURCES]


def _linked(result: CallResult) -> Iterator[SourceLink]:
    for part in result.parts:
        if isinstance(part, LinkPart) and _web(part.uri):
            yield SourceLink(part.title or part.name or part.uri, part.uri)
        elif isinstance(part, EmbeddedPart) and _web(part.uri):
            yield SourceLink(part.uri, part.uri)


def _structured(value: Any) -> list[SourceLink]:
    found: list[SourceLink] = []
    waiting = [value]
    while waiting and len(found) < MOST_SOURCES:
        node = waiting.pop(0)
        if isinstance(node, list):
            waiting += node[:100]
        elif isinstance(node, dict):
            url = next((node[key] for key in _URL_KEYS if isinstance(node.get(key), str)), "")
            title = next((node[key] for key in _TITLE_KEYS if isinstance(node.get(key), str)), "")
            if title and _web(url):
                found.append(SourceLink(title[:300], url))
            waiting += [item for item in node.values() if isinstance(item, dict | list)]
    return found


def _written(result: CallResult) -> list[SourceLink]:
    text = "\n".join(part.text[:_LOOKED_AT] for part in result.parts if isinstance(part, TextPart))[:_LOOKED_AT]
    titled = [SourceLink(match[1], match[2]) for match in _MARKDOWN.finditer(text)]
    bare = (match[0].rstrip(".,;:!?*_") for match in _BARE.finditer(text))
    return [*titled, *(SourceLink(_short(url), url) for url in bare if _web(url))]


def _short(url: str) -> str:
    address = urlsplit(url)
    return f"{address.hostname}{address.path}".rstrip("/")[:200]


def _web(url: str) -> bool:
    try:
        address = urlsplit(url)
    except ValueError:
        return False
    return address.scheme in {"http", "https"} and bool(address.hostname)
