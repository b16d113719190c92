"""litellm as a library: its streamed completion and its MCP bridge. It has no loop of its own outside the proxy, and
the proxy runs one round only, so the loop is written here, as its guide does."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import litellm
from litellm import experimental_mcp_client as bridge
from mcp import ClientSession, StdioServerParameters, stdio_client

from benchmarks.peers.driver import KEY, MODEL, Peer, Place, drive


async def open_peer(stack: AsyncExitStack, place: Place) -> Peer:
    litellm.suppress_debug_info = True  # else it prints for each reply that it has no price for the model
    params = StdioServerParameters(command=place.command, args=place.args)
    read, write = await stack.enter_async_context(stdio_client(params))
    session = await stack.enter_async_context(ClientSession(read, write))
    await session.initialize()
    tools = await bridge.load_mcp_tools(session=session, format="openai")

    async def reply(messages: list[Any]) -> Any:
        asked = {"model": f"openai/{MODEL}", "base_url": place.model_url, "api_key": KEY, "tools": tools}
        stream = await litellm.acompletion(messages=messages, stream=True, **asked)
        return litellm.stream_chunk_builder([piece async for piece in stream], messages=messages).choices[0].message

    async def run(call: Any) -> dict[str, object]:
        result = await bridge.call_openai_tool(session=session, openai_tool=call.model_dump())
        return {"role": "tool", "tool_call_id": call.id, "content": result.content[0].text}

    async def ask(_conversation: str, text: str) -> bytes:
        messages: list[Any] = [{"role": "user", "content": text}]
        while calls := (message := await reply(messages)).tool_calls:
            messages.append(message.model_dump())
            messages += await asyncio.gather(*map(run, calls))
        return str(message.content).encode()

    return Peer(ask)


if __name__ == "__main__":
    drive("litellm", open_peer)
