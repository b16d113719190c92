"""One server, kept running while its owner wants it to: started, watched, restarted with growing delays. A program is
left alone after five consecutive failures until someone starts it again; an address is tried again at least every
minute, and at once when a call needs it. One that asks for a sign-in waits for a person."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, TypeVar

from windlass.core.errors import Conflict, ToolError, Unavailable
from windlass.core.values import value_object
from windlass.servers.catalogue import Catalogue
from windlass.servers.connection import Connection, Prepare, Reveal
from windlass.servers.identity import (
    Identities,
    ProgramChanged,
    ProgramIdentity,
    difference,
    identity_of,
    with_package,
)
from windlass.servers.isolation import Isolation, IsolationStatus, RefusalLog
from windlass.servers.orphan_guard import OrphanGuard
from windlass.servers.redaction import Redaction
from windlass.servers.sign_in import AccessRefused, CredentialStore, SignIn, SignInNeeded
from windlass.servers.values import (
    Answered,
    CallResult,
    OnInput,
    OnProgress,
    ServerConfig,
    TextPart,
    ToolDefinition,
    check_filled,
)

State = Literal["draft", "configured", "starting", "running", "failed", "stopped", "needs_sign_in"]
T = TypeVar("T")
TRIES = 5
AT_ONCE_S = 1.0  # an address that failed is tried again when it is needed, but not more often than this
LONGEST_WAIT_S = 60.0
HEALTHY_S = 60.0  # a server that ran this long counts as healthy: its next failure is its first
OTHERS_S = 5.0
CONFIRM_AGAIN = "Look at its command and confirm it again. POST /servers/{id}/confirm does that."
log = logging.getLogger("windlass.servers")
SHORT = 2000  # an error that a server does not flag as one is no longer than this
_GONE = {"server_gone", "not_running", "session_gone"}
_WORTH_ANOTHER = {*_GONE, "timeout", "bad_result"}  # a call the server refused would be refused again


@value_object
class ServerStatus:
    """One server as it is now."""

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
    retry_at: float = 0  # when a failed one is started again; 0 for never
    note: str = ""  # what a person should know of it although it runs


class ServerLifecycle:
    """Keeps one server running while its owner wants it to. `_task` is None while it is not wanted."""

    def __init__(
        self,
        config: ServerConfig,
        orphan_guard: OrphanGuard,
        isolation: Isolation,
        reveal: Reveal,
        on_change: Callable[[], None],
        identities: Identities,
        redaction: Redaction,
        prepare: Prepare,
        credentials: CredentialStore,
    ) -> None:
        self.config = config
        self.sign_in = SignIn(credentials, reveal)
        self._redaction = redaction
        self._prepare = prepare
        self._orphan_guard = orphan_guard
        self._isolation = isolation
        self._reveal = reveal
        self._on_change = on_change
        self._identities = identities
        self._unconfirmed = ""  # how the program differs from the confirmed one; it does not start before that is
        self._changed = ""  # likewise, where it runs all the same
        self._state: State = "draft" if config.draft else "configured"
        self._reason = ""
        self._retry_at = 0.0
        self._moved = asyncio.Event()
        self._failures = 0  # in a row
        self._pause: asyncio.Task[None] | None = None  # before the next try; cancelled when somebody needs it now
        self._task: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()  # told to stop, and not done yet
        self._one_process = asyncio.Lock()  # started while being stopped: the new process waits until the old is gone
        self._checking: asyncio.Task[None] | None = None
        self._connection: Connection | None = None
        self._last_stderr = ""
        self._refusals = RefusalLog()
        self._starts = self._calls = self._errors = 0
        self._latency_ms = 0.0

    def start(self) -> None:
        check_filled(self.config)
        if self.config.draft:
            raise Conflict(
                "This server is a draft: its command has not been confirmed.",
                hint="Confirm the exact command line first.",
                code="draft",
            )
        if self._unconfirmed:
            raise Conflict(self._unconfirmed, hint=CONFIRM_AGAIN, code="draft")
        if self._task is None or self._task.done():
            self._move("starting")
            self._task = asyncio.create_task(self._keep_running(), name=f"lifecycle of {self.config.slug}")

    async def stop(self) -> None:
        """Returns when no process of it is left, also one that another caller is stopping."""
        if task := self._task:
            self._task = None
            self._ending.add(task)
            task.add_done_callback(lambda _: self._stopped())  # also when the waiter below is cancelled
            task.add_done_callback(self._ending.discard)
            task.cancel()
        if self._ending:
            await asyncio.wait(self._ending)
        else:
            self._stopped()

    def _stopped(self) -> None:
        if self._checking:
            self._checking.cancel()
        if self._task is None:  # not started again meanwhile
            self._move("draft" if self._is_draft else "stopped", self._unconfirmed)

    async def connect_again(self) -> None:
        """One that waited for a sign-in goes from there to starting: who waits for it must not find it stopped."""
        if self._task and not self._task.done():
            await self.stop()
        self.start()

    async def confirm(self) -> None:
        self._identities.keep(self.config.id, await self._identity_now())
        self._unconfirmed = ""
        if self._state == "draft" and not self.config.draft:
            self._move("configured")

    async def change(self, config: ServerConfig) -> None:
        runs = self._task is not None and not self._task.done()
        differs = _what_runs(config) != _what_runs(self.config)
        try:
            if runs and differs:
                await self.stop()
        finally:  # also when the caller is cancelled while the old process stops
            self.config = config
        if differs:
            self._refusals.clear()
        if self._connection:
            self._connection.config = config
        if config.draft or config.missing or not runs:
            settled: State = "configured" if self._state == "draft" else self._state
            self._move("draft" if self._is_draft else settled, self._unconfirmed)
        elif differs:
            self.start()
        else:
            self._on_change()

    @property
    def _is_draft(self) -> bool:
        return self.config.draft or bool(self._unconfirmed)

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        return self._connection.tools if self._connection and self._state == "running" else ()

    @property
    def catalogue(self) -> Catalogue | None:
        return self._connection.catalogue if self._connection and self._state == "running" else None

    @property
    def stderr(self) -> str:
        return (self._connection.stderr if self._connection else "") or self._last_stderr

    def isolation(self) -> IsolationStatus:
        live = self._connection
        if live and live.pid and live.launch.limits.home:
            self._refusals.look_at(live.stderr, live.launch.limits)
        level, why = (live.launch.level, live.launch.why) if live and live.pid else self._isolation.about(self.config)
        return IsolationStatus(self.config.wanted_sandbox, level, why, self._refusals.found)

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
            self._note,
        )

    @property
    def _note(self) -> str:
        left_out = self._connection.left_out if self._connection else 0
        crowd = f"It lists more than {len(self.tools):,} tools; the others are left out." if left_out else ""
        return f"{self._changed} {crowd}".strip()

    @property
    def _just_lost(self) -> bool:
        live = self._connection
        return self._state == "running" and live is not None and (live.lost or live.ended.is_set())

    @property
    def _on_its_way(self) -> bool:
        """One that has failed often is away: it is tried once more, and not waited for beyond that."""
        coming_back = self._state == "failed" and self._retry_at > 0 and self._failures < TRIES
        return self._just_lost or self._state == "starting" or coming_back

    @property
    def _is_remote(self) -> bool:
        return self.config.transport != "stdio"

    @property
    def is_ready(self) -> bool:
        live = self._connection
        return self._state == "running" and live is not None and not live.lost and live.is_up_to_date

    def needed(self) -> None:
        """Somebody wants to use it: an address that failed is tried now rather than when its wait is over."""
        if self._is_remote and self._pause and self._retry_at > time.time() + AT_ONCE_S:
            self._pause.cancel()
            self._move("starting", self._reason)

    async def settled(self, deadline_s: float) -> ServerStatus:
        self.needed()
        try:
            async with asyncio.timeout(deadline_s):
                while self._on_its_way:
                    await self._moved.wait()
                if self._connection:
                    await self._connection.up_to_date()
        except TimeoutError:
            pass
        return self.status()

    async def try_again(self, deadline_s: float) -> None:
        before = self._starts
        self.needed()
        with suppress(TimeoutError):
            async with asyncio.timeout(deadline_s):
                while self._state == "starting" or (self._retry_at and self._starts == before):
                    await self._moved.wait()

    async def until_signed_in(self) -> ServerStatus:
        """While a person is waited for there is no deadline; what comes after is an ordinary start."""
        if self._checking:
            await asyncio.wait({self._checking})  # of a call that was refused just now
        status = await self.settled(self.config.connect_s)
        while self._state == "needs_sign_in":
            await self._moved.wait()
            status = await self.settled(self.config.connect_s)
        return status

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

    async def ask(self, request: Callable[[Catalogue], Awaitable[T]], limit_s: float) -> T:
        """A request besides the calls of tools. None of these has an effect, so it is sent again on a new session."""
        for last in (False, True):
            live = self._connection
            if live is None or self._state != "running":
                why = f": {self._reason}" if self._reason else "."
                raise ToolError(f"The server {self.config.slug!r} is not running{why}", cause="not_running")
            try:
                async with asyncio.timeout(limit_s):
                    return await live.ask(request)
            except TimeoutError:
                busy = f"The server {self.config.slug!r} gave no answer within {limit_s:g} s; it may be busy."
                raise ToolError(busy, cause="timeout") from None
            except ToolError as error:
                if error.code in ("timeout", "server_gone"):
                    self._check_soon(live)
                if error.code != "session_gone" or last:
                    raise
            await self._reopen(live)
        raise AssertionError("the last try returns or raises")

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
            self._note_refusals(live, error.message, arguments)
            if error.code in ("timeout", "server_gone"):
                self._check_soon(live)
            elif error.code == "unauthorized" and self.config.signs_in and not self.sign_in.is_signed_in(self.config):
                self._check_soon(live, "The sign-in has ended.")
            raise
        self._errors += result.failed
        for part in result.parts:
            if isinstance(part, TextPart) and (result.failed or len(part.text) < SHORT):
                self._note_refusals(live, part.text, arguments)
        took = (time.monotonic() - began) * 1000
        self._latency_ms = took if not self._latency_ms else self._latency_ms * 0.8 + took * 0.2
        return result

    def _note_refusals(self, live: Connection, text: str, arguments: dict[str, Any]) -> None:
        if live.launch.level != "none":
            named = [value for value in arguments.values() if isinstance(value, str)]
            self._refusals.look_at(text, live.launch.limits, named)

    async def _reopen(self, old: Connection | None) -> None:
        """Several calls may find the session gone at once. Each waits for the others to fail too, since closing would
        cut them off with their outcome unknown; the first closes it, the rest find the next connection."""
        if old and self._connection is old:
            await old.wait_idle(OTHERS_S)
            await old.close("The server no longer knows the session.")
            while self._connection is old:
                await self._moved.wait()
        await self.settled(self.config.connect_s)

    def _check_soon(self, live: Connection, why: str = "It stopped answering.") -> None:
        """The call that timed out was cancelled. A server that answers nothing at all is closed, and so restarted; one
        that asks everybody to sign in is closed, and so asks for that."""
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._check(live, why))

    async def _check(self, live: Connection, why: str) -> None:
        if not await live.check():
            await live.wait_idle(OTHERS_S)  # closing would cut off other calls with their outcome unknown
            await live.close("" if live.lost else why)

    async def _keep_running(self) -> None:
        try:
            await self._restart_until_it_fails()
        except SignInNeeded as needed:
            self._move("needs_sign_in", needed.message)
        except AccessRefused as refused:
            self._move("failed", refused.message)
        except ProgramChanged as changed:
            self._unconfirmed = f"The program behind this server changed since it was confirmed: {changed}."
            self._move("draft", self._unconfirmed)

    async def _restart_until_it_fails(self) -> None:
        self._failures = 0
        while self._failures < TRIES or self._is_remote:
            if self._failures:
                await self._wait_for_next_try()
            async with self._one_process:
                ran_s = await self._run_once()
            self._failures = 1 if ran_s > HEALTHY_S else self._failures + 1
        self._move(
            "failed",
            f"{self._reason} It failed {TRIES} times in a row and is not restarted any more. Start it again by hand.",
        )

    async def _wait_for_next_try(self) -> None:
        wait = min(2.0 ** min(self._failures - 1, 10), LONGEST_WAIT_S)
        self._pause = asyncio.create_task(asyncio.sleep(wait))
        self._move("failed", self._reason, retry_at=time.time() + wait)
        try:
            await asyncio.wait({self._pause})
        finally:
            self._pause.cancel()

    async def _run_once(self) -> float:
        """Run it until its connection ends; how many seconds it ran."""
        self._move("starting", self._reason)
        self._starts += 1
        live = Connection(
            self.config,
            self._orphan_guard,
            self._isolation,
            self._redaction,
            reveal=self._reveal,
            on_change=self._on_change,
            prepare=self._prepare,
            sign_in=self.sign_in,
        )
        self._connection = live
        try:
            identity = await self._compared(await self._identity_now())
            await live.open()
            identity = await asyncio.to_thread(with_package, identity, self._caches)
            await self._compared(replace(identity, program=live.program))
            began = time.monotonic()
            self._move("running")
            await live.ended.wait()
            self._reason = live.why or "The connection was lost."
            return time.monotonic() - began
        except (SignInNeeded, AccessRefused):
            raise
        except Unavailable as error:
            self._reason = error.message
            return 0
        finally:
            await live.close()
            self._last_stderr = live.stderr
            if live.launch.level != "none":
                self._refusals.look_at(live.stderr, live.launch.limits)
            self._connection = None

    async def _identity_now(self) -> ProgramIdentity:
        if self.config.transport != "stdio":
            return ProgramIdentity(())
        path = self.config.env.get("PATH")
        return await asyncio.to_thread(identity_of, self.config, self._reveal(path) if path else None, self._caches)

    @property
    def _caches(self) -> tuple[str, ...]:
        return self._isolation.caches_of(self.config)

    async def _compared(self, now: ProgramIdentity) -> ProgramIdentity:
        """Raises `ProgramChanged` where a person has to confirm it. What was never seen before is remembered, and so
        is what the operator's file lets change."""
        known = self._identities.get(self.config.id)
        changed = difference(known, now) if known and not self.config.bundled else ""
        if changed and self.config.transport == "stdio" and (not self.config.operator or self.config.pin == "ask"):
            raise ProgramChanged(changed)
        if changed:
            self._changed = f"Its program changed: {changed}."
            log.warning("The program behind %s changed: %s", self.config.slug, changed)
        if known and known.argv == now.argv:
            now = replace(now, program=now.program or known.program, package=now.package or known.package)
        if now != known:
            self._identities.keep(self.config.id, now)
        return now

    def _move(self, state: State, reason: str = "", *, retry_at: float = 0) -> None:
        self._state, self._reason, self._retry_at = state, reason, retry_at
        # A new event for each state: a waiter that wakes looks at the state again and never misses one in between.
        self._moved.set()
        self._moved = asyncio.Event()
        self._on_change()


def _what_runs(config: ServerConfig) -> ServerConfig:
    """The part of a config that a running connection depends on."""
    return replace(
        config,
        name="",
        slug="s",
        trusted=False,
        approval="",
        tools="",
        tools_are_named=True,
        overrides={},
        retries=0,
        timeout_s=1,
        instructions=True,
    )
