"""The outside truth: every effect of every tool, in a file that is on disk before the tool goes on."""

import json
import os
import time


class Journal:
    """Appends JSON lines. Several processes may write to one file."""

    def __init__(self, path: str | None) -> None:
        self._fd = os.open(path or os.devnull, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._sync = path is not None

    def write(self, event: str, **fields: object) -> None:
        line = {"event": event, "at": time.monotonic(), "pid": os.getpid(), **fields}
        os.write(self._fd, json.dumps(line).encode() + b"\n")
        if self._sync:
            os.fsync(self._fd)
