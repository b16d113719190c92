"""Requests and tools for the tests of this folder."""

import asyncio
import re
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from windlass.core.events import Settings
from windlass.core.messages import ChatMessage, Choice, PastTurn, Toolset, ToolSpec
from windlass.core.ports import LiveEvent, ModelRequest, Prompt, Waiting
from windlass.providers.config import ProviderConfig
from windlass.providers.failures import Patience
from windlass.providers.openai_chat import OpenAIChat

QUICK = Patience(linger_s=0.2, backoff_s=0)

WEATHER = '{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}'
TOOLS = Toolset(
    "tools-1",
    (
        ToolSpec("get_weather", "s", "get_weather", "The weather in a city.", WEATHER),
        ToolSpec("get_time", "s", "get_time", "The time now."),
        ToolSpec("list_directory", "s", "list_directory", "", '{"type":"object","properties":{"path":{}}}'),
    ),
)


def ask(
    *messages: ChatMessage | str,
    tools: Toolset = TOOLS,
    past: tuple[PastTurn, ...] = (),
    system: str = "",
    choice: Choice = "auto",
    model: str = "",
    temperature: float | None = None,
    provider: str = "",
    attempt: int = 1,
) -> ModelRequest:
    current = tuple(ChatMessage("user", one) if isinstance(one, str) else one for one in messages or ("Hello",))
    settings = Settings(provider, model, temperature)
    return ModelRequest("turn-1", settings, Prompt(system, past, current, choice), tools, attempt)


class Recorder:
    """Remembers the events of a reply, and apart from them what it waited for."""

    def __init__(self) -> None:
        self.events: list[LiveEvent] = []
        self.waits: list[Waiting] = []

    def __call__(self, event: LiveEvent) -> None:
        if isinstance(event, Waiting):
            self.waits.append(event)
        else:
            self.events.append(event)


@asynccontextmanager
async def chat_with(
    base_url: str,
    *,
    model: str = "strict-model",
    api_key: str = "key-for-tests",
    profile: str = "",
    temperature: float | None = None,
    patience: Patience = QUICK,
) -> AsyncIterator[OpenAIChat]:
    config = ProviderConfig(
        "p1", "P", base_url, api_key, model, temperature=temperature, profile=profile, patience=patience
    )
    chat = OpenAIChat(config)
    try:
        yield chat
    finally:
        chat.close()


SERVER_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


Talk = Callable[[StreamReader, StreamWriter], Awaitable[None]]


@asynccontextmanager
async def talking(talk: Talk) -> AsyncIterator[int]:
    """A server of raw bytes; gives its port. In the end it hangs up on everybody."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        try:
            await talk(reader, writer)
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


@asynccontextmanager
async def raw_server(answer: Callable[[StreamWriter], Awaitable[None]]) -> AsyncIterator[str]:
    """A server that reads each request whole and leaves the rest to `answer`; gives its base URL."""

    async def talk(reader: StreamReader, writer: StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        await reader.readexactly(int(length[1]) if length else 0)
        await answer(writer)

    async with talking(talk) as port:
        yield f"http://127.0.0.1:{port}/v1"
