"""Servers that many people use, as packaged data: searched here, never fetched. Adding one makes a draft with its exact
command."""

import re
import unicodedata
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from windlass.core.errors import NotFound
from windlass.core.ids import new_id
from windlass.servers.placeholders import InputHint, placeholders_in
from windlass.servers.values import Auth, ServerConfig, config_texts

Need = Literal["key", "sign_in", "address", "folder"]
FIRST_START_S = 240.0  # the package is downloaded then; one that is interrupted leaves a broken copy
_VERSION = re.compile(r"(?:==|(?<=.)@)([0-9][\w.+-]*)$")


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    label: str
    secret: bool = False
    default: str | None = None
    kind: Literal["key", "address", "folder", ""] = ""


class KnownServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    name: str
    gives: str
    publisher: str
    homepage: str
    words: str  # that people search for, beside those of its name and text
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str = ""
    headers: dict[str, str] = {}
    auth: Auth = ""
    asks: tuple[Ask, ...] = ()
    note: str = ""

    @property
    def needs(self) -> list[Need]:
        asked: list[Need] = [ask.kind for ask in self.asks if ask.kind]
        return list(dict.fromkeys([*asked, "sign_in"] if self.auth == "oauth" else asked))

    @property
    def version(self) -> str:
        return next((found[1] for part in self.args if (found := _VERSION.search(part))), "")

    @property
    def package(self) -> str:
        return next((part[: found.start()] for part in self.args if (found := _VERSION.search(part))), "")

    @property
    def defaults(self) -> dict[str, str]:
        return {ask.name: ask.default for ask in self.asks if ask.default is not None}

    def config(self, slug: str, name: str = "") -> ServerConfig:
        """A draft: what it asks for is not filled in yet."""
        draft = ServerConfig(
            id=new_id("srv"),
            slug=slug,
            name=name or self.name,
            transport="http" if self.url else "stdio",
            command=self.command,
            args=self.args,
            env=self.env,
            url=self.url,
            headers=self.headers,
            auth=self.auth,
            connect_s=FIRST_START_S,
        )
        hints = {ask.name: InputHint(ask.label, ask.secret, ask.default) for ask in self.asks}
        return replace(draft, placeholders=placeholders_in(config_texts(draft), self.url, hints))


class _Gallery(msgspec.Struct, forbid_unknown_fields=True):
    servers: list[KnownServer]


@cache
def known_servers() -> tuple[KnownServer, ...]:
    text = files("windlass.servers").joinpath("gallery.toml").read_bytes()
    return tuple(msgspec.toml.decode(text, type=_Gallery).servers)


def known_server(id: str) -> KnownServer:
    for one in known_servers():
        if one.id == id:
            return one
    raise NotFound(f"The gallery has no {id[:100]!r}.", hint="GET /gallery lists what there is.")


def search_gallery(query: str) -> list[KnownServer]:
    """Those that hold the beginning of every one of the words, best first."""
    wanted = _words(query)
    ranked = [(score, one) for one in known_servers() if (score := _score(one, wanted))]
    return [one for _, one in sorted(ranked, key=lambda pair: -pair[0])]


def _score(one: KnownServer, wanted: list[str]) -> int:
    """0 where one of the words is missing; a word of the name weighs most."""
    fields = ((f"{one.id} {one.name}", 8), (one.words, 4), (one.gives, 2), (f"{one.publisher} {' '.join(one.args)}", 1))
    weights = [(_words(text), weight) for text, weight in fields]
    scores = [
        max((weight for words, weight in weights if any(term.startswith(start) for term in words)), default=0)
        for start in wanted
    ]
    return 0 if 0 in scores else 1 + sum(scores)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return re.findall(r"[^\W_]+", "".join(letter for letter in plain if not unicodedata.combining(letter)))
