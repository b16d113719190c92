"""Windlass as an MCP server on standard input and output: a bridge to a running one, or the server itself."""

import asyncio
from importlib import import_module
from typing import Any

from windlass.client.in_process import InProcess
from windlass.client.windlass import Windlass
from windlass.services.gateway import Caller

PROTOCOL, BRIDGE = "windlass.gateway.protocol", "windlass.gateway.bridge"  # they import the SDK, which takes a while


async def serve_stdio(windlass: Windlass, url: str, token: str, server: str = "") -> None:
    """Until standard input is closed."""
    if isinstance(windlass.transport, InProcess):
        protocol: Any = await asyncio.to_thread(import_module, PROTOCOL)
        gateway = windlass.transport.app.services.gateway
        await protocol.McpServer(gateway, protocol.RequestEntry(Caller(), server)).over_stdio()
    else:
        over: Any = await asyncio.to_thread(import_module, BRIDGE)
        await over.bridge(url, token, server)
