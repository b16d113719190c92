"""Reads the server lists of other programs into drafts: Claude Desktop, Claude Code, Cursor, VS Code, Zed, Windsurf,
Cline, Roo, Gemini CLI, Codex, Goose, LibreChat, Continue, OpenCode. Nothing here starts anything, and nothing in the
text is looked up in our environment: placeholders are asked for."""

import re
from collections.abc import Collection, Iterator, Mapping

from windlass.core.errors import BadInput, WindlassError
from windlass.core.values import value_object
from windlass.servers.environment import denied
from windlass.servers.imports.documents import ListedServer, ServerDocument, server_document
from windlass.servers.imports.entry import ImportEntry
from windlass.servers.imports.fields import server_config
from windlass.servers.imports.text import ReadText, read_text
from windlass.servers.placeholders import InputHint
from windlass.servers.values import ServerConfig, check

__all__ = ["ImportedConfig", "ImportedFile", "floating_package", "imported_servers", "slug_for"]

MOST_SERVERS = 200
_RUNNERS = {"npx": 0, "bunx": 0, "pnpx": 0, "uvx": 0, "pnpm": 1, "yarn": 1, "npm": 1, "uv": 2, "pipx": 1}
_VERSIONED = re.compile(r"(?<!^)@[0-9][\w.+-]*$|==[0-9][\w.+-]*$")


@value_object
class ImportedConfig:
    """One entry: a draft, or why it cannot be one. `warnings` are shown to the person who confirms it, and name what of
    the entry was not taken."""

    name: str
    config: ServerConfig | None = None
    problem: str = ""
    warnings: tuple[str, ...] = ()


@value_object
class ImportedFile:
    servers: tuple[ImportedConfig, ...]
    unread: tuple[str, ...] = ()  # keys of the file that name no server
    repeated: tuple[str, ...] = ()  # names that stand twice in one object: the last one counts

    @property
    def drafts(self) -> list[ServerConfig]:
        return [one.config for one in self.servers if one.config]


def imported_servers(given: str | bytes | Mapping[str, object], taken: Collection[str] = ()) -> ImportedFile:
    """From a text, or from a document that was read already. `taken` are the slugs in use. Raises `BadInput` when it is
    not a server list at all."""
    read = read_text(given) if isinstance(given, str | bytes) else ReadText(given)
    document = server_document(read.document)
    if len(document.servers) > MOST_SERVERS:
        raise BadInput(f"The import names {len(document.servers)} servers; at most {MOST_SERVERS} can be read at once.")
    slugs = set(taken)
    servers = tuple(_one(listed, document.hints, slugs) for listed in document.servers)
    return ImportedFile(servers, (*document.unread, *_unused_hints(document, servers)), read.repeated)


def _unused_hints(document: ServerDocument, servers: Collection[ImportedConfig]) -> Iterator[str]:
    used = {one.name for server in servers if server.config for one in server.config.placeholders}
    return (f"inputs.{name}" for name in document.hints if name not in used)


def _one(listed: ListedServer, hints: dict[str, InputHint], slugs: set[str]) -> ImportedConfig:
    name = listed.name[:100]
    if not isinstance(listed.fields, dict):
        return ImportedConfig(name, problem="It is not an object.")
    entry = ImportEntry(_flat(listed.fields))
    try:
        config = server_config(listed, entry, hints, slug_for(listed.name, slugs))
        check(config)
    except WindlassError as error:
        return ImportedConfig(name, problem=error.message)
    slugs.add(config.slug)
    return ImportedConfig(name, config, warnings=(*entry.notes, *_warnings(config, entry.left)))


def _flat(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Older versions of Zed have the command, its arguments and its environment in one object."""
    inner = fields.get("command")
    if not isinstance(inner, dict):
        return fields
    known = {"command": inner.get("path"), "args": inner.get("args"), "env": inner.get("env")}
    others = {f"command.{name}": value for name, value in inner.items() if name not in ("path", "args", "env")}
    return {**fields, **known, **others}


def slug_for(name: str, taken: Collection[str]) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:28] or "server"
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def _warnings(config: ServerConfig, left: list[str]) -> Iterator[str]:
    if left:
        yield f"Not taken: {', '.join(name[:80] for name in left[:50])}."
    if floating := floating_package(config):
        yield f"{floating}: the version isn't pinned, so it can change between starts."
    if refused := denied(config.env):
        yield f"{', '.join(refused)} can make a program run other code; only windlass.toml may set it."


def floating_package(config: ServerConfig) -> str:
    """The package a runner like npx would fetch in the newest version of the day; "" when pinned or none."""
    runner = config.command.replace("\\", "/").rpartition("/")[2].removesuffix(".cmd").removesuffix(".exe")
    if config.transport != "stdio" or runner not in _RUNNERS:
        return ""
    arguments = [argument for argument in config.args if not argument.startswith("-")]
    package = next(iter(arguments[_RUNNERS[runner] :]), "")
    local = package.startswith((".", "/"))
    return "" if not package or local or _VERSIONED.search(package) else package
