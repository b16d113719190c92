"""Nothing that anybody may send holds up everybody else: the worst delay of `/health` while a heavy request runs. At
small scale this checks that the measuring works; the floor is held at full scale."""

import asyncio
import io
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.kit.windlass_process import WindlassProcess, windlass
from tests.proof.figures import FULL, note

FLOOR_MS = 250
MESSAGES = 20_000 if FULL else 200
LARGE = 13_000_000 if FULL else 100_000
TOOLS = 10_000 if FULL else 200
LETTERS = 900_000 if FULL else 9_000
CROWDED = Path(__file__).with_name("crowded_server.py")


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[WindlassProcess]:
    async with windlass(tmp_path / "home", verb="demo") as process:
        yield process


@asynccontextmanager
async def health_measured(server: WindlassProcess, what: str) -> AsyncIterator[None]:
    """Asks for `/health` over a connection of its own, again and again, and notes the longest wait."""
    over = asyncio.Event()
    waits: list[float] = []

    async def ask() -> None:
        async with aiohttp.ClientSession() as session:
            while not over.is_set():
                began = time.perf_counter()
                async with session.get(f"{server.url}/health") as answer:
                    assert answer.status == 200
                    await answer.read()
                waits.append(time.perf_counter() - began)

    asking = asyncio.create_task(ask())
    try:
        yield
    finally:
        over.set()
        await asking
    worst = max(waits) * 1000
    note("health delay", what=what, ms=worst)
    sys.stderr.write(f"{what}: {worst:.0f} ms, {len(waits)} requests\n")
    assert not FULL or worst <= FLOOR_MS, f"{what}: /health waited {worst:.0f} ms"


def history(count: int, letters: int = 20) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": f"{n} " + "x" * letters} for n in range(count)]


async def imported(server: WindlassProcess, messages: list[dict[str, Any]]) -> str:
    body = io.BytesIO(json.dumps({"title": "Long", "messages": messages}).encode())
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/conversations/import", data=body, headers=headers) as answer,
    ):
        assert answer.status == 201, await answer.text()
        return str((await answer.json())["conversation"]["id"])


IMPORTS = {
    "import of many turns": lambda: history(MESSAGES),
    "import of one long turn": lambda: [one | {"role": "assistant"} for one in history(MESSAGES)],
    "import of long messages": lambda: history(LARGE // 100_000, 100_000),
    "import of many long turns": lambda: history(min(MESSAGES, LARGE // 650), 650),
}


@pytest.mark.parametrize("what", IMPORTS)
async def test_e2_an_import_holds_up_nobody(server: WindlassProcess, what: str) -> None:
    messages = IMPORTS[what]()
    async with health_measured(server, what):
        await imported(server, messages)


READS: dict[str, Callable[[WindlassProcess, str], Awaitable[Any]]] = {
    "messages": lambda server, id: server.get(f"/conversations/{id}/messages"),
    "turns": lambda server, id: server.get(f"/conversations/{id}/turns"),
    "export": lambda server, id: server.get(f"/conversations/{id}/export?format=json"),
    "export as markdown": lambda server, id: server.get(f"/conversations/{id}/export?format=markdown"),
    "search": lambda server, id: server.get("/conversations/search?q=x&limit=200"),
    "chat": lambda server, id: server.post(f"/conversations/{id}/chat", {"content": "Hello"}),
    "a new message": lambda server, id: server.post(
        f"/conversations/{id}/messages", {"role": "user", "content": "Hello"}
    ),
    "delete": lambda server, id: server.call("DELETE", f"/conversations/{id}"),
}


async def test_e2_no_request_about_a_long_conversation_holds_up_anybody(server: WindlassProcess) -> None:
    id = await imported(server, history(MESSAGES))
    for what, read in READS.items():
        async with health_measured(server, what):
            await read(server, id)


async def test_e2_a_server_with_many_tools_holds_up_nobody(server: WindlassProcess) -> None:
    argv = [sys.executable, "-S", "-E", str(CROWDED), str(TOOLS), str(LETTERS)]
    body = {"name": "crowded", "command": argv[0], "args": argv[1:], "tools": "*"}
    await server.post("/servers", body)
    await server.post("/servers/crowded/confirm", {"argv": argv})
    async with health_measured(server, "start of a server with many tools"):
        await server.post("/servers/crowded/start")
        await server.running("crowded")
    chat = (await server.post("/conversations", {}))["conversation"]["id"]
    async with health_measured(server, "list of many tools"):
        await server.get(f"/conversations/{chat}/tools/available")
    async with health_measured(server, "the server's own list"):
        await server.get("/servers/crowded/tools")
    async with health_measured(server, "a turn beside many tools"):
        await server.post(f"/conversations/{chat}/chat", {"content": "/calculate expression=1+1"})
