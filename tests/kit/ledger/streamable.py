"""The same server over streamable HTTP, with the faults a network adds."""

import gzip
import json
import queue
import select
import socket
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.kit.ledger.journal import Journal
from tests.kit.ledger.protocol import Protocol
from tests.kit.ledger.running import Json

POLL_S = 0.02
FAULTS = {
    "401": "not authorised any more",
    "404": "the session is unknown",
    "500": "an internal error",
    "503": "too busy, Retry-After 1",
    "redirect": "302 to a private address",
    "cut": "the stream ends after its headers",
    "text": "a body of another content type",
    "gzip": "64 MiB of zeros in a small compressed body",
}


def serve_http(protocol: Protocol, journal: Journal, port: int, faults: list[str], bearer: str | None) -> None:
    """Runs until the process ends. The first line on standard output names the address."""
    server = Server(protocol, journal, port, dict(_placed(fault) for fault in faults), bearer)
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.server_address[1]}/mcp"}) + "\n")
    sys.stdout.flush()
    server.serve_forever(poll_interval=0.05)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, protocol: Protocol, journal: Journal, port: int, faults: dict[int, str], bearer: str | None):
        super().__init__(("127.0.0.1", port), Exchange)
        self.protocol, self.journal, self.faults, self.bearer = protocol, journal, faults, bearer
        self.sessions: set[str] = set()
        self.calls = 0
        self.lock = threading.Lock()

    def fault_of_call(self) -> str | None:
        with self.lock:
            self.calls += 1
            return self.faults.get(self.calls)


class Exchange(BaseHTTPRequestHandler):
    """One connection of a client's."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.journal.write("request", method=message.get("method"), headers=headers)
        fault = self.server.fault_of_call() if message.get("method") == "tools/call" else None
        if self.server.bearer and headers.get("authorization") != f"Bearer {self.server.bearer}":
            self._plain(401, headers={"WWW-Authenticate": "Bearer"})
        elif not self._known(message, headers):
            self._plain(404)
        elif fault:
            self._fail(fault)
        elif "method" in message and "id" in message:
            self._answer(message)
        else:
            self.server.protocol.receive(message, lambda reply: None)
            self._plain(202)

    def do_GET(self) -> None:
        """The handshake era's standing stream, for what belongs to no request."""
        if self.server.protocol.stateless:
            self._plain(405)
            return
        messages: queue.Queue[Json] = queue.Queue()
        self.server.protocol.standing.add(messages.put)  # before the headers, which are the client's acknowledgement
        self._start_events()
        self.server.journal.write("listening")
        for message in self._until_gone(messages):
            self._send_event(message)
        self.server.protocol.standing.discard(messages.put)

    def do_DELETE(self) -> None:
        self.server.sessions.discard(self.headers.get("Mcp-Session-Id", ""))
        self._plain(200)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _known(self, message: Json, headers: dict[str, str]) -> bool:
        if self.server.protocol.stateless or message.get("method") in ("initialize", "server/discover"):
            return True
        return headers.get("mcp-session-id") in self.server.sessions

    def _answer(self, request: Json) -> None:
        replies: queue.Queue[Json] = queue.Queue()
        threading.Thread(target=self.server.protocol.answer, args=(request, replies.put), daemon=True).start()
        session = {}
        if request["method"] == "initialize":
            session["Mcp-Session-Id"] = uuid.uuid4().hex
            self.server.sessions.add(session["Mcp-Session-Id"])
        self._start_events(session)
        for reply in self._until_gone(replies):
            self._send_event(reply)
            if reply.get("id") == request["id"] and "method" not in reply:
                return
        self.server.protocol.disconnected(request["id"])

    def _until_gone(self, messages: "queue.Queue[Json]") -> Iterator[Json]:
        while True:
            try:
                yield messages.get(timeout=POLL_S)
            except queue.Empty:
                if self._gone():
                    return

    def _start_events(self, headers: dict[str, str] | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()

    def _send_event(self, message: Json) -> None:
        with suppress(OSError):  # the client has left
            self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")
            self.wfile.flush()

    def _fail(self, fault: str) -> None:
        match fault:
            case "redirect":
                self._plain(302, headers={"Location": "http://169.254.169.254/latest/"})
            case "cut":
                self._start_events()
            case "text":
                self._plain(200, b"hello", {"Content-Type": "text/plain"})
            case "gzip":
                bomb = gzip.compress(b"\0" * 64 * 1024 * 1024)
                self._plain(200, bomb, {"Content-Type": "application/json", "Content-Encoding": "gzip"})
            case "503":
                self._plain(503, headers={"Retry-After": "1"})
            case _:
                self._plain(int(fault))

    def _plain(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _gone(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except ConnectionResetError:  # a client that went without reading what was on its way
            return True


def _placed(fault: str) -> tuple[int, str]:
    """`401@3` is the fault of the third call; without a number, of the first."""
    kind, _, place = fault.partition("@")
    if kind not in FAULTS:
        sys.exit(f"unknown HTTP fault {kind}; one of {', '.join(FAULTS)}")
    return int(place or 1), kind
