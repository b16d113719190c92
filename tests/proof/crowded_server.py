"""An MCP server with as many tools as it is told, and one whose name is as long as it is told:
`python -S -E crowded_server.py TOOLS LETTERS`."""

import json
import sys

TOOLS, LETTERS = int(sys.argv[1]), int(sys.argv[2])
SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string", "description": f"The {name}."} for name in ("path", "mode", "text")},
    "required": ["path"],
}


PAGE = 500


def answer(method: str, cursor: int) -> dict[str, object] | None:
    match method:
        case "initialize":
            about = {"name": "crowded", "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            names = [f"tool_{number}" for number in range(TOOLS)][cursor : cursor + PAGE]
            if cursor >= TOOLS and LETTERS:
                names = ["n" * LETTERS]
            more = {"nextCursor": str(cursor + PAGE)} if cursor < TOOLS else {}
            tools = [{"name": name, "description": "Does it.", "inputSchema": SCHEMA} for name in names]
            return {"tools": tools, **more}
        case _:
            return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], int((message.get("params") or {}).get("cursor") or 0))
        outcome = {"error": {"code": -32601, "message": "Unknown"}} if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}) + "\n")
        sys.stdout.flush()
