"""All servers: what is configured and what runs. Starting returns at once and happens in parallel, so that nothing
waits for a slow one. Each has a `ServerLifecycle`: started, watched, started again, later and later, and after five
failures in a row left alone until someone asks for it."""

import asyncio
import json
import time
from collections.abc import Callable, Collection, Coroutine
from dataclasses import replace
from typing import Any, Literal

from windlass.core.errors import Conflict, NotFound, ToolError, Unavailable
from windlass.core.values import value_object
from windlass.servers.connection import Connection, Reveal
from windlass.servers.orphan_guard import OrphanGuard
from windlass.servers.values import Answered, CallResult, OnInput, OnProgress, ServerConfig, ToolDefinition, check

State = Literal["draft", "configured", "starting", "running", "failed", "stopped"]
TRIES = 5
LONGEST_WAIT_S = 60.0
HEALTHY_S = 60.0  # a server that lived this long starts again with a clean record
OTHERS_S = 5.0
_GONE = {"server_gone", "not_running", "session_gone"}
_WORTH_ANOTHER = {*_GONE, "timeout", "bad_result"}  # an answer that says no will say no again


@value_object
class ServerStatus:
    """The truth about one server, as it is now."""

    config: ServerConfig
    state: State
    reason: str = ""
    era: str = ""
    program: str = ""
    pid: int | None = None
    tools: int = 0
    calls: int = 0
    errors: int = 0
    latency_ms: float = 0
    starts: int = 0
    bad_lines: int = 0
    retry_at: float = 0  # when a failed one is tried again; 0 never


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

    def _keeper(self, server: str) -> "ServerLifecycle":
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


class ServerLifecycle:
    """Keeps one server as its owner wants it."""

    def __init__(
        self, config: ServerConfig, guardian: OrphanGuard, reveal: Reveal, on_change: Callable[[], None]
    ) -> None:
        self.config = config
        self._guardian = guardian
        self._reveal = reveal
        self._on_change = on_change
        self._state: State = "draft" if config.draft else "configured"
        self._reason = ""
        self._retry_at = 0.0
        self._moved = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._one_life = asyncio.Lock()  # one that was started while it was being stopped waits for the old to be gone
        self._checking: asyncio.Task[None] | None = None
        self._connection: Connection | None = None
        self._last_stderr = ""
        self._starts = self._calls = self._errors = 0
        self._latency_ms = 0.0

    def start(self) -> None:
        if self.config.draft:
            raise Conflict(
                "This server is a draft: its command has not been confirmed.",
                hint="Confirm the exact argv first.",
                code="draft",
            )
        if self._task is None or self._task.done():
            self._move("starting")
            self._task = asyncio.create_task(self._keep(), name=f"keeper of {self.config.slug}")

    async def stop(self) -> None:
        if task := self._task:
            self._task = None
            task.add_done_callback(lambda _: self._stopped())  # also when nobody waits for it any more
            task.cancel()
            await asyncio.wait({task})
        else:
            self._stopped()

    def _stopped(self) -> None:
        if self._checking:
            self._checking.cancel()
        if self._task is None:  # nobody started it again meanwhile
            self._move("draft" if self.config.draft else "stopped")

    async def change(self, config: ServerConfig) -> None:
        runs = self._task is not None and not self._task.done()
        differs = _what_runs(config) != _what_runs(self.config)
        try:
            if runs and differs:
                await self.stop()
        finally:  # also when whoever asked does not wait for the old to be gone
            self.config = config
        if self._connection:
            self._connection.config = config
        if config.draft or not runs:
            self._move("draft" if config.draft else "configured" if self._state == "draft" else self._state)
        elif differs:
            self.start()
        else:
            self._on_change()

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        return self._connection.tools if self._connection and self._state == "running" else ()

    @property
    def stderr(self) -> str:
        return (self._connection.stderr if self._connection else "") or self._last_stderr

    def status(self) -> ServerStatus:
        live = self._connection
        return ServerStatus(
            self.config,
            "failed" if self._just_lost else self._state,
            self._reason,
            live.era if live else "",
            live.program if live else "",
            live.pid if live else None,
            len(self.tools),
            self._calls,
            self._errors,
            round(self._latency_ms, 1),
            self._starts,
            live.bad_lines if live else 0,
            self._retry_at,
        )

    @property
    def _just_lost(self) -> bool:
        return self._state == "running" and self._connection is not None and self._connection.lost

    @property
    def _on_its_way(self) -> bool:
        return self._just_lost or self._state == "starting" or (self._state == "failed" and self._retry_at > 0)

    @property
    def is_ready(self) -> bool:
        live = self._connection
        return self._state == "running" and live is not None and not live.lost and live.is_up_to_date

    async def settled(self, deadline_s: float) -> ServerStatus:
        try:
            async with asyncio.timeout(deadline_s):
                while self._on_its_way:
                    await self._moved.wait()
                if self._connection:
                    await self._connection.up_to_date()
        except TimeoutError:
            pass
        return self.status()

    async def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        key: str,
        safe: bool,
        timeout_s: float | None,
        on_progress: OnProgress | None,
        on_input: OnInput | None,
        answered: Answered | None = None,
    ) -> CallResult:
        tries = self.config.retries_of(tool)
        reopened = False
        while True:
            live = self._connection
            try:
                return await self._once(
                    tool,
                    arguments,
                    key=key,
                    timeout_s=timeout_s,
                    on_progress=on_progress,
                    on_input=on_input,
                    answered=answered,
                )
            except ToolError as error:
                if error.code == "session_gone" and not reopened:
                    reopened = True
                    await self._reopen(live)
                elif tries > 0 and (error.code in (_WORTH_ANOTHER if safe else _GONE)) and (safe or not error.sent):
                    tries -= 1
                    await self.settled(self.config.connect_s)
                else:
                    raise

    async def _once(self, tool: str, arguments: dict[str, Any], **options: Any) -> CallResult:
        live = self._connection
        if live is None or self._state != "running":
            why = f": {self._reason}" if self._reason else "."
            raise ToolError(f"The server {self.config.slug!r} is not running{why}", cause="not_running")
        began = time.monotonic()
        self._calls += 1
        try:
            result = await live.call(tool, arguments, **options)
        except ToolError as error:
            self._errors += 1
            if error.code in ("timeout", "server_gone"):
                self._check_soon(live)
            raise
        self._errors += result.failed
        took = (time.monotonic() - began) * 1000
        self._latency_ms = took if not self._latency_ms else self._latency_ms * 0.8 + took * 0.2
        return result

    async def _reopen(self, old: Connection | None) -> None:
        """Several calls may find the session gone at once; each waits for the others to find out, and one closes it."""
        if old and self._connection is old:
            await old.quiet(OTHERS_S)
            await old.close("The server had forgotten the session.")
            while self._connection is old:
                await self._moved.wait()
        await self.settled(self.config.connect_s)

    def _check_soon(self, live: Connection) -> None:
        """A call that timed out was cancelled; a server that is deaf to everything is ended, and so started again."""
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._check(live))

    async def _check(self, live: Connection) -> None:
        if not await live.check():
            await live.close("" if live.lost else "It stopped answering.")

    async def _keep(self) -> None:
        failures = 0
        while failures < TRIES:
            if failures:
                await self._wait_before(failures)
            async with self._one_life:
                lived = await self._run_once()
            failures = 1 if lived > HEALTHY_S else failures + 1
        self._move("failed", f"{self._reason} It failed {TRIES} times and is left alone now; start it again by hand.")

    async def _wait_before(self, failures: int) -> None:
        wait = min(2.0 ** (failures - 1), LONGEST_WAIT_S)
        self._move("failed", self._reason, retry_at=time.time() + wait)
        await asyncio.sleep(wait)

    async def _run_once(self) -> float:
        """One life of the server; how many seconds it ran."""
        self._move("starting", self._reason)
        self._starts += 1
        live = Connection(self.config, self._guardian, reveal=self._reveal, on_change=self._on_change)
        self._connection = live
        try:
            await live.open()
            began = time.monotonic()
            self._move("running")
            await live.ended.wait()
            self._reason = live.why or "The connection was lost."
            return time.monotonic() - began
        except Unavailable as error:
            self._reason = error.message
            return 0
        finally:
            await live.close()
            self._last_stderr = live.stderr
            self._connection = None

    def _move(self, state: State, reason: str = "", *, retry_at: float = 0) -> None:
        self._state, self._reason, self._retry_at = state, reason, retry_at
        self._moved.set()
        self._moved = asyncio.Event()
        self._on_change()


def _what_runs(config: ServerConfig) -> ServerConfig:
    """The part of a config that a running connection was made from."""
    return replace(
        config, name="", slug="s", trusted=False, approval="", tools="", overrides={}, retries=0, timeout_s=1
    )
