"""A remote server that was away, forgot its sessions or speaks the older wire: calls succeed again without a hand."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest
from mcp.server import MCPServer

from tests.kit.served import served
from tests.kit.waiting import PATIENCE_S, until
from tests.servers.kit import text_of
from windlass.core.errors import ToolError
from windlass.servers import ServerConfig, Servers

LOST = {
    "404": (404, {"error": {"code": -32600, "message": "Session not found"}}),
    "400": (400, {"error": {"code": -32000, "message": "Bad Request: No valid session ID provided"}}),
    "400 not initialized": (400, {"error": {"code": -32000, "message": "Bad Request: Server not initialized"}}),
    "200": (200, {"error": {"code": -32001, "message": "Session terminated or unknown session"}}),
}


class Remote:
    """The SDK's own server. The next call is answered with `lost` instead of being run."""

    def __init__(self, wire: Literal["http", "sse"]) -> None:
        server = MCPServer("remote")

        @server.tool()
        async def keep(text: str) -> str:
            """Keep a text."""
            self.kept.append(text)
            return f"kept {text}"

        self.kept: list[str] = []
        self.lost = ""
        self._app = server.streamable_http_app() if wire == "http" else server.sse_app()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or not self.lost:
            return await self._app(scope, receive, send)
        body = (await receive())["body"]
        request = json.loads(body)
        if request.get("method") != "tools/call":
            return await self._app(scope, _again(body), send)
        status, answer = LOST[self.lost]
        self.lost = ""
        message = json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(message)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": message})


def _again(body: bytes) -> Any:
    waiting = asyncio.Event()

    async def receive() -> dict[str, Any]:
        nonlocal body
        if waiting.is_set():
            await asyncio.get_running_loop().create_future()
        waiting.set()
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


@asynccontextmanager
async def remote(port: int = 0, wire: Literal["http", "sse"] = "http") -> AsyncIterator[tuple[Remote, int]]:
    listening = socket.create_server(("127.0.0.1", port))
    site = Remote(wire)
    async with served(site, listening):
        yield site, listening.getsockname()[1]


async def connect(servers: Servers, url: str) -> str:
    await servers.put(ServerConfig("srv-1", "remote", transport="http", url=url))
    servers.start("remote")
    return (await servers.wait_ready("remote", PATIENCE_S)).state


async def keep(servers: Servers, text: str) -> str:
    return text_of(await servers.call("remote", "keep", json.dumps({"text": text})))


@pytest.mark.parametrize("form", LOST)
async def test_a_session_that_is_refused_in_any_form_is_opened_again_once(servers: Servers, form: str) -> None:
    async with remote() as (site, port):
        assert await connect(servers, f"http://127.0.0.1:{port}/mcp") == "running"
        site.lost = form
        assert await keep(servers, "a") == "kept a"
        assert site.kept == ["a"] and servers.status("remote").starts == 2
        await servers.stop("remote")


async def test_an_error_about_something_else_opens_no_session_again(servers: Servers) -> None:
    async with remote() as (_site, port):
        assert await connect(servers, f"http://127.0.0.1:{port}/mcp") == "running"
        with pytest.raises(ToolError) as caught:
            await servers.call("remote", "no_such_tool_session", "{}")
            raise ToolError("it was answered", cause="rpc_error")
        assert caught.value.code == "rpc_error" and servers.status("remote").starts == 1
        await servers.stop("remote")


async def test_a_server_that_was_away_is_used_again_as_soon_as_a_call_needs_it(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although its next try is a minute away, and although it failed far more often than a program may."""
    really = asyncio.sleep
    waits: list[float] = []

    async def hurry(seconds: float) -> None:
        if seconds >= 1:
            waits.append(seconds)
        await really(0.001 if len(waits) < 9 else seconds)

    async with remote() as (_, port):
        assert await connect(servers, f"http://127.0.0.1:{port}/mcp") == "running"
    monkeypatch.setattr("windlass.servers.lifecycle.asyncio.sleep", hurry)
    with pytest.raises(ToolError):
        await keep(servers, "nobody")
    await until(lambda: len(waits) == 9, "nine tries")
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert servers.status("remote").state == "failed" and "by hand" not in servers.status("remote").reason
    async with remote(port) as (site, _):
        assert (await servers.wait_ready("remote", PATIENCE_S)).state == "running"
        assert await keep(servers, "back") == "kept back" and site.kept == ["back"]
        await servers.stop("remote")


async def test_a_server_that_stays_away_is_not_waited_for_longer_than_one_try(servers: Servers) -> None:
    async with remote() as (_, port):
        assert await connect(servers, f"http://127.0.0.1:{port}/mcp") == "running"
    lifecycle = servers._lifecycle("remote")
    await servers.stop("remote")
    servers.start("remote")
    await until(lambda: lifecycle.status().state == "failed", "its first failure")
    lifecycle._failures = 20
    starts = lifecycle.status().starts
    assert (await servers.wait_ready("remote", PATIENCE_S)).state == "failed"
    assert lifecycle.status().starts <= starts + 1


async def test_an_address_of_the_older_wire_needs_no_transport_named(servers: Servers) -> None:
    async with remote(wire="sse") as (site, port):
        assert await connect(servers, f"http://127.0.0.1:{port}/sse") == "running"
        assert await keep(servers, "old") == "kept old" and site.kept == ["old"]
        await servers.stop("remote")


async def test_a_server_that_moved_to_the_older_wire_is_found_there(servers: Servers) -> None:
    async with remote() as (_, port):
        assert await connect(servers, f"http://127.0.0.1:{port}/mcp") == "running"
    async with remote(port, "sse") as (_, _):
        await servers.put(ServerConfig("srv-1", "remote", transport="http", url=f"http://127.0.0.1:{port}/sse"))
        assert (await servers.wait_ready("remote", PATIENCE_S)).state == "running"
        assert await keep(servers, "moved") == "kept moved"
        await servers.stop("remote")


async def test_an_address_that_speaks_neither_wire_names_the_first_answer(servers: Servers) -> None:
    async with remote() as (_, port):
        await servers.put(ServerConfig("srv-1", "remote", transport="http", url=f"http://127.0.0.1:{port}/nothing"))
        servers.start("remote")
        await until(lambda: servers.status("remote").state == "failed", "its failure")
        assert "127.0.0.1 answered 404 Not Found" in servers.status("remote").reason
        await servers.stop("remote")
