"""The settings file, read again while turns run. What can change live is changed; the rest is named in the log."""

import asyncio
import logging
from collections.abc import Callable

import msgspec

from windlass.app import App, configured_providers, configured_secrets, configured_servers, names_of, policy_of
from windlass.config import Config
from windlass.core.errors import WindlassError
from windlass.providers import ProviderConfig
from windlass.servers import ServerConfig
from windlass.web.guard import RequestGuard

LIVE = ("allow_hosts", "public_url", "trusted_proxies", "providers", "servers", "policy")
logger = logging.getLogger("windlass")


class Reload:
    """`read` gives the settings as they are now, flags and environment included."""

    def __init__(self, app: App, guard: RequestGuard, read: Callable[[], Config]) -> None:
        self._app = app
        self._guard = guard
        self._read = read
        self._config = app.config
        self._task: asyncio.Task[None] | None = None

    def soon(self) -> None:
        """One after the other: each begins where the one before it ended."""
        self._task = asyncio.create_task(self._run(after=self._task))

    async def _run(self, after: "asyncio.Task[None] | None") -> None:
        if after:
            await after
        try:
            await self._reload()
        except WindlassError as error:
            logger.error("SIGHUP: not reloaded, the former settings hold: %s %s", error.message, error.hint)
        except Exception:  # the root of this task
            logger.exception("SIGHUP: not reloaded")

    async def _reload(self) -> None:
        new = self._read()
        changed = changes(self._config, new)
        live = [name for name in changed if name in LIVE]
        later = [name for name in changed if name not in LIVE]
        hosts, reach = names_of(new)  # refuses what cannot be, before anything is changed
        self._app.redactor.learn(configured_secrets(new))
        if "servers" in live:
            await self._change_servers(configured_servers(new))
        if "providers" in live:
            self._change_providers(configured_providers(new))
        if "policy" in live:
            self._app.toolbox.permissions.set_operator_rules(policy_of(new))
        self._app.services.permissions.set_lines(new.lines)
        self._guard.set_names(hosts, reach)
        self._config = msgspec.structs.replace(self._config, **{name: getattr(new, name) for name in live})
        logger.info("SIGHUP: the settings are reloaded; changed: %s", ", ".join(live) or "nothing")
        if live:
            await self._app.services.audit.note("windlass.toml", "settings", "reload", ", ".join(live))
        if later:
            logger.warning("SIGHUP: restart Windlass to change %s", ", ".join(later))

    async def _change_servers(self, wanted: list[ServerConfig]) -> None:
        servers = self._app.servers
        for server in wanted:
            servers.check(server)
        for id in {one.id for one in configured_servers(self._config)} - {one.id for one in wanted}:
            await servers.remove(id)
        for server in wanted:
            is_new = server.id not in servers
            await servers.put(server)
            if is_new:
                servers.start(server.id)

    def _change_providers(self, wanted: list[ProviderConfig]) -> None:
        former = configured_providers(self._config)
        for id in {one.id for one in former} - {one.id for one in wanted}:
            self._app.models.remove(id)
        for provider in wanted:
            if provider not in former:
                self._app.models.put(provider)


def changes(old: Config, new: Config) -> list[str]:
    """The settings that differ, each limit and search setting by its own name."""
    found: list[str] = []
    for name in Config.__struct_fields__:
        before, after = getattr(old, name), getattr(new, name)
        if before == after or name in {"lines", "environment", "keys_read"}:
            continue
        if name in {"limits", "web_search"}:
            found += [f"{name}.{field}" for field in _differing(before, after)]
        elif name == "limits_set":
            found += [f"limits.{field}" for field in sorted({*before} ^ {*after})]
        else:
            found.append(name)
    return list(dict.fromkeys(found))


def _differing(before: msgspec.Struct, after: msgspec.Struct) -> list[str]:
    return [name for name in before.__struct_fields__ if getattr(before, name) != getattr(after, name)]
