"""langgraph: langchain's agent graph, streamed by message, with the MCP adapters on one session that stays open."""

from contextlib import AsyncExitStack

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI

from benchmarks.peers.driver import KEY, MODEL, Peer, Place, drive


async def open_peer(stack: AsyncExitStack, place: Place) -> Peer:
    servers = {"echo": {"transport": "stdio", "command": place.command, "args": place.args}}
    session = await stack.enter_async_context(MultiServerMCPClient(servers).session("echo"))
    model = ChatOpenAI(model=MODEL, base_url=place.model_url, api_key=KEY, streaming=True)
    agent = create_agent(model, await load_mcp_tools(session))

    async def ask(_conversation: str, text: str) -> bytes:
        asked = {"messages": [{"role": "user", "content": text}]}
        said = [piece async for piece, _ in agent.astream(asked, stream_mode="messages")]
        return "".join(str(piece.content) for piece in said if piece.type == "AIMessageChunk").encode()

    return Peer(ask)


if __name__ == "__main__":
    drive("langgraph", open_peer)
