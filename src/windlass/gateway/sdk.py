"""The one place that imports the server's side of the `mcp` package, and its ends of standard input and output."""

import anyio
import httpx2
import mcp_types as types
from mcp import MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

__all__ = [
    "HANDSHAKE_PROTOCOL_VERSIONS",
    "MODERN_PROTOCOL_VERSIONS",
    "AccessToken",
    "AuthenticatedUser",
    "InMemorySubscriptionBus",
    "InitializationOptions",
    "ListenHandler",
    "MCPError",
    "NotificationOptions",
    "ReadStream",
    "Server",
    "ServerRequestContext",
    "ServerSession",
    "SessionMessage",
    "StreamableHTTPSessionManager",
    "ToolsListChanged",
    "WriteStream",
    "anyio",
    "httpx2",
    "stdio_server",
    "streamable_http_client",
    "types",
]
