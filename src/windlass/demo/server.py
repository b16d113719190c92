"""The demo MCP server: JSON-RPC over stdio in the handshake era, on the standard library alone, so that it is up in a
few hundredths of a second. `python -m windlass.demo.server --notes FOLDER`."""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from windlass.demo.tools import TOOLS, Cancelled, Folders, ToolFailure, ToolRequest, text_block

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
SAMPLE = Path(__file__).parent / "sample"
INSTRUCTIONS = "Tools to try Windlass with. Paths start at a sample folder; notes go to the data folder."

Json = dict[str, Any]


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] != "--notes":
        sys.exit("usage: python -m windlass.demo.server --notes FOLDER")
    notes = sys.argv[2]
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    serve(sys.stdin, sys.stdout, Folders(SAMPLE, Path(notes)))


def serve(incoming: TextIO, outgoing: TextIO, folders: Folders) -> None:
    """Answer until the other side closes. Calls run in threads, so that they overlap and can be cancelled; the lock
    keeps their lines whole on the shared stream."""
    lock = threading.Lock()

    def send(message: Json) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        with lock:
            outgoing.write(line + "\n")
            outgoing.flush()

    server = DemoServer(folders, send)
    for line in incoming:
        if line.strip():
            server.receive(line)


class RpcError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class DemoServer:
    def __init__(self, folders: Folders, send: Callable[[Json], None]) -> None:
        self._folders = folders
        self._send = send
        self._calls: dict[object, ToolRequest] = {}

    def receive(self, line: str) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return self._refuse(None, RpcError(-32700, "This line is not valid JSON."))
        match message:
            case {"method": "tools/call", "id": request_id}:
                self._begin(request_id, message.get("params"))
            case {"method": str(method), "id": request_id}:
                self._answer(request_id, method, message.get("params"))
            case {"method": "notifications/cancelled", "params": {"requestId": str() | int() as request_id}}:
                if call := self._calls.get(request_id):
                    call.cancelled.set()
            case {"id": request_id} if "result" not in message and "error" not in message:
                self._refuse(request_id, RpcError(-32600, "This is not a request."))

    def _answer(self, request_id: object, method: str, params: object) -> None:
        try:
            self._send({"id": request_id, "result": _result(method, params if isinstance(params, dict) else {})})
        except RpcError as error:
            self._refuse(request_id, error)

    def _begin(self, request_id: object, params: object) -> None:
        given: Json = params if isinstance(params, dict) else {}
        name, arguments, meta = given.get("name"), given.get("arguments") or {}, given.get("_meta") or {}
        if name not in TOOLS:
            return self._refuse(request_id, RpcError(-32602, f"Unknown tool: {name}"))
        if not isinstance(arguments, dict) or not isinstance(meta, dict):
            return self._refuse(request_id, RpcError(-32602, "`arguments` and `_meta` must be objects."))
        # Registered before the thread starts, or a cancellation that follows at once would find no call.
        call = self._calls[request_id] = ToolRequest(
            arguments, self._folders, self._progress(meta.get("progressToken"))
        )
        threading.Thread(target=self._run, args=(request_id, name, call), daemon=True).start()

    def _run(self, request_id: object, name: str, call: ToolRequest) -> None:
        try:
            result = TOOLS[name].result(call)
        except Cancelled:
            return
        except (ToolFailure, OSError) as failure:
            result = {"content": [text_block(str(failure))], "isError": True}
        finally:
            self._calls.pop(request_id, None)
        self._send({"id": request_id, "result": result})

    def _progress(self, token: object) -> Callable[[int, int, str], None]:
        def report(progress: int, total: int, message: str) -> None:
            if token is not None:
                about = {"progressToken": token, "progress": progress, "total": total, "message": message}
                self._send({"method": "notifications/progress", "params": about})

        return report

    def _refuse(self, request_id: object, error: RpcError) -> None:
        self._send({"id": request_id, "error": {"code": error.code, "message": str(error)}})


def _result(method: str, params: Json) -> Json:
    match method:
        case "initialize":
            asked = params.get("protocolVersion")
            return {
                "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "windlass-demo", "title": "Demo tools", "version": "1.0"},
                "instructions": INSTRUCTIONS,
            }
        case "tools/list":
            return {"tools": [tool.definition for tool in TOOLS.values()]}
        case "ping":
            return {}
    raise RpcError(-32601, f"Method not found: {method}")


if __name__ == "__main__":
    main()
