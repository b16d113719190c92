"""Tool calls that go straight down a pipe, beside the SDK's session and by ids of their own. In the handshake era a
call is one line out and one line back; through the session it costs ten times as much. Imported late, with `sdk`."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from windlass.servers.sdk import MCPError, types

FIRST_ID = 1_000_000_000  # the SDK counts from 0
Progress = Callable[[float, float | None, str | None], None]
_encode = msgspec.json.Encoder().encode


class DirectCalls:
    """Calls under way. `take` is offered everything that arrives."""

    def __init__(self) -> None:
        self._last_id = FIRST_ID
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._progress: dict[int, Progress] = {}

    def begin(self, on_progress: Progress) -> tuple[int, "asyncio.Future[dict[str, Any]]"]:
        self._last_id += 1
        self._answers[self._last_id] = answer = asyncio.get_running_loop().create_future()
        self._progress[self._last_id] = on_progress
        return self._last_id, answer

    def end(self, request_id: int) -> None:
        answer = self._answers.pop(request_id)
        if answer.done() and not answer.cancelled():
            answer.exception()  # a call that failed before it waited has not looked at it
        del self._progress[request_id]

    def waits_for(self, request_id: int) -> bool:
        return request_id in self._answers

    def answer(self, request_id: int, result: dict[str, Any]) -> None:
        if not self._answers[request_id].done():
            self._answers[request_id].set_result(result)

    def take(self, message: types.JSONRPCMessage) -> bool:
        """Whether it belonged to one of these calls."""
        if isinstance(message, types.JSONRPCNotification):
            return message.method == "notifications/progress" and self._heard(message.params or {})
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return False
        answer = self._answers.get(_number(message.id))
        if answer is None:
            return False
        if not answer.done():
            if isinstance(message, types.JSONRPCResponse):
                answer.set_result(message.result)
            else:
                error = message.error
                answer.set_exception(MCPError(error.code, error.message, error.data))
        return True

    def lost(self) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(MCPError(types.CONNECTION_CLOSED, "Connection closed"))

    def _heard(self, params: dict[str, Any]) -> bool:
        on_progress = self._progress.get(_number(params.get("progressToken")))
        if on_progress is None:
            return False
        try:
            told = types.ProgressNotificationParams.model_validate(params, by_name=False)
        except ValueError:
            return True
        on_progress(told.progress, told.total, told.message)
        return True


def call_line(request_id: int, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments, "_meta": {**meta, "progressToken": request_id}}
    return _encode({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}) + b"\n"


def cancel_line(request_id: int, why: str) -> bytes:
    params = {"requestId": request_id, "reason": why}
    return _encode({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}) + b"\n"


def _number(request_id: object) -> int:
    """Some servers turn our number to text."""
    if isinstance(request_id, str) and request_id.isdecimal():
        return int(request_id)
    return request_id if isinstance(request_id, int) else -1
