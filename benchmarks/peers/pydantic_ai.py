"""pydantic-ai: one agent, streamed, with an MCP toolset that is opened once."""

from contextlib import AsyncExitStack

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from benchmarks.peers.driver import KEY, MODEL, Peer, Place, drive


async def open_peer(stack: AsyncExitStack, place: Place) -> Peer:
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=place.model_url, api_key=KEY))
    agent = Agent(model, toolsets=[MCPToolset(StdioTransport(place.command, place.args))])
    await stack.enter_async_context(agent)

    async def ask(_conversation: str, text: str) -> bytes:
        async with agent.run_stream(text) as run:
            return "".join([piece async for piece in run.stream_text(delta=True)]).encode()

    return Peer(ask)


if __name__ == "__main__":
    drive("pydantic-ai-slim", open_peer)
