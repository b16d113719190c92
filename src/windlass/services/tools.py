"""The tools of a conversation: what is available, what is enabled, and how each is approved."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.core.errors import BadInput, Conflict, NotFound
from windlass.servers import Servers, ServerStatus
from windlass.services.slices import sliced
from windlass.store import Store
from windlass.toolbox import Toolbox
from windlass.toolbox.offers import is_named
from windlass.toolbox.tool_list import INSIDE, ToolBudget, TurnToolset, tokens_of

PATIENCE_S = 15.0
ARRIVING_S = (
    3.0  # how long a list of tools waits for a server; a message, or a request that names a tool, may wait longer
)


class ConversationTools:
    def __init__(self, store: Store, toolbox: Toolbox, servers: Servers) -> None:
        self._store = store
        self._toolbox = toolbox
        self._servers = servers

    @serves(routes.tools.available)
    async def available(self, conversation_id: str) -> schemas.AvailableTools:
        self._store.conversations.get(conversation_id)
        await self._glance(conversation_id)
        chosen = self._toolbox.chosen(conversation_id)
        found = [
            schemas.AvailableTool(
                server_id=one.offer.server.id,
                server_slug=one.offer.server.slug,
                server_name=one.offer.server.name,
                tool_name=one.offer.tool.name,
                name=one.name,
                description=one.offer.tool.description,
                input_schema=plain(one.offer.tool.input_schema),
                annotations=plain(one.offer.tool.annotations),
                approval=one.approval,
                tokens=one.offer.tokens,
                enabled=one.enabled,
                title=one.offer.tool.title,
                changed=one.changed,
                kind=one.kind,
                listed=one.enabled and one.name in chosen.listed.by_name,
            )
            async for one in sliced(self._toolbox.available(conversation_id))
        ]
        cost = tool_cost(chosen, self._toolbox.budget)
        warning = _beyond_budget(cost) if cost.exceeded else msgspec.UNSET
        return schemas.AvailableTools(found, len(found), self.unavailable(conversation_id), cost=cost, warning=warning)

    @serves(routes.tools.enabled)
    async def enabled(self, conversation_id: str) -> schemas.EnabledTools:
        self._store.conversations.get(conversation_id)
        await self._glance(conversation_id)
        return self._enabled(conversation_id)

    @serves(routes.tools.enable)
    async def enable(self, conversation_id: str, wanted: schemas.EnableTool) -> schemas.EnabledTools:
        approval = wanted.approval if isinstance(wanted.approval, str) else ""
        await self._started(wanted.server_id)
        await self._toolbox.enable(conversation_id, wanted.server_id, wanted.tool_name, approval, picked=wanted.picked)
        return self._enabled(conversation_id, "Tool enabled")

    @serves(routes.tools.disable)
    async def disable(self, conversation_id: str, named: schemas.ToolNamed) -> schemas.EnabledTools:
        if not await self._toolbox.disable(conversation_id, named.server_id, named.tool_name):
            hint = "GET /conversations/{id}/tools shows those that are."
            raise NotFound(f"{named.tool_name} is not enabled in this chat.", hint=hint)
        return self._enabled(conversation_id, "Tool disabled")

    async def arrived(self, conversation_id: str) -> None:
        """Servers that are still starting are waited for, so that the first message finds their tools; but not so
        long that the message seems lost. Those that are away are tried once more."""
        if not (absent := self._absent(conversation_id)):
            return
        self._store.conversations.get(conversation_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
                for status in absent:
                    waits = self._started if status.state == "starting" else self._tried
                    group.create_task(waits(status.config.id))

    async def arriving(self, conversation_id: str) -> None:
        """As `arrived`, for a moment only: a list announces later what comes later."""
        await self._glance(conversation_id)

    async def enable_matching(self, conversation_id: str, patterns: Sequence[str]) -> None:
        """Switch on what a persona names, as `server.tool` with `*`. What cannot be offered now is left out, also when
        it goes or changes meanwhile."""
        for one in self._toolbox.available(conversation_id) if patterns else ():
            name = f"{one.offer.server.slug}.{one.offer.tool.name}"
            if not one.changed and any(fnmatchcase(name, pattern) for pattern in patterns):
                named = is_named(name, patterns)
                if one.enabled and (one.named or not named):
                    continue
                with suppress(NotFound, Conflict):
                    await self._toolbox.enable(conversation_id, one.offer.server.id, one.offer.tool.name, named=named)

    async def choose(self, conversation_id: str, patterns: Sequence[str], *, must_exist: bool = True) -> None:
        """Switch on exactly what these name, as `server.tool` with `*`, and off what is on by default."""
        slugs = {pattern.partition(".")[0] for pattern in patterns}
        for status in self._servers.statuses():
            if status.state == "starting" and status.config.slug in slugs:
                await self._started(status.config.id)
        available = [
            (f"{one.offer.server.slug}.{one.offer.tool.name}", one) for one in self._toolbox.available(conversation_id)
        ]
        for pattern in patterns if must_exist else ():
            if not any(fnmatchcase(name, pattern) for name, one in available if not one.changed):
                raise BadInput(
                    f"windlass.tools: No tool is available as {pattern[:80]!r}.", detail={"path": "windlass.tools"}
                )
        for name, one in available:
            server, tool = one.offer.server.id, one.offer.tool.name
            wanted = not one.changed and any(fnmatchcase(name, pattern) for pattern in patterns)
            named = is_named(name, patterns)
            if wanted and (not one.enabled or (named and not one.named)):
                await self._toolbox.enable(conversation_id, server, tool, named=named)
            elif one.enabled and not wanted:
                await self._toolbox.disable(conversation_id, server, tool)

    def unavailable(self, conversation_id: str) -> list[schemas.UnavailableServer]:
        """Servers whose enabled tools cannot be offered now."""
        missing = self._toolbox.missing(conversation_id)
        return [
            schemas.UnavailableServer(status.config.slug, status.state, status.reason or msgspec.UNSET)
            for status in missing
        ]

    async def _started(self, server_id: str) -> None:
        """A start may take as long as the server's own time to connect, as `npx` does when it fetches a package first.
        One that failed before gets a moment only: a broken server must not hold up every message."""
        while True:
            status = await self._servers.wait_ready(server_id, ARRIVING_S)
            if status.state != "starting" or status.reason:
                return

    async def _tried(self, server_id: str) -> None:
        await self._servers.try_again(server_id, ARRIVING_S)

    async def _glance(self, conversation_id: str) -> None:
        async with asyncio.TaskGroup() as group:
            for status in self._starting(conversation_id):
                group.create_task(self._servers.wait_ready(status.config.id, ARRIVING_S))

    def _starting(self, conversation_id: str) -> list[ServerStatus]:
        return [status for status in self._absent(conversation_id) if status.state == "starting"]

    def _absent(self, conversation_id: str) -> list[ServerStatus]:
        """Those that may be there in a moment."""
        if not any(_may_come(status) for status in self._servers.statuses()):
            return []
        return [status for status in self._toolbox.missing(conversation_id) if _may_come(status)]

    def _enabled(self, conversation_id: str, message: str = "") -> schemas.EnabledTools:
        slugs = {config.id: config.slug for config in self._servers.configs()}
        found = [
            schemas.EnabledTool(choice.server_id, slugs.get(choice.server_id, ""), choice.tool, choice.setting)
            for choice in self._toolbox.enabled(conversation_id)
        ]
        return schemas.EnabledTools(found, len(found), message=message)


def _may_come(status: ServerStatus) -> bool:
    is_away = status.state == "failed" and status.retry_at > 0 and status.config.transport != "stdio"
    return status.state == "starting" or is_away


def tool_cost(chosen: TurnToolset, budget: ToolBudget) -> schemas.ToolCost:
    enabled, listed = ([spec for spec in one.tools if spec.server not in INSIDE] for one in (chosen.all, chosen.listed))
    return schemas.ToolCost(
        tools=len(enabled),
        tokens=tokens_of(enabled),
        listed_tools=len(listed),
        listed_tokens=tokens_of(listed),
        budget_tools=budget.tools,
        budget_tokens=budget.tokens,
        exceeded=bool(chosen.names),
    )


def _beyond_budget(cost: schemas.ToolCost) -> str:
    return (
        f"{cost.tools:,} tools are on, about {cost.tokens:,} tokens: more than the budget of {cost.budget_tools:,} "
        f"tools and {cost.budget_tokens:,} tokens. Each request lists {cost.listed_tools:,} of them, about "
        f"{cost.listed_tokens:,} tokens, and the model searches for the others."
    )


def plain(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(dict(schema or {}))
    return made
