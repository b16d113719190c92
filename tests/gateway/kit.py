"""The SDK's own client against `/mcp`, with a person behind it who answers questions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.web.kit import TOKEN, Site

ERAS = ("legacy", "auto")  # the handshake of 2025, and the stateless protocol of 2026 where the server speaks it


class Person:
    """Answers as told, and keeps what was asked."""

    def __init__(self, *answers: types.ElicitResult) -> None:
        self.asked: list[Any] = []
        self._answers = list(answers)

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params)
        return self._answers.pop(0)


def accept(**content: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content=content)


@asynccontextmanager
async def mcp_client(
    site: Site, person: Person | None = None, *, path: str = "/mcp", token: str = TOKEN, **options: Any
) -> AsyncIterator[Client]:
    async with mcp_client_of(site.url + path, token, person, **options) as client:
        yield client


@asynccontextmanager
async def mcp_client_of(
    url: str,
    token: str,
    person: Person | None = None,
    *,
    mode: Any = "legacy",
    name: str = "Test Desktop",
    on_message: Any = None,
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        streams = streamable_http_client(url, http_client=http, max_sse_event_size=None)
        info = types.Implementation(name=name, version="1.2")
        client = Client(
            streams, mode=mode, elicitation_callback=person, client_info=info, message_handler=on_message, cache=None
        )
        async with client:
            yield client


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))
