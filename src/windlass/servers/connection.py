"""A connection to one server, from its opening to its end. One task owns it, because the SDK requires that a session is
closed by the task that opened it. Calls come from any task."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from windlass.core.errors import ToolError, Unavailable, WindlassError
from windlass.servers.catalogue import Catalogue
from windlass.servers.endings import how_it_ended, no_answer
from windlass.servers.isolation import Isolation, Launch
from windlass.servers.offered import ListKind
from windlass.servers.orphan_guard import OrphanGuard
from windlass.servers.redaction import Redaction, redacted_error, redacted_question, redacted_tools
from windlass.servers.sign_in import AccessRefused, SignIn, SignInNeeded
from windlass.servers.stdio import StdioProcess
from windlass.servers.values import (
    Answered,
    CallDeadline,
    CallResult,
    LongLine,
    OnInput,
    OnProgress,
    ServerConfig,
    ToolDefinition,
    revealed,
)

if TYPE_CHECKING:
    from windlass.servers.session import Session

LISTEN_S = 5.0  # a server that neither accepts nor refuses the subscription to changes is used without it
QUIET_S, LONGEST_STORM_S = 0.25, 2.0  # tools are listed again once a burst of changes pauses, or after this long
CHECK_S = 10.0
NEWLINE = "\n"
_LATE = "windlass.servers.session"
MANY_TOOLS = 50  # from so many on, preparing them in a thread is worth the way there
T = TypeVar("T")
Reveal = Callable[[str], str]
Prepare = Callable[[ServerConfig, tuple[ToolDefinition, ...], str], object]  # the tools, and the server's own name


class Connection:
    """`on_change` is called when the tools changed; `ended` is set when the connection is over; `why` is the reason.

    Only the owner task opens, lists the tools again and closes. Every other task sets a flag and `_wake`, and waits."""

    def __init__(
        self,
        config: ServerConfig,
        orphan_guard: OrphanGuard,
        isolation: Isolation,
        redaction: Redaction,
        *,
        reveal: Reveal,
        on_change: Callable[[], None],
        prepare: Prepare,
        sign_in: SignIn | None = None,
    ) -> None:
        self.config = config
        self._sign_in = sign_in
        self._prepare = prepare
        self.launch = Launch((), {})
        self.tools: tuple[ToolDefinition, ...] = ()
        self.era = ""
        self.program = ""
        self.catalogue: Catalogue | None = None  # None until it is open
        self.why = self._over_bound = ""
        self.ended = asyncio.Event()
        self._orphan_guard = orphan_guard
        self._isolation = isolation
        self._reveal = reveal
        self._redaction = redaction
        self._on_change = on_change
        self._session: Session | None = None
        self._process: StdioProcess | None = None
        self._wake = asyncio.Event()
        self.lost = False
        self._closing = False
        self._changed = False
        self._listed = asyncio.Event()  # not set while the server has announced changes that are not read yet
        self._listed.set()
        self._lanes = asyncio.Semaphore(config.parallel)
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._owner: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[None] | None = None
        self._refusal: type[Unavailable] | None = None  # that makes another try useless

    async def open(self) -> None:
        """Returns when the tools are known. Raises `Unavailable` with the reason; then nothing is left running."""
        self._opened = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(self._opened), name=f"server {self.config.slug}")
        try:
            await asyncio.shield(self._opened)
        except asyncio.CancelledError:
            # The owner is a task of its own and would live on: nobody who gave up waiting may leave a program running.
            await self.close()
            raise

    async def close(self, why: str = "") -> None:
        """Returns when the program has ended, and its children with it."""
        self.why = self.why or why
        self._closing = True
        self._wake.set()
        if self._owner is None or self._opened is None:
            return
        # Once open, the owner is woken, never cancelled: a cancel would cut off the orderly end of the SDK's session.
        if not self._opened.done():
            self._owner.cancel()
        await asyncio.wait({self._owner})

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        key: str = "",
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        on_input: OnInput | None = None,
        answered: Answered | None = None,
    ) -> CallResult:
        """The result is as the server wrote it: whoever keeps or shows it redacts it."""
        note, ask, redaction = on_progress, on_input, self._redaction
        async with self._in_lane() as session:
            quiet = timeout_s or self.config.timeout_of(tool)
            asks: OnInput | None = ask and (lambda question: ask(redacted_question(question, redaction)))
            notes: OnProgress | None = note and (lambda done, total, text: note(done, total, redaction.text(text)))
            call = CallDeadline(quiet, max(quiet, self.config.longest_s), asks)
            return await session.call(tool, arguments, key=key, call=call, on_progress=notes, answered=answered)

    async def ask(self, request: Callable[[Catalogue], Awaitable[T]]) -> T:
        """A request besides the calls of tools, such as for its resources."""
        async with self._in_lane():
            assert self.catalogue is not None  # noqa: S101 - set with the session
            return await request(self.catalogue)

    @asynccontextmanager
    async def _in_lane(self) -> AsyncIterator["Session"]:
        """One of the requests that the server takes at once. What it says of a failure is without secrets."""
        async with self._lanes:
            if self._session is None or self.lost:
                raise ToolError("The server is not running.", cause="not_running")
            self._in_flight += 1
            self._idle.clear()
            try:
                yield self._session
            except ToolError as error:
                raise redacted_error(error, self._redaction) from error.__cause__
            finally:
                self._in_flight -= 1
                if not self._in_flight:
                    self._idle.set()

    async def wait_idle(self, deadline_s: float) -> None:
        """Wait at most so long until no call is in flight: a call that closing cuts off may have had its effect."""
        with suppress(TimeoutError):
            async with asyncio.timeout(deadline_s):
                await self._idle.wait()

    @property
    def is_up_to_date(self) -> bool:
        return self._listed.is_set()

    async def up_to_date(self) -> None:
        """Wait until every change of its tools that the server announced is read."""
        await self._listed.wait()

    async def check(self) -> bool:
        """Whether the server still answers. One that does not after a call timed out is better replaced."""
        if self._session is None or self.lost:
            return False
        try:
            async with asyncio.timeout(CHECK_S):
                await self._session.tools()
        except (ToolError, Unavailable, TimeoutError):
            return False
        return True

    @property
    def stderr(self) -> str:
        return self._redaction.text(self._process.stderr) if self._process else ""

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def left_out(self) -> int:
        return self._session.left_out if self._session else 0

    @property
    def bad_lines(self) -> int:
        return self._session.bad_lines if self._session else 0

    async def _own(self, opened: asyncio.Future[None]) -> None:
        try:
            await self._live(opened)
        except Exception as error:  # a task's root: SDK, transports and the server itself fail in their own ways
            self.why = self._over_bound or self._redaction.text(self._reason(error))
            self._refusal = _refusal_among(error)
        finally:
            if self._process:
                self._isolation.unwatch(self._process.pid)
            self._session = None
            self._listed.set()
            self.ended.set()
            if not opened.done():
                why = self.why or "The server was stopped while it started."
                opened.set_exception(self._refusal(why) if self._refusal else Unavailable(why))
                opened.exception()  # the waiter may be gone; without this look asyncio logs an error nobody retrieved

    async def _live(self, opened: asyncio.Future[None]) -> None:
        loaded = await load()
        config = revealed(self.config, self._reveal)
        if config.transport == "stdio":
            self.launch = await asyncio.to_thread(self._isolation.launch, config, config.env)
        async with (
            asyncio.timeout(self.config.connect_s) as deadline,
            loaded.open_session(
                config,
                config.headers,
                self._make_process,
                on_changed=self._note_change,
                on_lost=self._note_loss,
                sign_in=self._sign_in,
            ) as session,
        ):
            # Subscribe first, then list: a change between the two would be announced to nobody.
            listening = asyncio.Event()
            listener = asyncio.create_task(loaded.watch_changes(session, self._note_change, listening))
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(listening.wait(), LISTEN_S)
                self.era, self.program = session.era, self._redaction.text(session.program)
                self.tools = await self._prepared(await redacted_tools(await session.tools(), self._redaction))
                self.catalogue = Catalogue(session.requests, self._redaction)
                self._session = session
                # From here on the connection lives as long as it likes; `connect_s` is for opening it only.
                deadline.reschedule(None)
                opened.set_result(None)
                await self._until_over(session)
            finally:
                listener.cancel()
                await asyncio.wait({listener})
        if self.lost or not self._closing:
            self.why = self.why or self._redaction.text(self._how_it_ended())

    async def _until_over(self, session: "Session") -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._changed and not self._over:
                await self._debounce()
            if self._over:
                return
            if self._changed:
                # Cleared before the list is asked for: a change announced meanwhile is not in it and counts anew.
                self._changed = False
                await self._list_again(session)
            if not self._changed:
                self._listed.set()

    async def _debounce(self) -> None:
        """Wait until a burst of changes pauses, at most `LONGEST_STORM_S`."""
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST_STORM_S
        while loop.time() < end and not self._over:
            self._wake.clear()
            try:
                async with asyncio.timeout(QUIET_S):
                    await self._wake.wait()
            except TimeoutError:
                return

    async def _list_again(self, session: "Session") -> None:
        try:
            self.tools = await self._prepared(await redacted_tools(await session.tools(), self._redaction))
        except ToolError:
            return  # the old list stays valid; `_note_loss` reports a server that is gone
        self._on_change()

    async def _prepared(self, tools: tuple[ToolDefinition, ...]) -> tuple[ToolDefinition, ...]:
        if len(tools) >= MANY_TOOLS:
            await asyncio.to_thread(self._prepare, self.config, tools, self.program)
        return tools

    @property
    def _over(self) -> bool:
        return self._closing or self.lost

    def _note_change(self, kind: ListKind) -> None:
        """Other lists than that of tools are asked for when somebody needs them."""
        if kind != "tools":
            if self.catalogue:
                self.catalogue.forget(kind)
            return
        self._changed = True
        self._listed.clear()
        self._wake.set()

    def _note_loss(self) -> None:
        self.lost = True
        self._wake.set()

    def _make_process(
        self, on_line: Callable[[bytes], None], on_long: Callable[[LongLine], None], on_end: Callable[[], None]
    ) -> StdioProcess:
        launch = self.launch
        self._process = StdioProcess(
            launch.argv,
            env=launch.env,
            cwd=launch.cwd,
            line_cap=self.config.line_cap,
            wrappers=launch.wrappers,
            orphan_guard=self._orphan_guard,
            on_line=on_line,
            on_long=on_long,
            on_end=on_end,
            on_start=self._watch,
        )
        return self._process

    def _watch(self, pid: int) -> None:
        loop = asyncio.get_running_loop()

        def over(why: str) -> None:  # called in the thread that watches
            with suppress(RuntimeError):  # the loop is closed: everything is being stopped anyway
                loop.call_soon_threadsafe(self._stop_over_bound, why)

        self._isolation.watch(pid, self.launch, self.config.sandbox_rules, over)

    def _stop_over_bound(self, why: str) -> None:
        self._over_bound = self.why = self.why or why
        if self._process:
            self._process.kill()

    def _reason(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, WindlassError):
            return f"{error.message} {error.hint}".strip()
        if isinstance(error, TimeoutError):
            spoke, stray = (self._process.spoke, self._process.stray) if self._process else (True, "")
            return no_answer(self.config.connect_s, spoke, stray)
        if self._process and self._process.returncode is not None:
            return self._how_it_ended()
        return f"It could not be reached: {str(error).partition(NEWLINE)[0] or type(error).__name__}"

    def _how_it_ended(self) -> str:
        if self._process is None:
            return "The connection was lost."
        process = self._process
        return how_it_ended(process.returncode, process.stderr, process.spoke, process.stray)


def _refusal_among(error: BaseException) -> type[Unavailable] | None:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return next((kind for kind in (SignInNeeded, AccessRefused) if isinstance(error, kind)), None)


async def load() -> "_Loaded":
    """Import everything that needs the `mcp` package, off the event loop, which it would block for 0.6 s."""
    known = _LATE in sys.modules
    module = await asyncio.to_thread(import_module, _LATE)  # even if known: another thread may still be importing it
    if not known:
        gc.freeze()  # thousands of classes that are never freed need not be visited by every collection
    return cast(_Loaded, module)


class _Loaded(Protocol):
    """What is used of `session`."""

    def open_session(
        self,
        config: ServerConfig,
        headers: Mapping[str, str],
        make_process: Callable[..., StdioProcess],
        *,
        on_changed: Callable[[ListKind], None],
        on_lost: Callable[[], None],
        sign_in: SignIn | None = None,
    ) -> AbstractAsyncContextManager["Session"]: ...

    async def watch_changes(
        self, session: "Session", on_changed: Callable[[ListKind], None], listening: asyncio.Event
    ) -> None: ...
