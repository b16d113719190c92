"""A server's program as the pair of streams `mcp.Client` wants. The SDK's own reader takes quadratic time on long lines
and dies of one bad byte; this one parses each line once, repairs what can be repaired, and lets a line that cannot be
read fail only its own request.

Tool calls of the handshake era take a direct way beside the SDK's session (`DirectCalls`), and an answer that is
nothing but text is read without the SDK's models (`plain_answer`, `plain_result`): benchmarks/NOTES.md has the gain.

Plain futures and no task group: nothing here cares which task closes it. Imported late, with `sdk`."""

import asyncio
import gc
import json
import re
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, Self

import msgspec

from windlass.core.values import value_object
from windlass.servers.endings import ITS_INPUT, stray_output
from windlass.servers.sdk import MCPError, SessionMessage, anyio, types
from windlass.servers.stdio import PEEK, StdioProcess, StrayLines
from windlass.servers.values import CallDeadline, CallResult, LongLine, TextPart, current

TOO_LONG, UNREADABLE = -32010, -32011
SPILLED = "windlass/spilled"
SECOND_CHANCE_S = 2.0
FIRST_ID = 1_000_000_000  # the SDK counts from 0
LONGEST_PLAIN = 1 << 20
MakeProcess = Callable[[Callable[[bytes], None], Callable[[LongLine], None], Callable[[], None]], StdioProcess]
Progress = Callable[[float, float | None, str | None], None]
_OUR_OWN = {"initialize", "server/discover"}  # what only a client asks: the program repeats its input
_CROWDED, _ROOMY = 256, 128  # messages in the inbox at which reading pauses, and at which it resumes
_BIG = 1 << 20
_json = msgspec.json.Encoder().encode
_ID = rb'("(?:[^"\\]|\\.){0,256}"|-?\d{1,18})'
_PAIR = re.compile(rb'\s*[{,]\s*"(jsonrpc|id)"\s*:\s*' + _ID)
_BODY = re.compile(rb'\s*[{,]\s*"(result|error|method|params)"\s*:')
_LAST = re.compile(rb',\s*"id"\s*:\s*' + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class Pipes:
    """An async context manager that gives (read, write).

    Two callers write to the program: the SDK's session (`send`) and the direct calls (`call`). Each hands over whole
    lines, and their ids cannot clash. Answers are delivered in the order in which the program wrote them."""

    def __init__(self, make: MakeProcess, on_lost: Callable[[], None]) -> None:
        self.process = make(self._on_line, self._on_long, self._on_end)
        self.lost = False
        self.spilled: dict[int | str, LongLine] = {}
        self._on_lost = on_lost
        self._waiting: set[int | str] = set()  # ids that were sent and not answered: the only answers let through
        self._direct = DirectCalls()
        self._inbox = _Inbox(lambda: self.process.pause(False))
        self._stray = StrayLines()

    @property
    def bad_lines(self) -> int:
        return self._stray.count

    async def __aenter__(self) -> tuple["_Inbox", "_Outbox"]:
        try:
            await self.process.start()
        except BaseException:  # a cancel, mostly: no process may outlive a start that nobody waits for
            await self.process.stop()
            raise
        return self._inbox, _Outbox(self)

    async def __aexit__(self, *_: object) -> None:
        self._inbox.end()
        await self.process.stop()
        for line in self.spilled.values():
            if line.file:
                line.file.close()

    async def send(self, message: types.JSONRPCMessage) -> None:
        call = current.get()
        is_request = isinstance(message, types.JSONRPCRequest)
        try:
            await self.process.write(lambda: _encode(message), wait=is_request)
        except BrokenPipeError:
            raise anyio.BrokenResourceError from None
        # The id is added after the write without an await between: no answer can come before its id is known.
        if isinstance(message, types.JSONRPCRequest):
            self._waiting.add(message.id)
            if call:
                call.sent = True
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._waiting.discard((message.params or {}).get("requestId", ""))

    async def call(
        self, tool: str, arguments: dict[str, Any], meta: dict[str, Any], call: CallDeadline, on_progress: Progress
    ) -> dict[str, Any]:
        """`tools/call` of the handshake era, without the SDK's session around it. Raises `MCPError`. A call that is
        cancelled is cancelled at the server too."""
        request_id, answer = self._direct.begin(on_progress)
        try:
            await self.process.write(lambda: call_line(request_id, tool, arguments, meta), wait=True)
            self._waiting.add(request_id)
            call.sent = True
            return await answer
        except BrokenPipeError:
            raise MCPError(types.CONNECTION_CLOSED, "Connection closed") from None
        except asyncio.CancelledError:
            # Only a request that was sent and not answered is cancelled: one that never left us is unknown to the
            # server, and one that was answered is over. `wait=False`, since a cancelled task must not wait again.
            if request_id in self._waiting:
                self._waiting.discard(request_id)
                with suppress(BrokenPipeError):
                    await self.process.write(lambda: cancel_line(request_id, "nobody waits for it"), wait=False)
            raise
        finally:
            self._direct.end(request_id)

    def _on_line(self, line: bytes) -> None:
        text = line.strip(b" \t\r\xef\xbb\xbf")
        if not text:
            return
        if not text.startswith(b"{"):
            self.process.stray = self.process.stray or stray_output(text)
            self._bad()
            return
        # Here, in the order of the lines, and not in a task: an answer must not overtake the progress before it.
        if (answer := plain_answer(text)) and self._direct.waits_for(answer.id) and self._expected(answer.id):
            self._stray.good_message()
            self._direct.answer(answer.id, answer.result)
            return
        try:
            message = _decode(text)
        except ValueError:
            self._bad()
            # Half an answer may be followed by the whole one; the request fails only when none comes.
            peeked = peek(text[:PEEK], text[-PEEK:])
            asyncio.get_running_loop().call_later(
                SECOND_CHANCE_S, self._fail, peeked, UNREADABLE, "The server's answer was not readable JSON."
            )
            return
        self._deliver(message)

    def _deliver(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            if not self._expected(message.id):
                self._bad()
                return
            self.process.spoke = True
        elif isinstance(message, types.JSONRPCRequest) and message.method in _OUR_OWN:
            self.process.stray = self.process.stray or ITS_INPUT
            self.process.kill()
            return
        self._stray.good_message()
        self._hand_over(message)
        if self._inbox.size > _CROWDED:
            self.process.pause(True)

    def _hand_over(self, message: types.JSONRPCMessage) -> None:
        if not self._direct.take(message):
            self._inbox.put(SessionMessage(message))

    def _expected(self, request_id: int | str | None) -> bool:
        """Whether we asked; other answers, and second ones, are dropped. Some servers turn our number to text."""
        if isinstance(request_id, str) and request_id not in self._waiting and re.fullmatch("[0-9]+", request_id):
            request_id = int(request_id)
        if request_id is None or request_id not in self._waiting:
            return False
        self._waiting.discard(request_id)
        return True

    def _on_long(self, line: LongLine) -> None:
        peeked = peek(line.head, line.tail)
        if peeked.kind == "result" and peeked.id is not None and line.file and self._expected(peeked.id):
            self._stray.good_message()
            self.spilled[peeked.id] = line
            # `isError` keeps the SDK from checking content that is not there; `session` finds the file by the mark.
            # `contents` makes it the answer to reading a resource as well.
            body = {
                "content": [],
                "contents": [],
                "isError": True,
                "resultType": "complete",
                "_meta": {SPILLED: peeked.id},
            }
            self._hand_over(types.JSONRPCResponse(jsonrpc="2.0", id=peeked.id, result=body))
            return
        if line.file:
            line.file.close()
        self._bad()
        self._fail(peeked, TOO_LONG, f"The server's answer of {line.size:,} bytes is longer than can be kept.")

    def _fail(self, peeked: "Peeked", code: int, why: str) -> None:
        if peeked.kind == "other":
            return
        request_id = peeked.id
        # Without a readable id only a single open request can be meant; of several, each keeps its own deadline.
        if request_id is None and len(self._waiting) == 1:
            (request_id,) = self._waiting
        if request_id is not None and self._expected(request_id):
            error = types.ErrorData(code=code, message=why)
            self._hand_over(types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error))

    def _bad(self) -> None:
        if self._stray.add(asyncio.get_running_loop().time()):
            self.process.kill()  # it does not speak MCP

    def _on_end(self) -> None:
        self.lost = True
        self._direct.lost()
        self._inbox.end()
        self._on_lost()


class _Inbox:
    """What `mcp` calls a ReadStream."""

    def __init__(self, on_room: Callable[[], None]) -> None:
        self._items: deque[SessionMessage | Exception] = deque()
        self._on_room = on_room
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False
        self._taken = 0

    @property
    def size(self) -> int:
        return len(self._items)

    def put(self, item: SessionMessage) -> None:
        self._items.append(item)
        self._wake()

    def end(self) -> None:
        self._ended = True
        self._wake()

    async def receive(self) -> SessionMessage | Exception:
        self._taken += 1
        if self._items and self._taken % 8 == 0:
            await asyncio.sleep(0)  # a flood must not block the loop: each item costs more in tasks than in parsing
        while not self._items:
            if self._ended:
                raise anyio.EndOfStream
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if len(self._items) == _ROOMY:
            self._on_room()
        return self._items.popleft()

    async def aclose(self) -> None:
        self._items.clear()
        self.end()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)


class _Outbox:
    """What `mcp` calls a WriteStream. Closing it does nothing: stdin closes with the process."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes

    async def send(self, item: SessionMessage, /) -> None:
        await self._pipes.send(item.message)

    async def aclose(self) -> None:
        return None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


class DirectCalls:
    """Tool calls that bypass the SDK's session, with ids of their own. In the handshake era a call is one line out and
    one line back; through the session it costs more than twice as much. `take` is offered everything that arrives.

    A waiter that was cancelled has a future that is done: its answer, when it still comes, is dropped."""

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
            answer.exception()  # retrieved here for a call that failed before it awaited its answer
        del self._progress[request_id]

    def waits_for(self, request_id: int) -> bool:
        return request_id in self._answers

    def answer(self, request_id: int, result: dict[str, Any]) -> None:
        if not self._answers[request_id].done():
            self._answers[request_id].set_result(result)

    def take(self, message: types.JSONRPCMessage) -> bool:
        """Whether it belonged to one of these calls."""
        if isinstance(message, types.JSONRPCNotification):
            return message.method == "notifications/progress" and self._take_progress(message.params or {})
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

    def _take_progress(self, params: dict[str, Any]) -> bool:
        on_progress = self._progress.get(_number(params.get("progressToken")))
        if on_progress is None:
            return False
        try:
            progress = types.ProgressNotificationParams.model_validate(params, by_name=False)
        except ValueError:
            return True
        on_progress(progress.progress, progress.total, progress.message)
        return True


def call_line(request_id: int, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments, "_meta": {**meta, "progressToken": request_id}}
    return _json({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}) + b"\n"


def cancel_line(request_id: int, why: str) -> bytes:
    params = {"requestId": request_id, "reason": why}
    return _json({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}) + b"\n"


def _number(request_id: object) -> int:
    """Some servers turn our number to text."""
    if isinstance(request_id, str) and request_id.isdecimal():
        return int(request_id)
    return request_id if isinstance(request_id, int) else -1


# The line that a program sends most is the answer to a call, and in it nothing but text. It is read here without the
# SDK's models, which take four times as long. A line that is not exactly of this form is left to them: the result is
# the same either way (tests/servers/test_fast_decode.py).


class PlainAnswer(msgspec.Struct, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: int
    result: dict[str, Any]


class _Text(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["text"]
    text: str


class _Plain(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    content: list[_Text]
    is_error: bool = False


_answer = msgspec.json.Decoder(PlainAnswer).decode


def plain_answer(line: bytes) -> PlainAnswer | None:
    """The answer in a line, or None where the SDK must read it."""
    if len(line) > LONGEST_PLAIN:
        return None
    try:
        return _answer(line)
    except (ValueError, RecursionError):
        return None


def plain_result(result: dict[str, Any]) -> CallResult | None:
    """The result that is nothing but text, or None where the SDK must read it."""
    try:
        plain = msgspec.convert(result, _Plain)
    except ValueError:
        return None
    return CallResult(tuple(TextPart(block.text) for block in plain.content), failed=plain.is_error)


def _encode(message: types.JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _decode(text: bytes) -> types.JSONRPCMessage:
    paused = len(text) > _BIG and gc.isenabled()
    if paused:
        gc.disable()  # a collection in the middle doubles the time of a big message
    try:
        return _repaired(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    finally:
        if paused:
            gc.enable()


def _repaired(text: bytes) -> types.JSONRPCMessage:
    try:
        return _validated(text)
    except ValueError:
        repaired = json.dumps(json.loads(text.decode("utf-8", "replace")), ensure_ascii=False)
        return _validated(repaired.encode("utf-8", "replace"))


def _validated(text: bytes) -> types.JSONRPCMessage:
    if b'"method"' not in text[:200]:
        try:  # three times as fast as the union of all kinds
            return types.JSONRPCResponse.model_validate_json(text, by_name=False)
        except ValueError:
            pass
    return types.jsonrpc_message_adapter.validate_json(text, by_name=False)


@value_object
class Peeked:
    """`other` is a request or notification of the server's own, whose id is none of ours."""

    kind: Literal["result", "error", "other"]
    id: int | str | None = None


def peek(head: bytes, tail: bytes) -> Peeked:
    """What can be read from the two ends of a JSON-RPC message, when the whole is too long or too broken to parse. Some
    servers write the id first, some last. Only the top level counts: the brace after an id at the very end can only be
    the message's own."""
    found: bytes | None = None
    position = 0
    while pair := _PAIR.match(head, position):
        found = pair[2] if pair[1] == b"id" else found
        position = pair.end()
    body = _BODY.match(head, position)
    if body is None or body[1] in (b"method", b"params"):
        return Peeked("other")
    if found is None and (last := _LAST.search(tail)):
        found = last[1]
    return Peeked("result" if body[1] == b"result" else "error", _id(found))


def _id(text: bytes | None) -> int | str | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, int | str) else None
