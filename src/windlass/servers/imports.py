"""Reads the server lists of other programs (Claude Desktop, Cursor, VS Code, Zed) into drafts. Nothing here starts
anything, and nothing in the text is looked up in our environment: `${HOME}` stays as it is."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal, cast

from windlass.core.errors import BadInput, WindlassError
from windlass.core.ids import new_id
from windlass.core.values import value_object
from windlass.servers.environment import denied
from windlass.servers.values import ServerConfig, check

LARGEST = 20 << 20
MOST_SERVERS = 200
_RUNNERS = {"npx": 0, "bunx": 0, "pnpx": 0, "uvx": 0, "pnpm": 1, "yarn": 1, "npm": 1, "uv": 2, "pipx": 1}
_VERSIONED = re.compile(r"(?<!^)@[0-9][\w.+-]*$|==[0-9][\w.+-]*$")
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")
_TRANSPORTS = {"stdio": "stdio", "http": "http", "streamable-http": "http", "streamableHttp": "http", "sse": "sse"}


@value_object
class ImportedConfig:
    """One entry: a draft, or why it cannot be one. `warnings` are shown to the person who confirms it."""

    name: str
    config: ServerConfig | None = None
    problem: str = ""
    warnings: tuple[str, ...] = ()


def imported_servers(text: str | bytes, taken: Collection[str] = ()) -> list[ImportedConfig]:
    """`taken` are the slugs in use. Raises `BadInput` when the text is not a server list at all."""
    if len(text) > LARGEST:
        raise BadInput("The import is larger than 20 MiB.", hint="Split it into several files.", code="too_large")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"The import is not valid JSON: {error}") from None
    entries = _entries(document)
    if len(entries) > MOST_SERVERS:
        raise BadInput(f"The import names {len(entries)} servers; at most {MOST_SERVERS} can be read at once.")
    slugs = set(taken)
    return [_one(str(name), entry, slugs) for name, entry in entries.items()]


def _entries(document: object) -> Mapping[str, object]:
    """`mcpServers` at the top (Claude Desktop, Cursor), `servers` at the top or under `mcp` (VS Code), or
    `context_servers` (Zed)."""
    if isinstance(document, dict):
        paths = ((document, "mcpServers"), (document, "servers"), (document.get("mcp"), "servers"))
        for holder, key in (*paths, (document, "context_servers")):
            if isinstance(holder, dict) and isinstance(holder.get(key), dict):
                return cast(Mapping[str, object], holder[key])
    raise BadInput("No servers were found.", hint='The text should look like {"mcpServers": {"name": {...}}}.')


def _one(name: str, entry: object, slugs: set[str]) -> ImportedConfig:
    if not isinstance(entry, dict):
        return ImportedConfig(name[:100], problem="It is not an object.")
    try:
        config = _config(name, _flat(entry), slugs)
        check(config)
    except WindlassError as error:
        return ImportedConfig(name[:100], problem=error.message)
    slugs.add(config.slug)
    return ImportedConfig(name[:100], config, warnings=tuple(_warnings(config)))


def _flat(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Older versions of Zed have the command, its arguments and its environment in one object."""
    inner = entry.get("command")
    if not isinstance(inner, dict):
        return entry
    return {**entry, "command": inner.get("path"), "args": inner.get("args"), "env": inner.get("env")}


def _config(name: str, entry: Mapping[str, Any], slugs: set[str]) -> ServerConfig:
    url = _text(entry, "url") or _text(entry, "serverUrl")
    return ServerConfig(
        id=new_id("srv"),
        slug=_slug(name, slugs),
        name=name[:100],
        transport=_transport(entry, url),
        command=_text(entry, "command"),
        args=_texts(entry, "args"),
        env=_pairs(entry, "env"),
        cwd=_text(entry, "cwd"),
        url=url,
        headers=_pairs(entry, "headers"),
    )


def _transport(entry: Mapping[str, Any], url: str) -> Literal["stdio", "http", "sse"]:
    named = _text(entry, "type") or _text(entry, "transport")
    if named and named not in _TRANSPORTS:
        raise BadInput(f"type: {named[:40]!r} is not known; use stdio, http or sse")
    if named:
        return cast(Literal["stdio", "http", "sse"], _TRANSPORTS[named])
    return "http" if url and not entry.get("command") else "stdio"


def _slug(name: str, taken: set[str]) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:28] or "server"
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadInput(f"{key}: must be text")
    return value


def _texts(entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadInput(f"{key}: must be a list of texts")
    return tuple(value)


def _pairs(entry: Mapping[str, Any], key: str) -> dict[str, str]:
    value = entry.get(key) or {}
    if not isinstance(value, dict):
        raise BadInput(f"{key}: must be an object")
    if not all(isinstance(item, str | int | float) for item in value.values()):
        raise BadInput(f"{key}: every value must be text")
    return {str(name): str(item) for name, item in value.items()}


def _warnings(config: ServerConfig) -> Iterator[str]:
    if floating := floating_package(config):
        yield f"{floating}: the version isn't pinned, so it can change between starts."
    if refused := denied(config.env):
        yield f"{', '.join(refused)} can make a program run other code; only windlass.toml may set it."
    texts = (*config.argv, *config.env.values(), *config.headers.values(), config.url, config.cwd)
    if any(_PLACEHOLDER.search(text) for text in texts):
        yield "It contains placeholders like ${NAME}, which are not filled in. Replace them by their values."


def floating_package(config: ServerConfig) -> str:
    """The package a runner like npx would fetch in the newest version of the day; "" when pinned or none."""
    runner = config.command.replace("\\", "/").rpartition("/")[2].removesuffix(".cmd").removesuffix(".exe")
    if config.transport != "stdio" or runner not in _RUNNERS:
        return ""
    arguments = [argument for argument in config.args if not argument.startswith("-")]
    package = next(iter(arguments[_RUNNERS[runner] :]), "")
    local = package.startswith((".", "/"))
    return "" if not package or local or _VERSIONED.search(package) else package
