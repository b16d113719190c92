"""What one tool call costs by each road, in one process: a bare pipe, the `mcp` SDK's own client, Windlass's servers.
Takes the number of calls on stdin and answers with microseconds per call."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

import msgspec
import uvloop
from mcp import Client, StdioServerParameters, stdio_client

from benchmarks.floor import ECHO, Call, Function, Pipe
from windlass.servers import ServerConfig, Servers

CALL = Call(0, "call", Function("echo", '{"text":"hello"}'))


async def main() -> None:
    pipe = Pipe()
    await pipe.open()
    servers = Servers(on_change=lambda _: None, reveal=lambda text: text)
    config = ServerConfig("server-echo", "echo", "echo", command=sys.executable, args=("-S", str(ECHO)), operator=True)
    await servers.put(config)
    servers.start_all()
    await servers.wait_ready("server-echo", 30)
    sdk = Client(stdio_client(StdioServerParameters(command=sys.executable, args=["-S", str(ECHO)])))
    async with sdk:
        roads: dict[str, Callable[[], Awaitable[object]]] = {
            "bare pipe": lambda: pipe.call(CALL),
            "mcp SDK client": lambda: sdk.call_tool("echo", {"text": "hello"}),
            "Windlass servers": lambda: servers.call("server-echo", "echo", '{"text":"hello"}', key="k"),
        }
        for road in roads.values():
            await _time(road, 50)
        print(0, flush=True)
        while line := await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.readline):
            took = {name: await _time(road, int(line)) for name, road in roads.items()}
            print(msgspec.json.encode(took).decode(), flush=True)
    pipe.close()
    await servers.aclose()


async def _time(road: Callable[[], Awaitable[object]], calls: int) -> float:
    began = time.perf_counter()
    for _ in range(calls):
        await road()
    return (time.perf_counter() - began) / calls * 1e6


if __name__ == "__main__":
    uvloop.run(main())
