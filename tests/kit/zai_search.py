"""Z.AI's remote MCP search as a test needs it: a real MCP server behind the origin of a `StrictLLM`."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Literal

import aiohttp
import uvicorn
from aiohttp import web
from mcp.server import MCPServer
from pydantic import Field

from windlass.testing import StrictLLM
from windlass.testing.replies import Scripted

PATH = "/api/mcp/web_search_prime/mcp"
KEY = "key-of-the-test"
_DROPPED = {"host", "content-length", "transfer-encoding", "connection"}


@dataclass
class RemoteSearch:
    """What it finds, and what it was asked. `status` other than 200 refuses every request, as for another plan."""

    found: Sequence[dict[str, str]] = ()
    tool: str = "webSearchPrime"
    status: int = 200
    asked: list[dict[str, str]] = field(default_factory=list)

    def server(self) -> MCPServer:
        def search(
            search_query: Annotated[str, Field(description="Content to be searched")],
            location: Literal["cn", "us"] = "cn",
            content_size: Literal["medium", "high"] = "medium",
        ) -> str:
            self.asked.append({"search_query": search_query, "location": location, "content_size": content_size})
            return json.dumps(json.dumps(list(self.found)))  # packed twice, as the service does

        server = MCPServer("web-search-prime")
        server.add_tool(search, name=self.tool)
        return server


@asynccontextmanager
async def remote_route(remote: RemoteSearch) -> AsyncIterator[web.RouteDef]:
    """A route that passes requests with the right key on to the MCP server, on a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        app = remote.server().streamable_http_app(streamable_http_path=PATH)
        serving = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        task = asyncio.create_task(serving.serve([listener]))
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"

        async def passed_on(request: web.Request) -> web.StreamResponse:
            if request.headers.get("Authorization") != f"Bearer {KEY}" or remote.status != 200:
                return web.json_response({"error": "Api key not found"}, status=max(remote.status, 401))
            return await _forward(request, base)

        try:
            yield web.route("*", PATH, passed_on)
        finally:
            serving.should_exit = True
            await task


@asynccontextmanager
async def zai_origin(remote: RemoteSearch, *replies: Scripted, coding_plan: bool = True) -> AsyncIterator[StrictLLM]:
    """Chat and MCP search under one origin; builtin and REST search are refused."""
    async with remote_route(remote) as route:
        async with StrictLLM(
            replies,
            dialect="zai",
            coding_plan=coding_plan,
            api_key=KEY,
            models=["glm-4.7"],
            search=None,
            routes=[route],
        ) as llm:
            yield llm


async def _forward(request: web.Request, base: str) -> web.StreamResponse:
    headers = {name: value for name, value in request.headers.items() if name.lower() not in _DROPPED}
    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        session.request(request.method, base + request.path_qs, data=await request.read(), headers=headers) as answer,
    ):
        kept = {name: value for name, value in answer.headers.items() if name.lower() not in _DROPPED}
        response = web.StreamResponse(status=answer.status, headers=kept)
        await response.prepare(request)
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
        await response.write_eof()
    return response
