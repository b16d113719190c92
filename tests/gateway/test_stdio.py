"""`windlass mcp` as desktop programs start it: a command, its arguments, next to no environment."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.gateway.kit import Person, accept, text_of
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S, until_found
from tests.kit.windlass_process import WindlassProcess, windlass

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}


def settings(home: Path, ledger: Ledger, *lines: str, approval: str = 'approval = "auto"') -> None:
    command, *args = ledger.argv()
    text = [
        "[servers.ledger]",
        f"command = {json.dumps(command)}",
        f"args = {json.dumps(args)}",
        'tools = "*"',
        approval,
        *lines,
    ]
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "windlass.toml").write_text("\n".join(text))


@asynccontextmanager
async def desktop(home: Path, *args: str, person: Person | None = None, mode: Any = "legacy") -> AsyncIterator[Client]:
    argv = ["-m", "windlass", "mcp", *args]
    started = StdioServerParameters(command=sys.executable, args=argv, env={"WINDLASS_HOME": str(home)})
    info = types.Implementation(name="Desk", version="9")
    streams = stdio_client(started)
    async with Client(streams, mode=mode, elicitation_callback=person, client_info=info, cache=None) as client:
        yield client


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_desktop_program_works_with_the_windlass_that_runs(tmp_path: Path, ledger: Ledger, mode: str) -> None:
    home = tmp_path / "home"
    settings(home, ledger)
    seen: list[Any] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with windlass(home) as running:
        await running.running("ledger")
        async with desktop(home, "--server", "ledger", mode=mode) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            await client.call_tool("progress", {"steps": 2}, progress_callback=heard)
            result = await client.call_tool("odd", {"kind": "mixed"})
    assert "record" in names and "get_time" not in names
    assert seen == [(1, 2, "step 1 of 2"), (2, 2, "step 2 of 2")]
    assert isinstance(result.content[0], types.ImageContent)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_without_one_it_works_in_process_and_the_programs_person_is_asked(
    tmp_path: Path, ledger: Ledger, mode: str
) -> None:
    home = tmp_path / "home"
    settings(home, ledger, "[gateway]", 'approve = "client"', approval="")
    person = Person(accept(decision="allow once"))
    async with desktop(home, "--server", "ledger", person=person, mode=mode) as client:
        result = await client.call_tool("destroy", {"effect_id": "a"})
    assert text_of(result) == "recorded a"
    assert person.asked[0].message.startswith("May Desk call destroy on ledger?")


async def test_where_nobody_can_be_asked_a_call_is_refused_with_what_would_allow_it(
    tmp_path: Path, ledger: Ledger
) -> None:
    home = tmp_path / "home"
    settings(home, ledger, approval="")
    async with desktop(home, "--server", "ledger", person=Person()) as client:
        result = await client.call_tool("destroy", {"effect_id": "a"})
    assert result.is_error and ledger.counts() == {}
    assert "nobody can be asked here" in text_of(result)
    assert "start `windlass serve`" in text_of(result)


async def test_a_call_cut_off_by_a_kill_is_unknown_and_the_same_call_asks(tmp_path: Path, ledger: Ledger) -> None:
    """The program keeps its connection through the kill and the restart: the bridge begins a session anew."""
    home = tmp_path / "home"
    settings(home, ledger)
    async with windlass(home) as running:
        await running.running("ledger")
        port = running.url.rpartition(":")[2]
        async with desktop(home) as client:
            call = {"effect_id": "a", "gate": ledger.gate("g")}
            calling = asyncio.ensure_future(client.call_tool("record_slow", call))
            await ledger.seen("started", "a")
            await running.kill()
            with pytest.raises(MCPError, match="Its outcome is unknown"):
                async with asyncio.timeout(PATIENCE_S):
                    await calling
            running.flags = ("--port", port)
            await running.start()
            await running.running("ledger")
            again = asyncio.ensure_future(client.call_tool("record_slow", call))
            waiting = await asks(running)
            ledger.open("g")
            other = await client.call_tool("record", {"effect_id": "b"})
            pending = waiting["pending_calls"][0]
            await running.post(
                f"/turns/{waiting['id']}/calls/{pending['call_id']}/decision",
                {"decision": "deny", "hash": pending["hash"]},
            )
            assert (await again).is_error
        first = (await running.get(f"/turns/{waiting['parent_turn_id']}"))["turn"]
    assert text_of(other) == "recorded b"
    assert pending["rule"] == "the same call once ended unknown"
    assert [made["state"] for made in first["calls"]] == ["unknown"]
    assert ledger.counts()["a"] == 1


async def asks(running: WindlassProcess) -> Any:
    async def asking() -> Any:
        return (await running.get("/conversations"))["conversations"]

    await until_found(asking, "a call that asks")
    listed = await asking()
    return (await running.get(f"/turns/{listed[0]['head_turn_id']}?wait=10"))["turn"]


async def test_it_ends_with_its_standard_input_and_prints_nothing_but_the_protocol(
    tmp_path: Path, ledger: Ledger
) -> None:
    home = tmp_path / "home"
    settings(home, ledger)
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "windlass", "mcp"],
        input=json.dumps(HELLO).encode() + b"\nnot json\n",
        env={"WINDLASS_HOME": str(home)},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[0]["result"]["serverInfo"]["name"] == "windlass"
    assert answers[0]["result"]["capabilities"]["tools"] == {"listChanged": True}


@pytest.mark.parametrize("words", [b"", json.dumps(HELLO).encode() + b"\n"])
async def test_the_bridge_ends_when_its_input_ends_and_nothing_more_comes(
    tmp_path: Path, ledger: Ledger, words: bytes
) -> None:
    home = tmp_path / "home"
    settings(home, ledger)
    async with windlass(home) as running:
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "windlass", "mcp", "--url", running.url, "--token", running.token],
            input=words,
            env={"WINDLASS_HOME": str(tmp_path / "other")},
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr


async def test_a_wrong_token_is_said_before_anything_else(tmp_path: Path, ledger: Ledger) -> None:
    home = tmp_path / "home"
    settings(home, ledger)
    async with windlass(home) as running:
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "windlass", "mcp", "--url", running.url, "--token", "wrong-token-wrong-token"],
            stdin=subprocess.DEVNULL,
            env={"WINDLASS_HOME": str(tmp_path / "other")},
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 1 and done.stdout == b""
    assert b"error: " in done.stderr and b"--scope chat" in done.stderr
