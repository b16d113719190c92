"""openai-agents: one agent over chat completions, streamed, its own MCP server class. The list of tools is cached, as
its guide advises for a server whose tools stay the same; tracing is off, since it would send to the vendor."""

from contextlib import AsyncExitStack

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai import AsyncOpenAI

from benchmarks.peers.driver import KEY, MODEL, Peer, Place, drive


async def open_peer(stack: AsyncExitStack, place: Place) -> Peer:
    set_tracing_disabled(True)
    params = {"command": place.command, "args": place.args}
    echo = await stack.enter_async_context(MCPServerStdio(params=params, cache_tools_list=True))
    client = AsyncOpenAI(base_url=place.model_url, api_key=KEY)
    agent = Agent(name="bench", model=OpenAIChatCompletionsModel(MODEL, client), mcp_servers=[echo])

    async def ask(_conversation: str, text: str) -> bytes:
        run = Runner.run_streamed(agent, text)
        async for _ in run.stream_events():
            pass
        return str(run.final_output).encode()

    return Peer(ask)


if __name__ == "__main__":
    drive("openai-agents", open_peer)
