"""The one place that imports the `mcp` package. That takes half a second, so all that needs it (`session`, `pipes`,
`http`) is itself imported late and in a thread, by `connection`."""

import logging

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import SignedJWTParameters
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.client.session import ClientRequestContext, ElicitationFnT, IncomingMessage, MessageHandlerFnT
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, SubscriptionLost, ToolsListChanged
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

# These log addresses, and parts of results they could not parse, at levels that a default log shows.
for _name in ("mcp", "client", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

__all__ = [
    "AuthorizationCodeResult",
    "Client",
    "ClientRequestContext",
    "ElicitationFnT",
    "IncomingMessage",
    "MCPError",
    "MessageHandlerFnT",
    "OAuthClientInformationFull",
    "OAuthClientMetadata",
    "OAuthClientProvider",
    "OAuthFlowError",
    "OAuthToken",
    "PromptsListChanged",
    "ResourcesListChanged",
    "SessionMessage",
    "SignedJWTParameters",
    "SubscriptionLost",
    "ToolsListChanged",
    "ValidationError",
    "anyio",
    "extract_field_from_www_auth",
    "httpx2",
    "sse_client",
    "streamable_http_client",
    "types",
]
