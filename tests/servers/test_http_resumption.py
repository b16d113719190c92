"""A call whose answer was to come as a stream, and the server is another one when the stream is asked for again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from tests.servers.kit import run
from windlass.core.errors import ToolError
from windlass.servers import ServerConfig, Servers


class Forgetful:
    """Takes calls, lets go of their streams, and answers with `status` whoever asks for one again."""

    def __init__(self, status: int) -> None:
        self.taken = 0
        self._status = status

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_post("/", self._post)
        app.router.add_get("/", self._get)
        runner = web.AppRunner(app)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
        finally:
            await runner.cleanup()

    async def _post(self, request: web.Request) -> web.StreamResponse:
        message: dict[str, Any] = await request.json()
        match message["method"]:
            case "initialize":
                about = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
                return _answer(message, {**about, "serverInfo": {"name": "forgetful", "version": "1"}})
            case "tools/list":
                return _answer(message, {"tools": [{"name": "pay", "inputSchema": {"type": "object"}}]})
            case "tools/call":
                self.taken += 1
                stream = web.StreamResponse(headers={"content-type": "text/event-stream"})
                await stream.prepare(request)
                await stream.write(b"id: 1\nretry: 1\ndata: \n\n")
                return stream
            case _ if "id" in message:
                return web.json_response(_message(message, error={"code": -32601, "message": "unknown"}))
            case _:
                return web.Response(status=202)

    async def _get(self, request: web.Request) -> web.Response:
        return web.Response(status=self._status if "last-event-id" in request.headers else 405)


@pytest.mark.parametrize("status", [401, 403, 404, 410, 500])
async def test_a_call_that_was_taken_is_not_sent_again_when_its_stream_is_gone(servers: Servers, status: int) -> None:
    forgetful = Forgetful(status)
    async with forgetful.listening() as url:
        await run(servers, ServerConfig("srv-web", "web", transport="http", url=url))
        with pytest.raises(ToolError) as caught:
            await servers.call("web", "pay", "{}")
        await servers.stop("web")
    assert (forgetful.taken, caught.value.code, caught.value.sent) == (1, "server_gone", True)


def _answer(message: dict[str, Any], result: dict[str, Any]) -> web.Response:
    return web.json_response(_message(message, result=result), headers={"mcp-session-id": "one"})


def _message(to: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": to["id"], **more}
