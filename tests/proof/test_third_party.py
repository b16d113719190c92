"""Servers that other people wrote, one by one under the default isolation: ready, two calls, a call that is stopped on
its way, a process that is killed under a call, and back by itself. Run in full it writes docs/tried-servers.md.

A server is stopped in mid-call by freezing its processes, so that each has a mid-call, however fast it is."""

import asyncio
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kit.real_servers import ROOT
from tests.kit.waiting import PATIENCE_S, until
from tests.proof.third_party import ThirdParty, argv_of, servers, version_of
from tests.servers.kit import alive, family, program, run
from windlass.core.errors import ToolError
from windlass.servers import Isolation, Servers

PAGE = ROOT / "docs" / "tried-servers.md"
FULL = os.environ.get("SCALE") == "full"
WANTED = 25
STOP_S = 2.0
HTML = b"<html><title>A page</title><body><h1>High tide at noon</h1></body></html>"


@dataclass(frozen=True, slots=True)
class Row:
    server: ThirdParty
    version: str
    era: str
    tools: int
    level: str
    ready_s: float
    answers: str
    stop_s: float
    back_s: float


@pytest.fixture
def home() -> Iterator[Path]:
    """Not in /tmp, which a server has for itself."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="windlass-test-") as folder:
        yield Path(folder)


@pytest.mark.npm
@pytest.mark.skipif(not FULL, reason="only in the proof: the servers are installed into folders of their own")
@pytest.mark.timeout(2400)
async def test_every_server_works_stops_and_comes_back(home: Path) -> None:
    rows: list[Row] = []
    failed: dict[str, str] = {}
    async with a_page() as page:
        for server in servers(_repository(home), page, _browser()):
            try:
                rows.append(await _tried(server, home))
            except (AssertionError, ToolError, OSError, subprocess.SubprocessError) as error:
                failed[server.package] = f"{type(error).__name__}: {error}"[:300]
            print(server.package, failed.get(server.package, "works"), flush=True)
    if FULL:
        _write(rows)
    assert failed == {} and len(rows) >= WANTED


def test_the_page_lists_every_server() -> None:
    listed = [line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert listed == [server.package for server in servers(Path(), "", "")] and len(listed) >= WANTED


async def _tried(server: ThirdParty, home: Path) -> Row:
    argv = await asyncio.to_thread(argv_of, server)
    running = Servers(isolation=Isolation(home / "data", home=home))
    try:
        began = time.monotonic()
        inside = program(argv, env=server.env, cwd=str(home / "docs"))
        await run(running, inside)
        ready_s, level = time.monotonic() - began, running.isolation("server").level
        answers = {await _answer(running, *call) for call in server.calls}
        assert answers == {server.answers}, answers
        stop_s = await _stopped_in_mid_call(running, server)
        back_s = await _killed_in_mid_call(running, server)
        status = running.status("server")
        return Row(server, version_of(server), status.era, status.tools, level, ready_s, server.answers, stop_s, back_s)
    finally:
        processes = family(running, "server") if running.status("server").pid else []
        await running.aclose()
        await until(lambda: not any(map(alive, processes)), "every process of it to end")


async def _answer(running: Servers, tool: str, arguments: object) -> str:
    try:
        result = await running.call("server", tool, json.dumps(arguments))
    except ToolError as error:
        if error.code != "rpc_error":
            raise
        return "error"
    return "error" if result.failed else "result"


async def _stopped_in_mid_call(running: Servers, server: ThirdParty) -> float:
    """How long the stop takes, from a server that answers nothing any more. It works on once it is thawed."""
    processes = _frozen(running)
    call = await _begun(running, server)
    began = time.monotonic()
    call.cancel()
    await asyncio.wait({call})
    took = time.monotonic() - began
    assert call.cancelled() and took < STOP_S
    for pid in processes:
        _signal(pid, signal.SIGCONT)
    assert await _answer(running, *server.calls[0]) == server.answers
    return took


async def _killed_in_mid_call(running: Servers, server: ThirdParty) -> float:
    """How long until it answers again, without a hand. The call that was under way is not repeated."""
    processes, starts = _frozen(running), running.status("server").starts
    call = await _begun(running, server)
    began = time.monotonic()
    for pid in processes:
        _signal(pid, signal.SIGKILL)
    with pytest.raises(ToolError) as caught:
        await call
    assert caught.value.code == "server_gone" and caught.value.sent
    assert (await running.wait_ready("server", PATIENCE_S)).state == "running"
    assert await _answer(running, *server.calls[0]) == server.answers
    assert running.status("server").starts == starts + 1
    return time.monotonic() - began


def _frozen(running: Servers) -> list[int]:
    """All but the first, which is ours: bubblewrap or the launcher."""
    processes = family(running, "server")[1:] or family(running, "server")
    for pid in processes:
        _signal(pid, signal.SIGSTOP)
    return processes


async def _begun(running: Servers, server: ThirdParty) -> "asyncio.Task[str]":
    calls = running.status("server").calls
    task = asyncio.create_task(_answer(running, *server.calls[0]))
    await until(lambda: running.status("server").calls > calls, "the call to be on its way")
    return task


def _signal(pid: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, what)


def _repository(home: Path) -> Path:
    docs = home / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("High tide at noon.")
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    for command in (("init", "-q"), ("add", "a.txt"), (*author, "commit", "-q", "-m", "Tides")):
        subprocess.run(("git", *command), cwd=docs, check=True)
    return docs


def _browser() -> str:
    found = subprocess.run([ROOT / "scripts" / "find-chromium"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


@asynccontextmanager
async def a_page() -> AsyncIterator[str]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(HTML)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + HTML)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as web:
        yield f"http://127.0.0.1:{web.sockets[0].getsockname()[1]}/"


def _write(rows: list[Row]) -> None:
    head, _, _ = PAGE.read_text().partition("<!-- servers -->\n")
    table = [
        "| server | version | from | protocol | tools | isolation | ready | calls | stop | back |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(_line(row) for row in rows),
    ]
    PAGE.write_text(f"{head}<!-- servers -->\n" + "\n".join(table) + "\n")


def _line(row: Row) -> str:
    server, calls = row.server, "2 results" if row.answers == "result" else "2 errors of its own"
    cells = (
        *(f"`{server.package}`", row.version, server.source, row.era, row.tools, row.level, f"{row.ready_s:.1f} s"),
        *(calls, f"{row.stop_s:.2f} s", f"{row.back_s:.1f} s"),
    )
    return "| " + " | ".join(map(str, cells)) + " |"
