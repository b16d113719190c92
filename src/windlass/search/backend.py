"""What a search backend is, and what most of them need: one JSON request to a service the operator configured, hits as
plain text, and failures an operator can act on. Each backend lives in a file of its own and passes the same suite."""

import asyncio
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Protocol, TypeVar

import msgspec

from windlass.core.errors import ToolError
from windlass.core.values import value_object
from windlass.search.page import one_line, plain

Shape = TypeVar("Shape", bound=msgspec.Struct)
_LARGEST = 4 * 1024 * 1024
_SHOWN_CHARS = 200


@value_object
class Hit:
    title: str
    url: str
    text: str = ""
    published: str = ""


class Backend(Protocol):
    @property
    def name(self) -> str: ...

    def ready(self) -> str | None:
        """Why it cannot be asked, as a clause for the operator; None when it can."""

    async def search(self, query: str, count: int) -> list[Hit]:
        """At most `count` hits, best first; `ToolError` when the service gives no answer."""


async def ask(
    service: str,
    url: str,
    shape: type[Shape],
    *,
    params: Mapping[str, str] | None = None,
    json: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
    why: Mapping[int, str] | None = None,
) -> Shape:
    """The answer, read as `shape`. `why` explains statuses that this service uses for something particular."""
    body = msgspec.json.encode(json) if json is not None else None
    sent = {"Accept": "application/json", **({"Content-Type": "application/json"} if body else {}), **(headers or {})}
    aiohttp = await asyncio.to_thread(import_module, "aiohttp")  # ten megabytes that only a search needs
    try:
        async with (
            aiohttp.ClientSession(trust_env=True, cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.request(
                "POST" if body else "GET", url, params=params, data=body, headers=sent, allow_redirects=False
            ) as response,
        ):
            answer = await _read(service, response)
            status = response.status
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise failed(service, f"cannot be reached: {error or type(error).__name__}") from error
    if status != 200:
        raise failed(service, (why or _WHY).get(status) or _refusal(status, answer))
    return _shaped(service, answer, shape)


def failed(service: str, what: str) -> ToolError:
    return ToolError(f"{service} {what.rstrip('.')}.", cause="search_failed")


def tidy_hits(found: Iterable[Hit], count: int) -> list[Hit]:
    """Plain text, web addresses only, each once."""
    hits: dict[str, Hit] = {}
    for hit in found:
        url = hit.url.strip()
        if url.lower().startswith(("http://", "https://")) and url not in hits:
            hits[url] = Hit(plain(hit.title) or url, url, plain(hit.text), one_line(hit.published))
    return list(hits.values())[:count]


async def _read(service: str, response: Any) -> bytes:
    answer = bytearray()
    async for chunk in response.content.iter_chunked(64 * 1024):
        answer += chunk
        if len(answer) > _LARGEST:
            raise failed(service, f"sent more than {_LARGEST >> 20} MB")
    return bytes(answer)


def _shaped(service: str, answer: bytes, shape: type[Shape]) -> Shape:
    try:
        return msgspec.json.decode(answer, type=shape)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        shown = one_line(answer[:_SHOWN_CHARS].decode("utf-8", "replace"))
        raise failed(service, f"sent an unexpected response ({error}): {shown}") from error


def _refusal(status: int, answer: bytes) -> str:
    """The service's own message: most put a code and a message in an `error` object, some send a page."""
    try:
        error = msgspec.json.decode(answer, type=_Refusal).error
    except (msgspec.DecodeError, RecursionError):
        error = plain(answer[: 4 * _SHOWN_CHARS].decode("utf-8", "replace"))[:_SHOWN_CHARS]
    if isinstance(error, _Error):
        error = f"{error.code}: {one_line(error.message or error.detail)[:_SHOWN_CHARS]}"
    return f"answered HTTP {status}: {error}"


class _Error(msgspec.Struct):
    code: str | int = ""
    message: str = ""
    detail: str = ""


class _Refusal(msgspec.Struct):
    error: _Error | str


_WHY = {
    401: "rejected its key (HTTP 401); check the key",
    403: "rejected its key (HTTP 403); check the key and its plan",
    429: "is rate-limited (HTTP 429); wait, or use a plan with a higher limit",
}
