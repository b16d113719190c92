"""Servers that are brought in as drafts: the config of another client, given or found on this machine, and the gallery.
Nothing of it starts by itself."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import msgspec

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.core.errors import BadInput, NotFound
from windlass.servers import (
    ImportedConfig,
    ImportedFile,
    ServerConfig,
    Servers,
    imported_servers,
    slug_for,
    with_values,
)
from windlass.servers.client_files import ClientFile, client_files
from windlass.servers.gallery import KnownServer, known_server, search_gallery
from windlass.services.servers import McpServers, shown_missing

_OWN = {"text", "found", "only", "values"}


class ServerImports:
    def __init__(self, servers: Servers, kept: McpServers) -> None:
        self._servers = servers
        self._kept = kept

    @serves(routes.servers.import_)
    async def import_(self, given: dict[str, Any]) -> schemas.ImportedServers:
        document, request = _request(given)
        if request.found:
            files = await asyncio.to_thread(client_files)
            return await self._added(_chosen(files, request), request.values)
        source = request.text or document
        taken = self._kept.slugs()
        return await self._added([await asyncio.to_thread(imported_servers, source, taken)], request.values)

    @serves(routes.servers.found)
    async def found(self) -> schemas.FoundConfigs:
        here = [_what_it_is(config) for config in self._servers.configs()]
        configs = [_file_shown(file, here) for file in await asyncio.to_thread(client_files)]
        count = sum(config.count for config in configs)
        return schemas.FoundConfigs(configs, count, message="Nothing was started")

    @serves(routes.gallery.find)
    async def find(self, query: schemas.GalleryQuery) -> schemas.GalleryList:
        here = self._servers.configs()
        entries = [_entry_shown(known, here) for known in search_gallery(query.q)]
        return schemas.GalleryList(entries, len(entries))

    @serves(routes.gallery.add)
    async def add(self, entry: str, request: schemas.GalleryAdd) -> schemas.ServerAnswer:
        known = known_server(entry)
        draft = known.config(slug_for(request.name or known.id, self._kept.slugs()), request.name)
        filled = with_values(draft, {**known.defaults, **request.values})
        return schemas.ServerAnswer(await self._kept.add_draft(filled), message="Server added; confirm its command")

    async def _added(self, files: list[ImportedFile], values: Mapping[str, str]) -> schemas.ImportedServers:
        """Every value is looked at before the first draft is kept."""
        imported = [(one, one.config and _filled(one.config, values)) for file in files for one in file.servers]
        _check_asked_for(values, [one.config for one, _ in imported if one.config])
        made: list[schemas.Server] = []
        notes: list[schemas.ImportNote] = []
        for one, config in imported:
            note = schemas.ImportNote(one.name, one.problem, list(one.warnings))
            if config:
                config = replace(config, slug=slug_for(config.slug, self._kept.slugs()))
                made.append(await self._kept.add_draft(config))
                note.slug = config.slug
            notes.append(note)
        unread = [name for file in files for name in file.unread]
        unread += [f"{name} (twice; the last one counts)" for file in files for name in file.repeated]
        return schemas.ImportedServers(made, len(made), notes, message="Nothing was started", unread=unread)


def _filled(config: ServerConfig, values: Mapping[str, str]) -> ServerConfig:
    asked = {one.name for one in config.placeholders}
    return with_values(config, {name: value for name, value in values.items() if name in asked})


def _check_asked_for(values: Mapping[str, str], configs: list[ServerConfig]) -> None:
    asked = {one.name for config in configs for one in config.placeholders}
    if unknown := sorted(set(values) - asked):
        raise BadInput(
            f"values: nothing asks for {', '.join(unknown)[:200]}.",
            hint=f"Values that are asked for: {', '.join(sorted(asked)) or 'none'}.",
        )


def _request(given: dict[str, Any]) -> tuple[dict[str, Any], schemas.ImportRequest]:
    """What is ours in the body, and the other client's object."""
    document = dict(given)
    named = {name: document.pop(name) for name in _OWN if name in document}
    try:
        return document, msgspec.convert(named, schemas.ImportRequest)
    except msgspec.ValidationError as error:
        raise BadInput(f"The import cannot be read: {error}") from None


def _chosen(files: list[ClientFile], request: schemas.ImportRequest) -> list[ImportedFile]:
    by_id = {file.id: file for file in files}
    if unknown := [id for id in request.found if id not in by_id]:
        raise NotFound(f"found: {', '.join(unknown)[:200]} is not there.", hint="GET /servers/found lists what is.")
    wanted = None if request.only is msgspec.UNSET else set(request.only)
    return [
        ImportedFile(tuple(one for one in by_id[id].found.servers if wanted is None or one.name in wanted))
        for id in request.found
    ]


def _file_shown(file: ClientFile, here: list[tuple[str, ...]]) -> schemas.FoundConfig:
    servers = [_server_shown(one, here) for one in file.found.servers]
    count = sum(not (one.problem or one.added) for one in servers)
    return schemas.FoundConfig(file.id, file.client, file.path, servers, count, file.problem)


def _server_shown(one: ImportedConfig, here: list[tuple[str, ...]]) -> schemas.FoundEntry:
    """Arguments may hold keys, and so may the path of an address: neither is shown before a person imports it."""
    config = one.config
    if config is None:
        return schemas.FoundEntry(one.name, None, "", [], [], one.problem)
    runs = config.command if config.transport == "stdio" else urlsplit(config.url).netloc.rpartition("@")[2]
    return schemas.FoundEntry(
        one.name,
        config.transport,
        runs,
        sorted(config.env),
        sorted(config.headers),
        added=_what_it_is(config) in here,
    )


def _what_it_is(config: ServerConfig) -> tuple[str, ...]:
    return config.argv if config.transport == "stdio" else (config.url,)


def _entry_shown(known: KnownServer, servers: list[ServerConfig]) -> schemas.GalleryEntry:
    draft = known.config("gallery")
    return schemas.GalleryEntry(
        id=known.id,
        name=known.name,
        description=known.gives,
        publisher=known.publisher,
        needs=list(known.needs),
        transport=draft.transport,
        argv=list(draft.argv) if draft.transport == "stdio" else [],
        url=known.url,
        version=known.version,
        asks=shown_missing(draft),
        homepage=known.homepage,
        note=known.note,
        added=[config.slug for config in servers if _comes_from(config, known)],
    )


def _comes_from(config: ServerConfig, known: KnownServer) -> bool:
    """The same package or address, in whatever version and with whatever values."""
    if known.url:
        return config.transport != "stdio" and config.url.endswith(known.url.rpartition("}")[2])
    versions = (known.package, f"{known.package}@", f"{known.package}==")
    return any(part == versions[0] or part.startswith(versions[1:]) for part in config.args)
