"""The sources of a tool's result, whatever tool it is: its links, its structured content, the addresses in its text."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from windlass.core.messages import SourceLink
from windlass.servers.values import CallResult, EmbeddedPart, LinkPart, TextPart

MOST = 20
_LOOKED_AT = 200_000
_MARKDOWN = re.compile(r"\[([^\]\n]{1,200})\]\((https?://[^\s()<>\"]{1,2000})\)")
_BARE = re.compile(r"https?://[^\s()<>\[\]{}\"'`\\|]{4,2000}")
_URL_KEYS, _TITLE_KEYS = ("url", "link", "uri", "href"), ("title", "name", "headline")


def sources_in(result: CallResult) -> tuple[SourceLink, ...]:
    """What is said with intent comes first; addresses that merely stand in a text count when nothing else was given."""
    if result.failed:
        return ()
    found = _unique([*_linked(result), *_structured(result.structured)])
    return found or _unique(_written(result))


def _unique(sources: list[SourceLink]) -> tuple[SourceLink, ...]:
    first: dict[str, SourceLink] = {}
    for source in sources:
        first.setdefault(source.url, source)
    return tuple(first.values())[:MOST]


def _linked(result: CallResult) -> Iterator[SourceLink]:
    for part in result.parts:
        if isinstance(part, LinkPart) and _web(part.uri):
            yield SourceLink(part.title or part.name or part.uri, part.uri)
        elif isinstance(part, EmbeddedPart) and _web(part.uri):
            yield SourceLink(part.uri, part.uri)


def _structured(value: Any) -> list[SourceLink]:
    found: list[SourceLink] = []
    waiting = [value]
    while waiting and len(found) < MOST:
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
