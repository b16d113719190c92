"""Windlass's own session code as the client under test of `@modelcontextprotocol/conformance`: lists the tools of the
address it is given, calls each once, and accepts every form with its defaults."""

import asyncio
import json
import sys

from windlass.servers import InputReply, Question, ServerConfig, Servers


async def main(url: str) -> None:
    async def accept(question: Question) -> InputReply:
        return InputReply("accept", {})

    def look(server: str) -> None:
        if servers.status(server).state in ("running", "failed"):
            settled.set()

    settled = asyncio.Event()
    servers = Servers(on_change=look)
    await servers.put(ServerConfig("srv-1", "checked", transport="http", url=url))
    servers.start("checked")
    await settled.wait()
    status = servers.status("checked")
    if status.state != "running":
        sys.exit(status.reason)
    for tool in servers.tools("checked"):
        wanted = (tool.input_schema or {}).get("properties", {})
        await servers.call("checked", tool.name, json.dumps(dict.fromkeys(wanted, 3)), on_input=accept, timeout_s=15)
    await servers.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
