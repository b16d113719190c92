"""MCP servers: add, confirm, start, stop, look at. What is kept of one holds no secret: those are in the vault."""

import asyncio
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.core.actor import current_actor
from windlass.core.errors import BadInput, Conflict
from windlass.core.ids import new_id
from windlass.core.values import value_object
from windlass.servers import (
    ServerConfig,
    Servers,
    ServerStatus,
    check_filled,
    slug_for,
    with_values,
    without_overwritten,
)
from windlass.servers.identity import ProgramIdentity
from windlass.services.keyed_lock import KeyedLock
from windlass.services.origins import moved
from windlass.services.server_isolation import as_second_edition, loosens, rules_of, shown_inside, shown_isolation
from windlass.services.server_secrets import ServerSecrets
from windlass.services.slices import sliced
from windlass.services.tools import plain, tool_cost
from windlass.services.whole_results import WholeResult
from windlass.store import Documents, Store
from windlass.store.vault import PREFIX, Vault
from windlass.toolbox import Offer, Toolbox
from windlass.toolbox.results import tool_output
from windlass.toolbox.schemas import checked_result, visible
from windlass.turns.records import DeletedServers
from windlass.turns.views import iso

EDITION = 2
HOW_TO_SWITCH_OFF = "docs/isolation.md says what that means and how to switch it off"
READY_S = 60
LOOK_S = 0.1
MOST_LINES = 500
RESERVED = {"found"}
logger = logging.getLogger("windlass")


@value_object
class KeptServer:
    config: ServerConfig
    created_at: float
    wanted: bool = True  # False for one that was imported, until a person starts it
    edition: int = 1  # that wrote the row; the first one had no isolation by default
    approval_by: str = ""
    approval_at: float = 0


class ServerIdentities:
    """What each server ran when it was confirmed or first started."""

    def __init__(self, store: Store) -> None:
        self._rows: Documents[ProgramIdentity] = store.documents("identity", ProgramIdentity)

    def get(self, server_id: str) -> ProgramIdentity | None:
        return self._rows.get(f"{server_id}/program")

    def keep(self, server_id: str, identity: ProgramIdentity) -> None:
        self._rows.put(f"{server_id}/program", identity, parent=server_id)


class McpServers:
    def __init__(
        self,
        store: Store,
        servers: Servers,
        toolbox: Toolbox,
        vault: Vault,
        deleted_servers: DeletedServers,
        home: Path,
    ) -> None:
        self._home = home
        self._store = store
        self._servers = servers
        self._toolbox = toolbox
        self._vault = vault
        self._secrets = ServerSecrets(vault)
        self._deleted_servers = deleted_servers
        self._kept: Documents[KeptServer] = store.documents("server", KeptServer)
        self._changes = KeyedLock()
        self._rotated: set[str] = set()  # whose programs do not have their new secrets yet

    async def load(self) -> None:
        """At start: what was added earlier. A slug the operator's file now uses stays the file's."""
        every = self._kept.all()
        self._vault.keep_only("srv-", [f"{kept.config.id}/" for kept in every])
        # Those of the settings are all here by now, started or not: settings that cannot be read end the start before.
        self._vault.keep_only("server-", [f"{config.id}/" for config in self._servers.configs()])
        for kept in [await self._as_second_edition(kept) for kept in every]:
            try:
                await self._servers.put(kept.config)
            except Conflict:
                continue

    async def _as_second_edition(self, kept: KeptServer) -> KeptServer:
        """Once for each row of the first edition; what becomes stricter is printed."""
        if kept.edition >= EDITION:
            return kept
        now = replace(kept, config=as_second_edition(kept.config), edition=EDITION)
        await self._kept.put(kept.config.id, now)
        if now.config.sandbox == "default" and now.config.transport == "stdio":
            logger.info("The server %s runs isolated from now on; %s", now.config.slug, HOW_TO_SWITCH_OFF)
        return now

    def approval_set(self, server_id: str) -> tuple[str, float]:
        """By whom, and when; nothing is known of a server of the operator's file."""
        kept = self._kept.get(server_id)
        return (kept.approval_by, kept.approval_at) if kept else ("", 0)

    def unwanted(self) -> set[str]:
        """Servers never started yet: an import contacts no address by itself, not even after a restart."""
        return {kept.config.id for kept in self._kept.all() if not kept.wanted}

    def slugs(self) -> set[str]:
        """Those in use, and those that a route of this name would hide."""
        return {config.slug for config in self._servers.configs()} | RESERVED

    @serves(routes.servers.add)
    async def add(self, new: schemas.NewServer) -> schemas.ServerAnswer:
        given = _given(new)
        given.setdefault("slug", slug_for(new.name, self.slugs()))
        config = self._config(ServerConfig(new_id("srv"), ""), given)
        await self._put(_with_author(KeptServer(config, time.time(), edition=EDITION), config.approval))
        return await self._answer(config.id, "Server added; confirm its command" if config.draft else "Server added")

    @serves(routes.servers.all)
    async def all(self) -> schemas.ServerList:
        await self._servers.find_out_isolation()
        shown = [self._shown(status) for status in self._servers.statuses()]
        cost = tool_cost(self._toolbox.chosen(""), self._toolbox.budget)
        return schemas.ServerList(shown, len(shown), cost=cost)

    @serves(routes.servers.get)
    async def get(self, server: str) -> schemas.ServerAnswer:
        return await self._answer(server)

    @serves(routes.servers.change)
    async def change(self, server: str, change: schemas.ServerChange) -> schemas.ServerAnswer:
        async with self._changes.hold(self._own(server).config.id):
            kept = self._own(server)
            accepted = self._instructions_seen(kept.config, change)
            config, message = self._config(kept.config, _given(change)), "Server changed"
            if moved(kept.config.url, config.url) and not _is_filled_in(kept.config, config, change):
                config = _without_client(config, change)
                if kept.config.headers or kept.config.placeholders:
                    kept, config, message = await self._move_without_headers(kept, config)
            same = self._what_was_confirmed(config) == self._what_was_confirmed(kept.config)
            if not same or loosens(kept.config, config):
                config = replace(config, confirmed=False)
                await self._unconfirm(kept, config)
            if config.approval != kept.config.approval:
                kept = _with_author(kept, config.approval)
            await self._put(replace(kept, config=config))
            if change.instructions is True:
                await self._toolbox.server_instructions.accept(config, accepted)
        return await self._answer(config.id, message)

    def _instructions_seen(self, config: ServerConfig, change: schemas.ServerChange) -> str:
        """The hash of what is accepted with `instructions: true`."""
        now = self._toolbox.server_instructions.digest(config)
        if change.instructions is True and change.instructions_hash not in (msgspec.UNSET, now):
            raise Conflict(
                "The instructions changed again.",
                hint="Look at `instructions_text` again and send its `instructions_hash`.",
                code="instructions_changed",
            )
        return now

    @serves(routes.servers.delete)
    async def delete(self, server: str) -> schemas.Acknowledged:
        async with self._changes.hold(self._own(server).config.id):
            kept = self._own(server)
            await self._deleted_servers.add(kept.config.id, kept.config.slug)
            await self._servers.stop(kept.config.id)
            await self._kept.delete(kept.config.id)
            await self._servers.remove(kept.config.id)
            self._vault.drop(f"{kept.config.id}/")
        return schemas.Acknowledged(message="Server removed")

    @serves(routes.servers.confirm)
    async def confirm(self, server: str, request: schemas.Confirm) -> schemas.ServerAnswer:
        server_id = self._servers.status(server).config.id
        async with self._changes.hold(server_id):
            status = self._servers.status(server_id)  # as it is now: a change may have come first
            config = status.config
            _check_argv(config, request)
            if not (config.operator and status.state == "draft"):  # one of the file's, whose program changed
                kept = self._own(server_id)
                _check_argv(kept.config, request)
                check_filled(kept.config)
                self._check_values(kept.config, request)
                await self._put(replace(kept, config=replace(kept.config, confirmed=True)))
            await self._servers.confirm(config.id)
        return await self._answer(config.id, "Command confirmed")

    @serves(routes.servers.start)
    async def start(self, server: str) -> schemas.ServerAnswer:
        """Waits until it runs or has failed; that it failed is in the answer."""
        config = self._servers.status(server).config
        async with self._changes.hold(config.id):
            self._servers.start(config.id)
            if (kept := self._kept.get(config.id)) and not kept.wanted:
                await self._kept.put(config.id, replace(kept, wanted=True))
        status = await self._first_outcome(config.id)
        message = "Server running" if status.state == "running" else f"Server {status.state}"
        return await self._answer(config.id, message)

    @serves(routes.servers.stop)
    async def stop(self, server: str) -> schemas.ServerAnswer:
        config = self._servers.status(server).config
        async with self._changes.hold(config.id):
            await self._servers.stop(config.id)
        return await self._answer(config.id, "Server stopped")

    @serves(routes.servers.tools)
    async def tools(self, server: str) -> schemas.ServerTools:
        status = self._servers.status(server)
        offers = self._toolbox.offers.of(status.config.id)
        found = [self._tool(offer) async for offer in sliced(offers.values())]
        return schemas.ServerTools(found, len(found), status.state)

    @serves(routes.servers.call_tool)
    async def call_tool(self, server: str, wanted: schemas.CallTool) -> schemas.ToolResultAnswer:
        """By hand, outside any turn. Nothing of it is kept."""
        offer = self._toolbox.offer(server, wanted.name)
        if offer.checker and (errors := offer.checker.errors(wanted.arguments)):
            raise BadInput(f"arguments: {'; '.join(errors)}", detail={"path": "arguments", "errors": errors})
        began = time.monotonic()
        arguments = msgspec.json.encode(wanted.arguments).decode()
        result = await self._servers.call(offer.server.id, wanted.name, arguments, key=new_id("call"))
        whole = WholeResult()
        result = checked_result(result, offer.tool.output_schema)
        output = await tool_output(result, whole.keep, self._servers.redaction)
        return schemas.ToolResultAnswer(
            schemas.ToolResult(
                text=output.text,
                state="error" if output.failed else "ok",
                result_id=output.result_id or None,
                size=output.size,
                shortened=output.shortened,
                took_ms=round((time.monotonic() - began) * 1000),
                files=await asyncio.to_thread(whole.files, output, with_data=wanted.file_data) if output.files else [],
            ),
            success=not output.failed,
        )

    @serves(routes.servers.accept_tool)
    async def accept_tool(self, server: str, tool: str, request: schemas.AcceptTool) -> schemas.ServerTools:
        """Agree to a changed definition, which must be the very one that was looked at."""
        await self._toolbox.accept(server, tool, request.hash)
        return await self.tools(server)

    @serves(routes.servers.correct_kind)
    async def correct_kind(self, server: str, tool: str, request: schemas.ToolKind) -> schemas.ServerTools:
        await self._toolbox.set_class(server, tool, request.kind, current_actor())
        return await self.tools(server)

    @serves(routes.servers.log)
    async def log(self, server: str) -> schemas.ServerLog:
        lines = self._servers.stderr(server).splitlines()[-MOST_LINES:]
        return schemas.ServerLog(lines, len(lines))

    async def add_draft(self, config: ServerConfig) -> schemas.Server:
        """One that nobody has looked at: it contacts no address and runs nothing until a person starts it."""
        await self._put(KeptServer(replace(config, confirmed=False), time.time(), wanted=False, edition=EDITION))
        return (await self._answer(config.id)).server

    async def _first_outcome(self, server_id: str) -> ServerStatus:
        """One that failed is tried again by itself, which is nothing to wait for here."""
        due = time.monotonic() + READY_S
        while True:
            status = await self._servers.wait_ready(server_id, LOOK_S)
            if status.state != "starting" or time.monotonic() > due:
                return status

    async def _put(self, kept: KeptServer) -> None:
        """Nothing is kept of what cannot be. The vault comes first: a row that names a secret which is not there would
        never start. Then the row: what runs without one could not be deleted."""
        config = kept.config
        self._servers.check(config)
        if self._secrets.rotate(config):
            self._rotated.add(config.id)
        hidden = self._secrets.hidden(config)
        await self._kept.put(config.id, replace(kept, config=hidden))
        await self._servers.put(hidden)
        if config.id in self._rotated and self._servers.status(config.id).state in {"running", "starting"}:
            await self._servers.restart(config.id)  # rows only name secrets, so nothing else sees that one is new
        self._rotated.discard(config.id)

    async def _move_without_headers(
        self, kept: KeptServer, changed: ServerConfig
    ) -> tuple[KeptServer, ServerConfig, str]:
        """Its headers were given for another address. Only those that the request has in full go to the new one; a
        reference to what was kept does not count. The row comes first: it must name no secret that is not there."""
        self._servers.check(changed)
        slot = f"{PREFIX}{kept.config.id}/headers/"
        given = {name: value for name, value in changed.headers.items() if value != slot + name}
        placeholders = self._secrets.without_kept(kept.config)
        bare = replace(kept, config=replace(kept.config, headers={}, placeholders=placeholders))
        await self._kept.put(kept.config.id, bare)
        self._vault.drop(f"{kept.config.id}/headers/")
        self._vault.drop(f"{kept.config.id}/inputs/")
        changed = replace(changed, placeholders=self._secrets.without_kept(changed))
        gone = ", ".join(sorted(set(kept.config.headers) - set(given)))
        why = f". These headers were deleted, because the address is another server's: {gone}" if gone else ""
        changed = replace(changed, headers=given)
        return bare, without_overwritten(changed, changed), f"Server changed{why}"

    async def _unconfirm(self, kept: KeptServer, changed: ServerConfig) -> None:
        """Before anything of the change is kept: values are in the vault, which is written before the row, and none may
        reach a program by a row that is still confirmed."""
        self._servers.check(changed)
        if kept.config.confirmed:
            await self._put(replace(kept, config=replace(kept.config, confirmed=False)))

    def _what_was_confirmed(self, config: ServerConfig) -> tuple[object, ...]:
        """The values of secrets may rotate."""
        return (
            config.argv,
            config.cwd,
            set(config.env),
            self._secrets.shown_values(config),
            self._secrets.filled_in(config),
        )

    def _check_values(self, config: ServerConfig, request: schemas.Confirm) -> None:
        if config.draft and request.env_values not in (msgspec.UNSET, self._secrets.shown_values(config)):
            raise Conflict(
                "These are not the variables the command would run with.",
                hint="Look at `env_values` again and send it back exactly as it is shown.",
                code="env_values",
            )

    def _config(self, config: ServerConfig, given: dict[str, Any]) -> ServerConfig:
        fields = _fields(given)
        if inside := fields.pop("inside", None):
            fields["sandbox_rules"] = rules_of(inside, config.id, self._home)
        if fields.get("slug") in RESERVED:
            raise BadInput(f"slug: {fields['slug']} is the name of a route", detail={"field": "slug"})
        if fields.get("tools", config.tools) != config.tools:
            fields["tools_are_named"] = True
        fields.pop("instructions_hash", None)
        if values := fields.pop("values", None):
            config = with_values(self._secrets.readable(config), values)
        changed = replace(config, **fields)
        return without_overwritten(changed, self._secrets.readable(changed)) if changed.placeholders else changed

    def _own(self, server: str) -> KeptServer:
        config = self._servers.status(server).config
        kept = self._kept.get(config.id)
        if kept is None:
            raise Conflict(f"{config.slug} comes from the settings.", hint="Change it there.", code="from_config")
        return kept

    async def _answer(self, server: str, message: str = "") -> schemas.ServerAnswer:
        await self._servers.find_out_isolation()
        return schemas.ServerAnswer(self._shown(self._servers.status(server)), message=message)

    def _shown(self, status: ServerStatus) -> schemas.Server:
        kept = self._kept.get(status.config.id)
        shown = server_shown(status, created_at=kept.created_at if kept else None)
        shown.instructions_text = self._servers.instructions(status.config.id)
        shown.instructions_hash = self._toolbox.server_instructions.digest(status.config)
        shown.instructions_changed = self._toolbox.server_instructions.changed(status.config)
        abilities = self._servers.abilities(status.config.id)
        shown.has_resources, shown.has_prompts = abilities.resources, abilities.prompts
        shown.inside = shown_inside(status.config.sandbox_rules)
        self._show_sign_in(shown, status.config.id)
        shown.isolation = shown_isolation(status.config, self._servers.isolation(status.config.id))
        if status.config.draft:
            shown.env_values = self._secrets.shown_values(status.config)
        if kept and not kept.wanted and status.config.transport != "stdio" and shown.status == "configured":
            shown.status = "draft"  # there is no command to confirm: starting it is the consent
        return shown

    def _show_sign_in(self, shown: schemas.Server, server_id: str) -> None:
        shown.signed_in = self._servers.is_signed_in(server_id)
        if ends_at := self._servers.sign_in_ends_at(server_id):
            shown.sign_in_ends_at = iso(ends_at)
        if (attempt := self._servers.sign_in_attempt(server_id)) and (attempt.host or attempt.error):
            shown.sign_in = schemas.ServerSignIn(attempt.host, attempt.error)

    def _tool(self, offer: Offer) -> schemas.ServerTool:
        return schemas.ServerTool(
            name=offer.tool.name,
            title=offer.tool.title,
            description=visible(offer.tool.description),
            input_schema=plain(offer.tool.input_schema),
            output_schema=plain(offer.tool.output_schema),
            annotations=plain(offer.tool.annotations),
            hash=offer.hash,
            tokens=offer.tokens,
            changed=self._toolbox.pins.changed(offer),
            problem=offer.problem,
            was=self._was(offer),
            kind=self._toolbox.kind(offer),
            kind_by=self._toolbox.kind_by(offer),
        )

    def _was(self, offer: Offer) -> dict[str, Any] | msgspec.UnsetType:
        """The definition that was agreed to, where the server now offers another."""
        pin = self._toolbox.pins.of(offer)
        if pin is None or not self._toolbox.pins.changed(offer):
            return msgspec.UNSET
        return {
            "title": pin.title,
            "description": visible(pin.description),
            "input_schema": plain(pin.input_schema),
            "output_schema": plain(pin.output_schema),
            "annotations": plain(pin.annotations),
            "program": pin.program,
        }


def _with_author(kept: KeptServer, approval: str) -> KeptServer:
    return replace(kept, approval_by=current_actor(), approval_at=time.time()) if approval else kept


def server_shown(status: ServerStatus, *, created_at: float | None) -> schemas.Server:
    config = status.config
    return schemas.Server(
        id=config.id,
        name=config.name or config.slug,
        slug=config.slug,
        transport=config.transport,
        argv=list(config.argv) if config.transport == "stdio" else [],
        command=config.command,
        args=list(config.args),
        env_names=sorted(config.env),
        cwd=config.cwd,
        url=config.url,
        header_names=sorted(config.headers),
        trusted=config.trusted,
        tools=config.tools,
        approval=config.approval or None,
        timeout_s=config.timeout_s,
        retries=config.retries,
        parallel=config.parallel,
        sandbox=config.wanted_sandbox,
        status=status.state,
        error=status.reason or None,
        note=status.note or None,
        tool_count=status.tools,
        latency_ms=status.latency_ms or None,
        era=status.era,
        from_config=config.operator,
        calls=status.calls,
        errors=status.errors,
        retry_at=iso(status.retry_at) if status.retry_at else None,
        created_at=iso(created_at) if created_at else None,
        auth=config.auth,
        client_id=config.client_id,
        scopes=config.scopes,
        issuer=config.issuer,
        missing=shown_missing(config),
        instructions=config.instructions,
    )


def shown_missing(config: ServerConfig) -> list[schemas.MissingValue]:
    return [
        schemas.MissingValue(one.name, one.label, one.secret, one.default, list(one.where)) for one in config.missing
    ]


def _is_filled_in(before: ServerConfig, after: ServerConfig, change: schemas.ServerChange) -> bool:
    """Its headers were given for this address, which was not whole: nothing was ever sent."""
    return change.url is msgspec.UNSET and any("url" in one.where for one in before.missing)


def _without_client(changed: ServerConfig, change: schemas.ServerChange) -> ServerConfig:
    """A client's secret was given for another address too. Tokens need no look: they are bound to theirs."""
    secret = "" if change.client_secret is msgspec.UNSET else change.client_secret
    client = "" if change.client_id is msgspec.UNSET else change.client_id
    return replace(changed, client_id=client, client_secret=secret)


def _given(fields: schemas.NewServer | schemas.ServerChange) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(fields).items() if value is not msgspec.UNSET}


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    made = dict(given)
    if made.get("sandbox") == "bwrap":
        made["sandbox"] = "strict"
    if "args" in made:
        made["args"] = tuple(made["args"])
    if "approval" in made:
        made["approval"] = made["approval"] or ""
    if "transport" not in made and made.get("url"):
        made["transport"] = "http"
    return made


def _check_argv(config: ServerConfig, request: schemas.Confirm) -> None:
    if config.transport != "stdio":
        raise Conflict(
            "Only a server that runs a command needs this.",
            hint="POST /servers/{id}/start starts it.",
            code="nothing_to_confirm",
        )
    if tuple(request.argv) != config.argv:
        raise Conflict(
            "This is not the command that would run.", hint="Send back `argv` exactly as it is shown.", code="argv"
        )
