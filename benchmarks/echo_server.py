"""A tiny MCP server over stdio in the handshake era, standard library only: `echo` answers at once, `sleep_ms` later,
and calls overlap. `--extra N --prefix P` adds N more tools with schemas of an ordinary size."""

import argparse
import heapq
import json
import os
import select
import time
from typing import Any

Json = dict[str, Any]
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


class Echo:
    """One thread: what is due later waits in a heap while the pipe is watched."""

    def __init__(self, tools: list[Json]) -> None:
        self._tools = tools
        self._due: list[tuple[float, int, Json]] = []
        self._count = 0

    def run(self) -> None:
        held = b""
        while True:
            wait = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            if select.select([0], [], [], wait)[0]:
                data = os.read(0, 1 << 16)
                if not data:
                    return
                *lines, held = (held + data).split(b"\n")
                for line in lines:
                    self._receive(json.loads(line))
            while self._due and self._due[0][0] <= time.monotonic():
                _send(heapq.heappop(self._due)[2])

    def _receive(self, message: Json) -> None:
        match message:
            case {"method": "tools/call", "id": request_id, "params": {"name": name, "arguments": arguments}}:
                answer = _response(request_id, _text(f"echo {arguments.get('text', '')}"))
                if name == "sleep_ms":
                    self._count += 1
                    heapq.heappush(self._due, (time.monotonic() + arguments["ms"] / 1000, self._count, answer))
                else:
                    _send(answer)
            case {"method": "tools/list", "id": request_id}:
                _send(_response(request_id, {"tools": self._tools}))
            case {"method": "initialize", "id": request_id, "params": {"protocolVersion": asked}}:
                _send(_response(request_id, _hello(asked)))
            case {"method": "ping", "id": request_id}:
                _send(_response(request_id, {}))
            case {"method": method, "id": request_id}:
                error = {"code": -32601, "message": f"Method not found: {method}"}
                _send({"jsonrpc": "2.0", "id": request_id, "error": error})


def _hello(asked: str) -> Json:
    return {
        "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "echo", "version": "1"},
    }


def _text(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}]}


def _response(request_id: object, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def _send(message: Json) -> None:
    left = memoryview(json.dumps(message).encode() + b"\n")
    while left:
        left = left[os.write(1, left) :]


def _tool(name: str, description: str, **properties: Json) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "inputSchema": schema}


TEXT: Json = {"type": "string", "description": "What to say back"}
OWN_TOOLS = [
    _tool("echo", "Say the text back at once.", text=TEXT),
    _tool("sleep_ms", "Say the text back after a while.", ms={"type": "integer", "minimum": 0}, text=TEXT),
]


def _extra_tool(prefix: str, number: int) -> Json:
    path: Json = {"type": "string", "description": "Where to look, as a path from the root of the project"}
    most: Json = {"type": "integer", "minimum": 1, "maximum": 1000, "description": "At most so many results"}
    words = "Look through the records of one area and give those that match, the newest first."
    return _tool(f"{prefix}_{number}", words, text=TEXT, path=path, most=most)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--extra", type=int, default=0)
    parser.add_argument("--prefix", default="")
    options = parser.parse_args()
    own = [] if options.prefix else OWN_TOOLS
    Echo([*own, *(_extra_tool(options.prefix or "extra", number) for number in range(options.extra))]).run()
