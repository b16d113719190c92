"""Windlass as a user runs it: a process of its own, talked to over HTTP, killed when a test says so."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.kit.waiting import until, until_found

PATIENCE_S = 90.0
PASSED_ON = ("PYTHONPATH",)  # so that a test can run another copy of the source
_ADDRESS = re.compile(
    rb"http://(?:127\.0\.0\.1|localhost|\[::1\]):\d+/\S*"
)  # not the public one, which leads elsewhere


@dataclass
class Said:
    """An answer over HTTP."""

    status: int
    body: Any
    headers: Mapping[str, str]


@dataclass
class WindlassProcess:
    """`home` outlives the process, so a test can start another one on it."""

    home: Path
    env: dict[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    around: tuple[str, ...] = ()  # a command that runs it, such as a tracer
    verb: str = "serve"
    url: str = ""
    login_url: str = ""
    process: "asyncio.subprocess.Process | None" = None
    printed: list[str] = field(default_factory=list)  # lines of its stdout
    _log: bytearray = field(default_factory=bytearray)
    _reading: "asyncio.Task[None] | None" = None
    _reading_output: "asyncio.Task[None] | None" = None

    @property
    def log(self) -> str:
        """All it wrote to stderr, of every start."""
        return self._log.decode()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    async def start(self, **env: str) -> None:
        argv = [*self.around, sys.executable, "-m", "windlass", self.verb, "--port", "0", *self.flags]
        clean = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "WINDLASS_HOME": str(self.home),
            "WINDLASS_FROZEN": "1",
        }
        clean |= {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self.process = await asyncio.create_subprocess_exec(
            *argv,
            env={**clean, **self.env, **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        self._reading = asyncio.create_task(self._read_log())
        await self._read_address()
        self._reading_output = asyncio.create_task(self._read_output())

    async def kill(self) -> None:
        """kill -9, and gone when this returns."""
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)
        await self._ended()

    async def stop(self) -> int:
        """SIGTERM; gives the exit code."""
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        return await self._ended()

    async def ended(self) -> int:
        """Wait for it to end by itself, as a fault point makes it."""
        return await self._ended()

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> Said:
        token = {} if "--no-auth" in self.flags else {"Authorization": f"Bearer {self.token}"}
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE_S)) as session,
            session.request(method, self.url + path, json=body, headers={**token, **headers}) as answer,
        ):
            is_json = answer.content_type == "application/json"
            return Said(answer.status, await (answer.json() if is_json else answer.text()), answer.headers)

    async def get(self, path: str) -> Any:
        said = await self.call("GET", path)
        assert said.status < 300, said
        return said.body

    async def post(self, path: str, body: object = None) -> Any:
        said = await self.call("POST", path, {} if body is None else body)
        assert said.status < 300, said
        return said.body

    @property
    def token(self) -> str:
        return (self.home / "token").read_text().strip()

    async def running(self, *slugs: str) -> None:
        """Wait until these MCP servers run."""
        for slug in slugs:
            await self._until_running(slug)

    async def settled(self, turn_id: str) -> dict[str, Any]:
        """The turn, once it has finished or waits for a person."""
        while True:
            turn: dict[str, Any] = (await self.get(f"/turns/{turn_id}?wait=60"))["turn"]
            if turn["state"] != "running":
                return turn

    async def until(self, path: str, met: Callable[[Any], object]) -> Any:
        """What a GET gives, once it is as wanted."""
        found: list[Any] = []

        async def look() -> object:
            found[:] = [await self.get(path)]
            return met(found[0])

        await until_found(look, path)
        return found[0]

    async def _until_running(self, slug: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while (server := (await self.get(f"/servers/{slug}"))["server"])["status"] != "running":
                assert server["status"] != "failed", server
                await asyncio.sleep(0.02)  # another process's state is looked at

    async def _read_address(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            while line := await self.process.stdout.readline():
                self.printed.append(line.decode())
                if found := _ADDRESS.search(line):
                    self.login_url = found[0].decode()
                    self.url = self.login_url.partition("?")[0].rstrip("/")
                    return
        raise AssertionError(f"Windlass did not start:\n{self.log}")

    async def _read_output(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        while line := await self.process.stdout.readline():
            self.printed.append(line.decode())

    async def _read_log(self) -> None:
        assert self.process is not None and self.process.stderr is not None
        while piece := await self.process.stderr.read(65536):
            self._log += piece

    async def _ended(self) -> int:
        assert self.process is not None and self._reading is not None
        async with asyncio.timeout(PATIENCE_S):
            code = await self.process.wait()
            await self._reading
            if self._reading_output:
                await self._reading_output
        return code


@asynccontextmanager
async def windlass(
    home: Path, *flags: str, env: Mapping[str, str] | None = None, verb: str = "serve"
) -> AsyncIterator[WindlassProcess]:
    """A server on this data folder; whatever became of it, nothing of it is left afterwards."""
    process = WindlassProcess(home, dict(env or {}), flags, verb=verb)
    await process.start()
    try:
        yield process
    finally:
        if process.process is not None:
            await process.kill()


def model_settings(base_url: str) -> dict[str, str]:
    """The seed's three lines, for a model server of the test's own."""
    return {"OPENAI_API_KEY": "key-of-the-test", "OPENAI_BASE_URL": base_url, "LLM_MODEL": "glm-4.7"}


def children_of(pid: int) -> set[int]:
    """Every process below this one, read from /proc."""
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    found: set[int] = set()
    fresh = {pid}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


async def gone(pids: set[int]) -> None:
    await until(lambda: not any(_alive(pid) for pid in pids), f"the processes {sorted(pids)} to end")


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
