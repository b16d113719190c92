"""Takes the values of known secrets out of what servers, tools and providers write, before it is kept, logged or sent.
A value is known by its letters, and by the spellings a program is likely to give it: in JSON, in an address, in base64.

Values of fewer than `SHORTEST` characters are left alone: they would be found in ordinary words."""

import asyncio
import base64
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus, urlsplit

SHORTEST = 8
LONG = 256 * 1024  # more is looked through in a thread
_PIECE = 1 << 20  # one search holds the interpreter, so a long text is searched in pieces
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|DSN|(?:^|_)PAT(?:$|_)", re.IGNORECASE)
_PLAIN_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent", "origin", "referer", "host"})
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey)\s+(.+)", re.IGNORECASE | re.DOTALL)


class Redactor:
    """Never forgets: a program goes on with the old value for a while after a new one was given."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # value -> what stands in its place
        self._texts: tuple[tuple[str, str], ...] = ()
        self._bytes: tuple[tuple[bytes, bytes], ...] = ()

    def learn(self, secrets: Iterable[tuple[str, str]]) -> None:
        """By name and value."""
        known = len(self._names)
        for name, value in secrets:
            if len(value) >= SHORTEST:
                self._names.setdefault(value, f"[secret {name}]")
        if len(self._names) == known:
            return
        spelled = {spelling: mark for value, mark in self._names.items() for spelling in _spellings(value)}
        # The longest first: one value may be a part of another.
        self._texts = tuple(sorted(spelled.items(), key=lambda item: -len(item[0])))
        self._bytes = tuple((spelling.encode(), mark.encode()) for spelling, mark in self._texts)

    def text(self, text: str) -> str:
        """The very same object where nothing is found."""
        for spelling, mark in self._texts:
            if spelling in text:
                text = text.replace(spelling, mark)
        return text

    def body(self, body: bytes) -> bytes:
        for spelling, mark in self._bytes:
            if _holds(body, spelling):
                body = body.replace(spelling, mark)
        return body

    async def long_text(self, text: str) -> str:
        if len(text) <= LONG:
            return self.text(text)
        # Lone halves of surrogate pairs, which servers do send, have no bytes of their own.
        body = await asyncio.to_thread(lambda: self.body(text.encode("utf-8", "surrogatepass")))
        return body.decode("utf-8", "surrogatepass")

    async def long_body(self, body: bytes) -> bytes:
        return self.body(body) if len(body) <= LONG else await asyncio.to_thread(self.body, body)


def secrets_among(env: Iterable[tuple[str, str]], headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Which of a server's settings are secrets. Other variables name folders and modes, which a model must be able to
    read in results; of these a password in an address counts alone."""
    for name, value in env:
        if _SECRET_NAME.search(name):
            yield name, value
        if password := _password_in(value):
            yield name, password
    for name, value in headers:
        if name.lower() not in _PLAIN_HEADERS:
            yield name, value
            if found := _SCHEME.fullmatch(value.strip()):
                yield name, found[1].strip()


def _password_in(value: str) -> str:
    try:
        return (urlsplit(value).password or "") if "://" in value else ""
    except ValueError:
        return ""


def _spellings(value: str) -> set[str]:
    escaped = json.dumps(value)[1:-1]
    quoted = quote(value, safe="")
    found = {value, escaped, escaped.replace("/", "\\/"), json.dumps(value, ensure_ascii=False)[1:-1]}
    found |= {quoted, quote(value), quote_plus(value), re.sub("%..", lambda hex: hex[0].lower(), quoted)}
    for inside in _base64(value.encode("utf-8", "surrogatepass")):
        found |= {inside, inside.replace("+", "-").replace("/", "_")}
    return {spelling for spelling in found if len(spelling) >= SHORTEST}


def _base64(value: bytes) -> Iterator[str]:
    """The letters that follow from the value alone, wherever in an encoded text it begins."""
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + value).decode()
        yield encoded[(before * 8 + 5) // 6 : (before + len(value)) * 8 // 6]


def _holds(body: bytes, spelling: bytes) -> bool:
    reach = _PIECE + len(spelling) - 1  # so that one across a border is found
    return any(body.find(spelling, start, start + reach) >= 0 for start in range(0, len(body), _PIECE))
