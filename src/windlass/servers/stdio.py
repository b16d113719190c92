"""A server's program and its three pipes, in bytes. Reading never blocks, writing has a deadline, stderr is kept as a
ring, and all its processes end with us: first its stdin closes, then TERM, then KILL.

What it writes is cut into lines in linear time, with a cap. A line over the cap is never held whole: it goes to a file
as it comes, up to `KEEP_CAP`, and only its two ends stay in memory."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, cast

from windlass.core.errors import ToolError, Unavailable
from windlass.servers.isolation.process_tree import ProcessId, any_lives, descendants, identities
from windlass.servers.orphan_guard import OrphanGuard
from windlass.servers.values import LongLine

STDERR_CAP = 256 << 10
WRITE_S = 10.0
GRACE_S = 2.0
_OUT_CAP = 32 << 20
_POLL_S = 0.02
PEEK = 4096
KEEP_CAP = 64 << 20
ENDLESS = 256 << 20
_HEAVY = 1 << 20
_TOKENS = 300_000


class StdioProcess(asyncio.SubprocessProtocol):
    """Start it once, stop it once. `on_end` is called once, when nothing more will be read."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str = "",
        line_cap: int,
        wrappers: int = 0,
        orphan_guard: OrphanGuard,
        on_line: Callable[[bytes], None],
        on_long: Callable[[LongLine], None],
        on_end: Callable[[], None],
        on_start: Callable[[int], None] = lambda pid: None,
    ) -> None:
        """`wrappers` is how many processes of ours stand around the program: 2 for bubblewrap, 1 for the launcher."""
        self._argv = list(argv)
        self._env = dict(env)
        self._cwd = cwd or None
        self._wrappers = wrappers
        self._family: set[ProcessId] = set()
        self._orphan_guard = orphan_guard
        self._on_start = on_start
        self._on_end = on_end
        self._lines = LineBuffer(line_cap, on_line, on_long)
        self._stderr = Ring(STDERR_CAP)
        self._writable = asyncio.Event()
        self._writable.set()
        self._exited = asyncio.Event()
        self._ended = False
        self._paused = False
        self._gone = False  # the process group was found empty: its number may belong to another one by now
        self._doomed = False  # killed, perhaps before its pid was known
        self._transport: asyncio.SubprocessTransport | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self.pid = 0
        self.spoke = False  # it sent a message of MCP
        self.stray = ""  # the first other thing it wrote

    async def start(self) -> None:
        program = self._program()
        loop = asyncio.get_running_loop()
        try:
            transport, _ = await loop.subprocess_exec(
                lambda: self,
                program,
                *self._argv[1:],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._env,
                cwd=self._cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise Unavailable(f"{program} cannot be started: {error.strerror}.", code="command_missing") from error
        self._transport = transport
        self.pid = transport.get_pid()
        if self._wrappers != 1:  # the launcher ends its processes itself; killed with its group it could not
            self._orphan_guard.add(self.pid)
        self._on_start(self.pid)
        # Cast, not checked: uvloop's pipes are not subclasses of asyncio's.
        self._stdin = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
        self._stdin.set_write_buffer_limits(high=1 << 20)
        if self._doomed:  # for what it wrote before its pid was known here
            self.kill()

    def _program(self) -> str:
        if self._cwd and not os.path.isdir(self._cwd):
            raise Unavailable(
                f"Its folder {self._cwd!r} does not exist.",
                hint="Create it, or set another folder.",
                code="command_missing",
            )
        program = shutil.which(self._argv[0], path=self._env.get("PATH"))
        if program is None:
            raise Unavailable(
                f"{self._argv[0]!r} was not found.", hint="Install it, or give the full path.", code="command_missing"
            )
        return program

    async def write(self, line: Callable[[], bytes], *, wait: bool) -> None:
        """Hand over one whole line, encoded once the pipe accepts it. A caller cancelled here has sent nothing: the
        write comes last. Lines of several callers never mix: each is written in one piece."""
        if wait and not self._writable.is_set():
            try:
                await asyncio.wait_for(self._writable.wait(), WRITE_S)
            except TimeoutError:
                raise ToolError("The server does not read what it is sent.", cause="timeout") from None
        if self._stdin is None or self._stdin.is_closing() or self._stdin.get_write_buffer_size() > _OUT_CAP:
            raise BrokenPipeError
        self._stdin.write(line())

    async def stop(self) -> None:
        """Returns when its processes are gone. Safe to cancel: they are killed even then."""
        if self._transport is None:
            return
        try:
            self.pause(False)
            self._look_at_family()
            self._close_stdin()
            await self._until(self._exited.is_set, GRACE_S)
            if self._terminate():
                await self._until(lambda: not self._lives(), GRACE_S)
            if self._kill_family():
                await self._until(lambda: self._exited.is_set() and not self._lives(), GRACE_S)
        finally:
            self._signal(signal.SIGKILL)
            self._orphan_guard.drop(self.pid)
            self._end()
            self._lines.close()
            self._transport.close()

    def kill(self) -> None:
        self._doomed = True
        self._kill_family()

    def pause(self, on: bool) -> None:
        """Stop reading while messages wait to be used, so that a flood cannot fill our memory."""
        if self._transport is None or on == self._paused:
            return
        pipe = cast(asyncio.ReadTransport | None, self._transport.get_pipe_transport(1))
        if pipe is None or pipe.is_closing():
            return
        self._paused = on
        if on:
            pipe.pause_reading()
        else:
            pipe.resume_reading()

    @property
    def stderr(self) -> str:
        return self._stderr.text()

    @property
    def returncode(self) -> int | None:
        return self._transport.get_returncode() if self._transport else None

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        chunk = data.encode() if isinstance(data, str) else data
        if fd == 2:
            self._stderr.add(chunk)
            return
        self._lines.feed(chunk)
        if self._lines.endless:
            self.kill()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self._writable.set()
        if fd == 1:
            self._end()

    def process_exited(self) -> None:
        self._exited.set()
        self._signal(0)
        # A grandchild may hold stdout open indefinitely; what the server itself wrote arrives within moments.
        asyncio.get_running_loop().call_later(0.5, self._end)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._writable.set()
            self._on_end()

    def _close_stdin(self) -> None:
        if self._stdin is None:
            return
        if self._stdin.get_write_buffer_size():
            self._stdin.abort()
        else:
            self._stdin.close()

    async def _until(self, true: Callable[[], bool], seconds: float) -> None:
        """Poll: a process group has no event to wait on."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        step = 0.001
        while not true() and loop.time() < end:
            await asyncio.sleep(step)
            step = min(step * 2, _POLL_S)

    def _look_at_family(self) -> list[int]:
        pids = descendants(self.pid) if self._wrappers and self.pid and not self._exited.is_set() else []
        self._family |= identities(pids)
        return pids

    def _lives(self) -> bool:
        return group_lives(self.pid) or any_lives(self._family)

    def _terminate(self) -> bool:
        """TERM for the server's own processes: bubblewrap would not pass it on, and would be gone before they are."""
        if not self._wrappers:
            return self._signal(signal.SIGTERM)
        _send(self._look_at_family()[self._wrappers :], signal.SIGTERM)
        return self._lives()

    def _kill_family(self) -> bool:
        """Without bubblewrap, or the launcher, the processes that detached themselves would be out of reach: so the
        launcher, which they come back to, is left alive and ends by itself. Bubblewrap's namespace ends with it."""
        if self._wrappers != 1:
            return self._signal(signal.SIGKILL) or any_lives(self._family)
        _send(self._look_at_family()[1:], signal.SIGKILL)
        return self._lives()

    def _signal(self, number: int) -> bool:
        """Signal the group; whether any process is left in it. The group's number is ours while a member lives; once it
        was found empty the number may belong to another group, and is never signalled again."""
        if not self.pid or self._gone:
            return False
        if os.name != "posix":
            return self._end_alone(number)
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            self._gone = True
            return False
        except PermissionError:  # what macOS raises for a group of zombies
            return not self._exited.is_set()
        return True

    def _end_alone(self, number: int) -> bool:
        """Windows has no process groups to signal: the program itself is ended, its children may live on."""
        if number and self._transport and not self._exited.is_set():
            self._transport.kill()
        return not self._exited.is_set()


def _send(pids: Sequence[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def group_lives(group: int) -> bool:
    """Whether a process of the group still runs. Where nobody reaps orphans, as in many containers, zombies accept
    signals indefinitely; on Linux their state is read instead."""
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        names = []
    for name in names:
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, _, its_group = file.read().rpartition(b") ")[2].split(maxsplit=3)[:3]
        except (OSError, ValueError):
            continue
        if int(its_group) == group and state not in (b"Z", b"X"):
            return True
    return False if names else _answers(group)


def _answers(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class Ring:
    """The last bytes of an endless text."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._pieces: deque[bytes] = deque()
        self._size = 0

    def add(self, piece: bytes) -> None:
        self._pieces.append(piece[-self._cap :])
        self._size += len(self._pieces[-1])
        while self._size - len(self._pieces[0]) >= self._cap:
            self._size -= len(self._pieces.popleft())

    def text(self) -> str:
        return b"".join(self._pieces)[-self._cap :].decode("utf-8", "replace")


class LineBuffer:
    """Feed it chunks; it calls `on_line` for what may be parsed and `on_long` for what may not."""

    def __init__(self, cap: int, on_line: Callable[[bytes], None], on_long: Callable[[LongLine], None]) -> None:
        self._cap = cap
        self._on_line = on_line
        self._on_long = on_long
        self._held = bytearray()
        self._long: _Spill | None = None

    def feed(self, chunk: bytes) -> None:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._more(chunk[start:end])
            self._finish()
            start = end + 1
        if start < len(chunk):
            self._more(chunk[start:] if start else chunk)

    @property
    def endless(self) -> bool:
        """Whether the current line is so long that the program is killed for it."""
        return self._long is not None and self._long.size > ENDLESS

    def close(self) -> None:
        if self._long:
            self._long.discard()
        self._long = None
        self._held.clear()

    def _more(self, piece: bytes) -> None:
        if self._long:
            self._long.add(piece)
            return
        self._held += piece
        if len(self._held) > self._cap:
            self._long = _Spill()
            self._long.add(bytes(self._held))
            self._held = bytearray()

    def _finish(self) -> None:
        if self._long:
            spill, self._long = self._long, None
            self._on_long(spill.line())
            return
        line, self._held = bytes(self._held), bytearray()
        if len(line) > _HEAVY and stalls(line):
            spill = _Spill()
            spill.add(line)
            self._on_long(spill.line())
        else:
            self._on_line(line)


def stalls(line: bytes) -> bool:
    """Whether parsing this would block the event loop. Size is not the measure: 8 MB in one string take 20 ms, 8 MB of
    small objects 600 ms and 200 MB of memory. So the tokens are counted, less those quoted inside a string."""
    quotes = line.count(b'"') - line.count(b'\\"')
    return quotes + line.count(b"{") + line.count(b"[") > _TOKENS


class _Spill:
    def __init__(self) -> None:
        self.size = 0
        self._head = b""
        self._tail = b""
        self._file: IO[bytes] | None = tempfile.TemporaryFile()  # closed by the reader of the line

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if len(self._head) < PEEK:
            self._head += piece[: PEEK - len(self._head)]
        self._tail = (self._tail + piece[-PEEK:])[-PEEK:]
        if self._file and self.size > KEEP_CAP:
            self.discard()
        if self._file:
            self._file.write(piece)

    def discard(self) -> None:
        if self._file:
            self._file.close()
        self._file = None

    def line(self) -> LongLine:
        return LongLine(self._head, self._tail, self.size, self._file)


MOST_STRAY = 1000
STRAY_WITHIN_S = 10.0


class StrayLines:
    """Lines on a program's standard output that are not MCP messages. Many good servers print some, a few with every
    call and for weeks: what counts is their rate, never their sum."""

    def __init__(self) -> None:
        self.count = 0
        self._since_good = 0
        self._times: deque[float] = deque(maxlen=MOST_STRAY)  # of the last ones

    def add(self, now: float) -> bool:
        """Whether there are too many now: `MOST_STRAY` within `STRAY_WITHIN_S`, or without a good message between."""
        self.count += 1
        self._since_good += 1
        self._times.append(now)
        in_a_burst = len(self._times) == MOST_STRAY and now - self._times[0] <= STRAY_WITHIN_S
        return in_a_burst or self._since_good >= MOST_STRAY

    def good_message(self) -> None:
        self._since_good = 0
