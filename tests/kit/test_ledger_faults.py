"""The ledger server's misbehaviour, read byte by byte: a fault that is not there would prove nothing elsewhere."""

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import until

PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": 7, "result": {}}


class Pipe:
    def __init__(self, process: Process) -> None:
        assert process.stdin and process.stdout and process.stderr
        self.process, self.stdin = process, process.stdin
        self.stdout, self.stderr = process.stdout, process.stderr

    def send(self, message: dict[str, Any]) -> None:
        self.stdin.write(json.dumps(message).encode() + b"\n")

    async def line(self) -> bytes:
        return await self.stdout.readline()

    async def answer(self) -> Any:
        return json.loads(await self.line())

    async def call(self, tool: str, **arguments: object) -> Any:
        params = {"name": tool, "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        return (await self.answer())["result"]


@asynccontextmanager
async def started(ledger: Ledger, *options: str, env: dict[str, str] | None = None) -> AsyncIterator[Pipe]:
    process = await asyncio.create_subprocess_exec(
        *ledger.argv(*options),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        limit=64 * 1024 * 1024,
        start_new_session=True,
        env=env,
    )
    pipe = Pipe(process)
    try:
        yield pipe
    finally:
        pipe.stdin.close()
        await asyncio.gather(pipe.stdout.read(), pipe.stderr.read(), process.wait())


async def test_a_healthy_server_answers_and_ends_with_its_input(ledger: Ledger) -> None:
    async with started(ledger) as pipe:
        pipe.send(PING)
        assert await pipe.answer() == PONG
    assert pipe.process.returncode == 0
    assert [event["event"] for event in ledger.events()] == ["born", "closed"]


async def test_a_hanging_call_does_not_keep_the_server_alive(ledger: Ledger) -> None:
    async with started(ledger) as pipe:
        pipe.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hang"}})
        await ledger.seen("started")
    assert pipe.process.returncode == 0


@pytest.mark.parametrize(
    ("fault", "lines"),
    [
        ("junk", [b"this is not JSON\n", PONG]),
        ("utf8", [b'{"bad": "\xff\xfe"}\n', PONG]),
        ("half", [b'{"jsonrpc":"2.0","\n', PONG]),
        ("wrong-id", [{"jsonrpc": "2.0", "id": "nobody", "result": {}}, PONG]),
        ("duplicate", [PONG, PONG]),
        ("server-request", [{"jsonrpc": "2.0", "id": 7, "method": "roots/list"}, PONG]),
        ("split", [PONG]),
    ],
)
async def test_a_fault_comes_before_each_answer(ledger: Ledger, fault: str, lines: list[object]) -> None:
    async with started(ledger, "--fault", fault) as pipe:
        for _ in range(2):
            pipe.send(PING)
            for expected in lines:
                line = await pipe.line()
                assert line == expected if isinstance(expected, bytes) else json.loads(line) == expected


async def test_a_fault_can_come_many_times(ledger: Ledger) -> None:
    async with started(ledger, "--fault", "junk", "--times", "1000") as pipe:
        pipe.send(PING)
        assert [await pipe.line() for _ in range(1000)] == [b"this is not JSON\n"] * 1000
        assert await pipe.answer() == PONG


async def test_a_change_can_be_told_many_times(ledger: Ledger) -> None:
    async with started(ledger) as pipe:
        params = {"name": "change_tools", "arguments": {"name": "echo", "times": 50}}
        pipe.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        told = [(await pipe.answer())["method"] for _ in range(50)]
        assert (await pipe.answer())["id"] == 1
    assert told == ["notifications/tools/list_changed"] * 50


async def test_an_answer_can_hold_bytes_that_are_no_utf8(ledger: Ledger) -> None:
    async with started(ledger, "--fault", "utf8-answer") as pipe:
        params = {"name": "echo", "arguments": {"text": "a~b"}}
        pipe.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        assert b"a\xffb" in await pipe.line()


async def test_an_endless_line_comes_before_the_answer_to_a_call(ledger: Ledger) -> None:
    async with started(ledger, "--fault", "endless") as pipe:
        pipe.send(PING)
        assert await pipe.answer() == PONG
        params = {"name": "echo", "arguments": {"text": "a"}}
        pipe.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        assert (await pipe.line()).startswith(b"x" * 16 * 1024 * 1024 + b"{")


async def test_standard_error_is_flooded(ledger: Ledger) -> None:
    async with started(ledger, "--fault", "stderr") as pipe:
        pipe.send(PING)
        assert len(await pipe.stderr.readexactly(1024 * 1024)) == 1024 * 1024
        assert await pipe.answer() == PONG


async def test_a_mute_server_says_nothing(ledger: Ledger) -> None:
    async with started(ledger, "--fault", "mute") as pipe:
        pipe.send(PING)
        pipe.stdin.close()
        assert await pipe.stdout.read() == b""


async def test_a_server_can_fail_to_start(ledger: Ledger) -> None:
    async with started(ledger, "--fault", "exit") as pipe:
        assert await pipe.stderr.read() == b"ledger: exiting at once as asked\n"
    assert pipe.process.returncode == 1


async def test_a_server_can_start_late(ledger: Ledger) -> None:
    async with started(ledger, "--start-gate", ledger.gate("start")) as pipe:
        pipe.send(PING)
        await ledger.seen("born")
        ledger.open("start")
        assert await pipe.answer() == PONG


async def test_the_environment_is_shown(ledger: Ledger) -> None:
    async with started(ledger, env={"PATH": os.environ["PATH"], "MARK": "here"}) as pipe:
        shown = json.loads((await pipe.call("env_dump"))["content"][0]["text"])
    assert shown["MARK"] == "here"


@pytest.mark.parametrize("setsid", [False, True])
async def test_a_grandchild_is_left_behind(ledger: Ledger, setsid: bool) -> None:
    async with started(ledger) as pipe:
        pid = int((await pipe.call("spawn", setsid=setsid))["content"][0]["text"])
        group = os.getpgid(pid)
        assert (group == pid) is setsid
        assert (group == pipe.process.pid) is not setsid
    try:
        assert Path(f"/proc/{pid}").exists()
    finally:
        os.kill(pid, signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text())
