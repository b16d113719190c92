"""A standard output that misbehaves as told. Faults that concern answers come right before each of them."""

import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress

from tests.kit.ledger.running import Json

FAULTS = {
    "junk": "a line that is no JSON before each answer",
    "utf8": "a line of bytes that are no UTF-8 before each answer",
    "utf8-answer": "every ~ of an answer becomes a byte that is no UTF-8",
    "half": "the first half of each answer as a line of its own before it",
    "split": "each answer in two writes",
    "wrong-id": "an answer to nobody before each answer",
    "duplicate": "each answer twice",
    "server-request": "a request of the server's with the same id before each answer",
    "endless": "16 MiB without a newline before each answer to a call",
    "stderr": "1 MiB on standard error before each answer",
    "mute": "never an answer",
    "exit": "exit code 1 at once",
}


class Output:
    """`times` repeats what comes before an answer."""

    def __init__(self, faults: list[str], times: int = 1) -> None:
        self._faults, self._times = faults, times
        self._lock = threading.Lock()

    def send(self, message: Json) -> None:
        if "mute" in self._faults:
            return
        line = _line(message)
        with self._lock:
            if "method" not in message:
                line = self._spoil(message, line)
            _write(1, line)

    def _spoil(self, message: Json, line: bytes) -> bytes:
        for fault in self._faults:
            if fault in BEFORE:
                _write(1, BEFORE[fault](message, line), self._times)
        if "stderr" in self._faults:
            _write(2, (b"e" * 1023 + b"\n") * 1024, self._times)
        if "endless" in self._faults and "content" in (message.get("result") or {}):
            _write(1, b"x" * 16 * 1024 * 1024, self._times)
        if "utf8-answer" in self._faults:
            line = line.replace(b"~", b"\xff")
        if "split" in self._faults:
            _write(1, line[: len(line) // 2])
            line = line[len(line) // 2 :]
        return line


BEFORE: dict[str, Callable[[Json, bytes], bytes]] = {
    "junk": lambda message, line: b"this is not JSON\n",
    "utf8": lambda message, line: b'{"bad": "\xff\xfe"}\n',
    "half": lambda message, line: line[: len(line) // 2] + b"\n",
    "wrong-id": lambda message, line: b'{"jsonrpc": "2.0", "id": "nobody", "result": {}}\n',
    "server-request": lambda message, line: _line({"jsonrpc": "2.0", "id": message["id"], "method": "roots/list"}),
    "duplicate": lambda message, line: line,
}


def _line(message: Json) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _write(fd: int, data: bytes, times: int = 1) -> None:
    with suppress(BrokenPipeError):  # the client has left; the end of standard input follows
        for _ in range(times):
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
