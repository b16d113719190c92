"""All servers: what is configured and what runs. Starting returns at once and happens in parallel, so that nothing
waits for a slow one. Each has a `ServerLifecycle`, which keeps it running."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Coroutine
from typing import Any, TypeVar

from windlass.core.errors import BadInput, Conflict, NotFound, ToolError
from windlass.servers.catalogue import Catalogue
from windlass.servers.connection import Prepare, Reveal
from windlass.servers.identity import (
    Identities,
    KnownForNow,
)
from windlass.servers.isolation import Isolation, IsolationStatus
from windlass.servers.lifecycle import ServerLifecycle, ServerStatus
from windlass.servers.offered import ServerAbilities
from windlass.servers.orphan_guard import OrphanGuard
from windlass.servers.redaction import NoRedaction, Redaction
from windlass.servers.sign_in import AskPerson, CredentialsForNow, CredentialStore, SignInAttempt
from windlass.servers.values import (
    Answered,
    CallResult,
    OnInput,
    OnProgress,
    ServerConfig,
    ToolDefinition,
    check,
    check_filled,
)

LIST_S = 45.0  # and with it the wait for a server that takes few requests at once
T = TypeVar("T")


class Servers:
    def __init__(
        self,
        *,
        on_change: Callable[[str], None] = lambda server_id: None,
        reveal: Reveal = lambda value: value,
        redaction: Redaction | None = None,
        identities: Identities | None = None,
        prepare: Prepare = lambda config, tools, program: None,
        isolation: Isolation | None = None,
        credentials: CredentialStore | None = None,
        open_to_all: bool = False,
    ) -> None:
        """`reveal` turns a stored value of `env` and `headers` into the secret it stands for, `redaction` takes secrets
        out of all that servers write but results; `identities` keeps what was confirmed; `prepare` is called in a
        thread with a long list of tools before it is shown; `credentials` keeps sign-ins; `open_to_all` says that no
        token is asked for here."""
        self.redaction = redaction or NoRedaction()
        self._isolation = isolation or Isolation()
        self._open_to_all = open_to_all
        self._on_change = on_change
        self._reveal = reveal
        self._identities = identities or KnownForNow()
        self._prepare = prepare
        self._credentials = credentials or CredentialsForNow()
        self._orphan_guard = OrphanGuard()
        self._lifecycles: dict[str, ServerLifecycle] = {}

    def check(self, config: ServerConfig) -> None:
        """Raise unless it could be put."""
        check(config)
        if self._open_to_all:
            _refuse_network(config)
        if any(other.slug == config.slug and other.id != config.id for other in self.configs()):
            raise Conflict(f"Another server has the slug {config.slug!r}.", detail={"field": "slug"})

    async def put(self, config: ServerConfig) -> None:
        """Add a server, or change one. A running one is restarted if the change concerns what runs."""
        self.check(config)
        lifecycle = self._lifecycles.get(config.id)
        if lifecycle is None:
            self._lifecycles[config.id] = ServerLifecycle(
                config,
                self._orphan_guard,
                self._isolation,
                self._reveal,
                lambda: self._on_change(config.id),
                self._identities,
                self.redaction,
                self._prepare,
                self._credentials,
            )
            self._on_change(config.id)
        else:
            await lifecycle.change(config)

    async def confirm(self, server: str) -> None:
        """The program is confirmed as it is now."""
        await self._lifecycle(server).confirm()

    async def remove(self, server: str) -> None:
        lifecycle = self._lifecycle(server)
        await lifecycle.stop()
        await lifecycle.sign_in.forget(lifecycle.config)
        del self._lifecycles[lifecycle.config.id]
        await asyncio.to_thread(self._isolation.forget, lifecycle.config.id)
        self._on_change(lifecycle.config.id)

    def start(self, server: str) -> None:
        """Returns at once. Raises `Conflict` for a draft: nobody has confirmed what it would run."""
        self._lifecycle(server).start()

    def start_all(self, but: Collection[str] = ()) -> None:
        for lifecycle in self._lifecycles.values():
            if not (lifecycle.config.draft or lifecycle.config.missing or lifecycle.config.id in but):
                lifecycle.start()

    async def stop(self, server: str) -> None:
        """Returns when no process of it is left."""
        await self._lifecycle(server).stop()

    async def restart(self, server: str) -> None:
        lifecycle = self._lifecycle(server)
        await lifecycle.stop()
        lifecycle.start()

    async def sign_in(self, server: str, redirect_uri: str, ask: AskPerson) -> None:
        """Let a person sign in, and start it with what that gave. Raises `Unavailable` with the reason."""
        lifecycle = self._lifecycle(server)
        if not lifecycle.config.signs_in:
            raise Conflict("This server has no sign-in.", hint=_NO_SIGN_IN, code="no_sign_in")
        check_filled(lifecycle.config)
        await lifecycle.sign_in.interactive(lifecycle.config, redirect_uri, ask)
        await lifecycle.connect_again()  # a connection of before has the token of before

    async def sign_out(self, server: str) -> None:
        lifecycle = self._lifecycle(server)
        await lifecycle.sign_in.forget(lifecycle.config)
        await lifecycle.stop()

    def is_signed_in(self, server: str) -> bool:
        lifecycle = self._lifecycle(server)
        return lifecycle.config.signs_in and lifecycle.sign_in.is_signed_in(lifecycle.config)

    def sign_in_ends_at(self, server: str) -> float:
        """When a person has to sign in again; 0 where that is not known, or not needed."""
        lifecycle = self._lifecycle(server)
        return lifecycle.sign_in.ends_at(lifecycle.config) if lifecycle.config.signs_in else 0

    def sign_in_attempt(self, server: str) -> SignInAttempt | None:
        """The one under way, or the last one if it failed."""
        return self._lifecycle(server).sign_in.attempt

    async def try_again(self, server: str, deadline_s: float) -> None:
        """One that is away is tried once, now, rather than when its wait is over."""
        await self._lifecycle(server).try_again(deadline_s)

    async def until_signed_in(self, server: str) -> ServerStatus:
        """Wait, however long, while it asks for a sign-in."""
        return await self._lifecycle(server).until_signed_in()

    def configs(self) -> list[ServerConfig]:
        return [lifecycle.config for lifecycle in self._lifecycles.values()]

    def config(self, server: str) -> ServerConfig:
        return self._lifecycle(server).config

    def __contains__(self, server_id: str) -> bool:
        return server_id in self._lifecycles

    def statuses(self) -> list[ServerStatus]:
        return [lifecycle.status() for lifecycle in self._lifecycles.values()]

    def status(self, server: str) -> ServerStatus:
        return self._lifecycle(server).status()

    def tools(self, server: str) -> tuple[ToolDefinition, ...]:
        """The tools of a running server as it last listed them; none of one that does not run."""
        return self._lifecycle(server).tools

    def offered(self, server_id: str) -> tuple[tuple[ToolDefinition, ...], ServerConfig] | None:
        """The tools a server last listed and its configuration; None for an unknown server."""
        lifecycle = self._lifecycles.get(server_id)
        return (lifecycle.tools, lifecycle.config) if lifecycle else None

    def abilities(self, server: str) -> ServerAbilities:
        """What a running server has besides tools."""
        catalogue = self._lifecycle(server).catalogue
        return catalogue.abilities if catalogue else ServerAbilities()

    def names(self, server: str, uri: str) -> bool:
        """Whether a running server listed this resource."""
        catalogue = self._lifecycle(server).catalogue
        return catalogue is not None and catalogue.names(uri)

    def instructions(self, server: str) -> str:
        """How a running server says that it is to be used."""
        catalogue = self._lifecycle(server).catalogue
        return catalogue.instructions if catalogue else ""

    async def ask(self, server: str, request: Callable[[Catalogue], Awaitable[T]], limit_s: float = LIST_S) -> T:
        """A request to a running server besides the calls of tools. Raises `ToolError` that names the server."""
        lifecycle = self._lifecycle(server)
        try:
            return await lifecycle.ask(request, limit_s)
        except ToolError as error:
            slug = lifecycle.config.slug
            named = error.message if repr(slug) in error.message else f"{slug}: {error.message}"
            raise ToolError(named, cause=error.code, hint=error.hint or _NEXT_STEP.get(error.code, "")) from error

    async def find_out_isolation(self) -> None:
        """Before anything about isolation is shown: at the first time it is tried what works."""
        if any(config.transport == "stdio" for config in self.configs()):
            await asyncio.to_thread(self._isolation.find_out)

    def isolation(self, server: str) -> IsolationStatus:
        """After `find_out_isolation`; else it blocks."""
        return self._lifecycle(server).isolation()

    def stderr(self, server: str) -> str:
        return self._lifecycle(server).stderr

    def is_ready(self, server: str) -> bool:
        """Whether it runs and its list of tools is up to date."""
        return self._lifecycle(server).is_ready

    async def wait_ready(self, server: str, deadline_s: float) -> ServerStatus:
        """Wait while it starts, at most so long. Returns its status, which may be any."""
        return await self._lifecycle(server).settled(deadline_s)

    def call(
        self,
        server: str,
        tool: str,
        arguments: str,
        *,
        key: str = "",
        safe: bool = False,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        on_input: OnInput | None = None,
        answered: Answered | None = None,
    ) -> Coroutine[Any, Any, CallResult]:
        """Call a tool with the text of a JSON object. Raises `ToolError`, with `sent` if it may have had an effect."""
        return self._lifecycle(server).call(
            tool,
            _object(arguments),
            key=key,
            safe=safe,
            timeout_s=timeout_s,
            on_progress=on_progress,
            on_input=on_input,
            answered=answered,
        )

    async def aclose(self) -> None:
        """Stop every server. Leaves no process behind."""
        try:
            async with asyncio.TaskGroup() as group:
                for lifecycle in self._lifecycles.values():
                    group.create_task(lifecycle.stop())
                    group.create_task(lifecycle.sign_in.aclose())
        finally:
            self._orphan_guard.close()
            self._isolation.close()

    def _lifecycle(self, server: str) -> ServerLifecycle:
        if lifecycle := self._lifecycles.get(server):
            return lifecycle
        for lifecycle in self._lifecycles.values():
            if lifecycle.config.slug == server:
                return lifecycle
        raise NotFound(f"There is no server {server[:100]!r}.", hint="GET /servers lists the servers.")


_NEXT_STEP = {
    "not_running": "POST /servers/{id}/start starts it.",
    "server_gone": "It is started again by itself; try once more in a moment. Its log may say why it ended.",
    "timeout": "Try again; the server's log may say what it waits for.",
}
_NO_SIGN_IN = "Signing in is for servers with an address, and without an Authorization header of your own."


def _refuse_network(config: ServerConfig) -> None:
    """Strict isolation promises that the server reaches nothing but what is named: with the network it would reach
    Windlass itself, and could approve its own calls."""
    if config.transport == "stdio" and config.wanted_sandbox == "strict" and config.sandbox_rules.network:
        of_file = f"set `network = false` under `[servers.{config.slug}.inside]` in windlass.toml"
        added = f"add the server without network; `windlass servers remove {config.slug}` removes one that is there"
        raise BadInput(
            f"{config.slug}: strict isolation with network does not hold beside --no-auth, because the server could "
            "approve its own calls.",
            hint=f"Start Windlass without --no-auth, or {of_file if config.operator else added}.",
            code="open_to_all",
            detail={"field": "inside"},
        )


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise ToolError(f"The arguments are not valid JSON: {error}", cause="bad_arguments") from None
    if not isinstance(value, dict):
        raise ToolError("The arguments must be a JSON object.", cause="bad_arguments")
    return value
