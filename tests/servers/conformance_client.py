"""Windlass's own session code as the client under test of `@modelcontextprotocol/conformance`: lists the tools of the
address it is given, calls each once, and accepts every form with its defaults."""

import asyncio
import json
import sys

from windlass.servers import Answer, Question, ServerConfig, Servers


async def main(url: str) -> None:
    async def accept(question: Question) -> Answer:
        return Answer("accept", {})

    servers = Servers()
    await servers.put(ServerConfig("srv-1", "checked", transport="http", url=url))
    servers.start("checked")
    status = await servers.wait_ready("checked", 20)
    if status.state != "running":
        sys.exit(f"{status.state}: {status.reason}")
    for tool in servers.tools("checked"):
        wanted = (tool.input_schema or {}).get("properties", {})
        await servers.call("checked", tool.name, json.dumps(dict.fromkeys(wanted, 3)), on_input=accept, timeout_s=15)
    await servers.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
