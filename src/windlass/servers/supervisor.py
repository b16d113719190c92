"""All servers: what is configured and what runs. Starting returns at once and happens in parallel, so that nothing
waits for a slow one; see `keeper` for the life of each."""

import asyncio
import json
from collections.abc import Callable, Collection, Coroutine
from typing import Any

from windlass.core.errors import Conflict, NotFound, ToolError
from windlass.servers.config import ServerConfig, check
from windlass.servers.connection import Reveal
from windlass.servers.lifecycle import ServerLifecycle, ServerStatus
from windlass.servers.orphan_guard import OrphanGuard
from windlass.servers.values import Answered, CallResult, OnInput, OnProgress, ToolDefinition


class Servers:
    def __init__(
        self,
        *,
        on_change: Callable[[str], None] = lambda server_id: None,
        reveal: Reveal = lambda value: value,
    ) -> None:
        """`reveal` turns a stored value of `env` and `headers` into the secret it stands for."""
        self._on_change = on_change
        self._reveal = reveal
        self._guardian = OrphanGuard()
        self._keepers: dict[str, ServerLifecycle] = {}

    def check(self, config: ServerConfig) -> None:
        """Raise unless it could be put."""
        check(config)
        if any(other.slug == config.slug and other.id != config.id for other in self.configs()):
            raise Conflict(f"Another server has the slug {config.slug!r}.", detail={"field": "slug"})

    async def put(self, config: ServerConfig) -> None:
        """Add a server, or change one. One that runs is started again if what runs would differ."""
        self.check(config)
        keeper = self._keepers.get(config.id)
        if keeper is None:
            self._keepers[config.id] = ServerLifecycle(
                config, self._guardian, self._reveal, lambda: self._on_change(config.id)
            )
            self._on_change(config.id)
        else:
            await keeper.change(config)

    async def remove(self, server: str) -> None:
        keeper = self._keeper(server)
        await keeper.stop()
        del self._keepers[keeper.config.id]
        self._on_change(keeper.config.id)

    def start(self, server: str) -> None:
        """Returns at once. Raises `Conflict` for a draft: nobody has confirmed what it would run."""
        self._keeper(server).start()

    def start_all(self, but: Collection[str] = ()) -> None:
        for keeper in self._keepers.values():
            if not keeper.config.draft and keeper.config.id not in but:
                keeper.start()

    async def stop(self, server: str) -> None:
        """Returns when no process of it is left."""
        await self._keeper(server).stop()

    async def restart(self, server: str) -> None:
        keeper = self._keeper(server)
        await keeper.stop()
        keeper.start()

    def configs(self) -> list[ServerConfig]:
        return [keeper.config for keeper in self._keepers.values()]

    def config(self, server: str) -> ServerConfig:
        return self._keeper(server).config

    def __contains__(self, server_id: str) -> bool:
        return server_id in self._keepers

    def statuses(self) -> list[ServerStatus]:
        return [keeper.status() for keeper in self._keepers.values()]

    def status(self, server: str) -> ServerStatus:
        return self._keeper(server).status()

    def tools(self, server: str) -> tuple[ToolDefinition, ...]:
        """The tools of a running server as it last listed them; none of one that does not run."""
        return self._keeper(server).tools

    def offered(self, server_id: str) -> tuple[tuple[ToolDefinition, ...], ServerConfig] | None:
        """The tools a server last listed and how it is configured; None for one that is not there."""
        keeper = self._keepers.get(server_id)
        return (keeper.tools, keeper.config) if keeper else None

    def stderr(self, server: str) -> str:
        return self._keeper(server).stderr

    def is_ready(self, server: str) -> bool:
        """It runs, and its tools are known as they are now."""
        return self._keeper(server).is_ready

    async def wait_ready(self, server: str, deadline_s: float) -> ServerStatus:
        """Wait while it starts, at most so long. Returns its status, which may be any."""
        return await self._keeper(server).settled(deadline_s)

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
        """Call a tool with the text of a JSON object. Raises `ToolError`; `sent` tells whether it may have worked."""
        return self._keeper(server).call(
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
        """Leaves no process behind."""
        try:
            async with asyncio.TaskGroup() as group:
                for keeper in self._keepers.values():
                    group.create_task(keeper.stop())
        finally:
            self._guardian.close()

    def _keeper(self, server: str) -> ServerLifecycle:
        if keeper := self._keepers.get(server):
            return keeper
        for keeper in self._keepers.values():
            if keeper.config.slug == server:
                return keeper
        raise NotFound(f"There is no server {server[:100]!r}.", hint="GET /servers shows those that are there.")


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise ToolError(f"The arguments are no JSON: {error}", cause="bad_arguments") from None
    if not isinstance(value, dict):
        raise ToolError("The arguments must be a JSON object.", cause="bad_arguments")
    return value
