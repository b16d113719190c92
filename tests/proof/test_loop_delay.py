"""Nothing that anybody may send holds up everybody else: the worst delay of `/health` while a heavy request runs. At
small scale this checks that the measuring works; the floor is held at full scale."""

import asyncio
import io
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest_asyncio

from tests.kit.windlass_process import WindlassProcess, windlass
from tests.proof.figures import FULL, note

FLOOR_MS = 250
PATIENCE_MS = 60_000  # beside other tests; how long is measured at full scale
MESSAGES = 20_000 if FULL else 200
LARGE = 13_000_000 if FULL else 100_000
TOOLS = 10_000 if FULL else 200
LETTERS = 900_000 if FULL else 9_000
CROWDED = Path(__file__).with_name("crowded_server.py")


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[WindlassProcess]:
    async with windlass(tmp_path / "home", verb="demo") as process:
        yield process


async def worst_ms(server: WindlassProcess, what: str, work: Awaitable[Any]) -> float:
    """Asks for `/health` over a connection of its own, again and again while the work goes on: the longest wait."""
    over = asyncio.Event()
    waits: list[float] = []

    async def ask() -> None:
        async with aiohttp.ClientSession() as session:
            while not over.is_set():
                began = time.perf_counter()
                async with session.get(f"{server.url}/health") as answer:
                    await answer.read()
                waits.append(time.perf_counter() - began)

    asking = asyncio.create_task(ask())
    try:
        await work
    finally:
        over.set()
        await asking
    worst = max(waits) * 1000
    note("health delay", what=what, ms=worst)
    return worst


def too_long(delays: Mapping[str, float]) -> dict[str, float]:
    return {what: ms for what, ms in delays.items() if ms > (FLOOR_MS if FULL else PATIENCE_MS)}


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


IMPORTS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "import of many turns": lambda: history(MESSAGES),
    "import of one long turn": lambda: [one | {"role": "assistant"} for one in history(MESSAGES)],
    "import of long messages": lambda: history(LARGE // 100_000, 100_000),
    "import of many long turns": lambda: history(min(MESSAGES, LARGE // 650), 650),
}


async def test_e2_an_import_holds_up_nobody(server: WindlassProcess) -> None:
    delays = {what: await worst_ms(server, what, imported(server, make())) for what, make in IMPORTS.items()}
    assert too_long(delays) == {}


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
    delays = {what: await worst_ms(server, what, read(server, id)) for what, read in READS.items()}
    assert too_long(delays) == {}


async def test_e2_a_server_with_many_tools_holds_up_nobody(server: WindlassProcess) -> None:
    argv = [sys.executable, "-S", "-E", str(CROWDED), str(TOOLS), str(LETTERS)]
    await server.post("/servers", {"name": "crowded", "command": argv[0], "args": argv[1:], "tools": "*"})
    await server.post("/servers/crowded/confirm", {"argv": argv})
    chat = (await server.post("/conversations", {}))["conversation"]["id"]
    requests: dict[str, Callable[[], Awaitable[Any]]] = {
        "start of a server with many tools": lambda: server.post("/servers/crowded/start"),
        "list of many tools": lambda: server.get(f"/conversations/{chat}/tools/available"),
        "the server's own list": lambda: server.get("/servers/crowded/tools"),
        "a turn beside many tools": lambda: server.post(
            f"/conversations/{chat}/chat", {"content": "/calculate expression=1+1"}
        ),
    }
    delays = {what: await worst_ms(server, what, request()) for what, request in requests.items()}
    assert too_long(delays) == {}
