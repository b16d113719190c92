"""One running call, as the tools see it."""

import os
import stat
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

from tests.kit.ledger.journal import Journal

Json = dict[str, Any]
POLL_S = 0.005
_numbers = count()


class RpcError(Exception):
    """Answered as a JSON-RPC error, not as a result."""

    def __init__(self, code: int, message: str, data: Json | None = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class InputNeeded(Exception):
    """A stateless call that cannot go on without answers from a person."""

    def __init__(self, requests: Json) -> None:
        super().__init__("input needed")
        self.requests = requests


class Cancelled(Exception):
    """The client took the call back; nobody waits for an answer."""


class Call:
    """`ask` puts a question to the person behind the client; `notify` sends a notification of this call's."""

    def __init__(
        self,
        params: Json,
        journal: Journal,
        notify: Callable[[str, Json], None],
        ask: Callable[[Json], Json],
        gate: str | None = None,
    ) -> None:
        self.tool: str = params["name"]
        self.arguments: Json = params.get("arguments") or {}
        self.meta: Json = params.get("_meta") or {}
        self.cancelled = threading.Event()
        self.gate: str | None = self.arguments.get("gate") or gate
        self.ask = ask
        self.number = next(_numbers)
        self._journal, self._notify = journal, notify

    def __getitem__(self, argument: str) -> Any:
        return self.arguments[argument]

    def get(self, argument: str, default: Any = None) -> Any:
        return self.arguments.get(argument, default)

    def note(self, event: str, **fields: object) -> None:
        """Write to the ledger; `meta` is what the client added of its own, such as a key for the call."""
        own = {
            k: v for k, v in self.meta.items() if k != "progressToken" and not k.startswith("io.modelcontextprotocol/")
        }
        effect_id = self.get("effect_id")
        self._journal.write(event, tool=self.tool, call=self.number, effect_id=effect_id, meta=own, **fields)

    def progress(self, done: float, total: float | None, message: str) -> None:
        token = self.meta.get("progressToken")
        if token is not None:
            params = {"progressToken": token, "progress": done, "total": total, "message": message}
            self._notify("notifications/progress", params)

    def wait_for(self, gate: str | None) -> None:
        """Wait until the file appears, or until someone writes to the named pipe; stops when the call is cancelled."""
        if gate and os.path.exists(gate) and stat.S_ISFIFO(os.stat(gate).st_mode):
            with open(gate, "rb") as pipe:
                pipe.read(1)
            return
        while not (gate and os.path.exists(gate)):
            if self.cancelled.wait(POLL_S) and not self.get("stubborn"):
                self.note("cancelled")
                raise Cancelled
