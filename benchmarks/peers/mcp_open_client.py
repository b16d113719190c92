"""mcp-open-client: its server as `mcp-open-client api serve` starts it, with a home of its own, asked over
kept-alive HTTP. It answers in one piece; the driver's own client is the bench's."""

import asyncio
import json
import os
import socket
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks.peers.driver import KEY, MODEL, Peer, Place, drive
from benchmarks.wire import Connection, connect, request

PROGRAM = str(Path(sys.executable).with_name("mcp-open-client"))


async def open_peer(stack: AsyncExitStack, place: Place) -> Peer:
    _write_model(place)
    port = _free_port()
    process = await _start(port, place.folder)
    stack.push_async_callback(_stop, process)
    api = Api(port)
    await api.until_up()
    server = await _start_echo(api, place)

    async def conversation() -> str:
        made = await api.json("POST", "/conversations", {"title": "bench"})
        name = str(made["conversation"]["id"])
        for tool in ("echo", "sleep_ms"):
            await api.json("POST", f"/conversations/{name}/tools", {"server_id": server, "tool_name": tool})
        return name

    async def ask(conversation: str, text: str) -> bytes:
        return await api.send("POST", f"/conversations/{conversation}/chat", {"content": text})

    return Peer(ask, conversation, process.pid)


def _write_model(place: Place) -> None:
    """Into its settings file: what is set over HTTP, its conversations see only after a restart."""
    models = {"main": {"model_name": MODEL}}
    config = {"name": MODEL, "base_url": place.model_url, "api_key": KEY, "models": models}
    settings = place.folder / ".mcp-open-client"
    settings.mkdir(exist_ok=True)
    written = {"providers": [{"id": MODEL, "config": config}], "default_provider": MODEL}
    (settings / "ai_providers.json").write_text(json.dumps(written))


async def _start_echo(api: "Api", place: Place) -> str:
    echo = {"name": "echo", "command": place.command, "args": place.args}
    server = str((await api.json("POST", "/servers", {"server": echo}))["server"]["id"])
    await api.json("POST", f"/servers/{server}/start")
    return server


class Api:
    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[Connection] = []

    async def json(self, method: str, path: str, body: object = None) -> Any:
        return json.loads(await self.send(method, path, body))

    async def send(self, method: str, path: str, body: object = None) -> bytes:
        connection = await self._connection()
        sent = json.dumps(body).encode() if body is not None else b""
        answer = await connection.ask(request(method, path, self._port, sent))
        self._idle.append(connection)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path} gave {answer.status}: {answer.body[:300].decode()}")
        return answer.body

    async def _connection(self) -> Connection:
        while self._idle:
            if (connection := self._idle.pop()).is_fresh:
                return connection
        return await connect(self._port)

    async def until_up(self) -> None:
        while True:
            try:
                await self.send("GET", "/health")
                return
            except OSError:
                await asyncio.sleep(0.02)


async def _start(port: int, home: Path) -> asyncio.subprocess.Process:
    env = {**os.environ, "HOME": str(home)}
    command = (PROGRAM, "api", "serve", "--port", str(port))
    return await asyncio.create_subprocess_exec(*command, env=env, stdin=asyncio.subprocess.DEVNULL, stdout=2)


async def _stop(process: asyncio.subprocess.Process) -> None:
    process.terminate()
    await process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


if __name__ == "__main__":
    drive("mcp-open-client", open_peer)
