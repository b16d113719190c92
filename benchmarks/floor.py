"""A turn with nothing to spare: raw HTTP to the model, raw JSON-RPC to the tool server, one SQLite row per message,
each committed before the next step. What Windlass does on top of it is what Windlass costs."""

import asyncio
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, cast

import msgspec

from benchmarks.wire import Connection, connect, request

Durability = Literal["normal", "full"]
Out = Callable[[bytes], None]
ECHO = Path(__file__).with_name("echo_server.py")
TOOLS = (
    b'[{"type":"function","function":{"name":"echo","description":"Say the text back at once.","parameters":{"type":'
    b'"object","properties":{"text":{"type":"string"}},"required":["text"]}}},{"type":"function","function":{"name":'
    b'"sleep_ms","description":"Say the text back after a while.","parameters":{"type":"object","properties":{"ms":'
    b'{"type":"integer"},"text":{"type":"string"}},"required":["ms","text"]}}}]'
)
HEAD = b'{"model":"stub","messages":['
TAIL = b'],"stream":true,"stream_options":{"include_usage":true},"tools":' + TOOLS + b"}"


class Function(msgspec.Struct):
    name: str = ""
    arguments: str = ""


class Call(msgspec.Struct):
    index: int
    id: str = ""
    function: Function = msgspec.field(default_factory=Function)


class Delta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[Call] = []


class Choice(msgspec.Struct):
    delta: Delta


class Chunk(msgspec.Struct):
    choices: list[Choice]


class Content(msgspec.Struct):
    text: str


class Result(msgspec.Struct):
    content: list[Content] = []


class Response(msgspec.Struct):
    id: int
    result: Result


_chunk = msgspec.json.Decoder(Chunk).decode
_response = msgspec.json.Decoder(Response).decode
_dumps = msgspec.json.Encoder().encode


class Floor:
    def __init__(self, folder: Path, durability: Durability, model_port: int) -> None:
        self._db = sqlite3.connect(folder / "floor.db", isolation_level=None)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute(f"pragma synchronous = {durability}")
        self._db.execute("create table if not exists messages(n integer primary key, conversation int, body blob)")
        self._model_port = model_port
        self._idle: list[Connection] = []
        self._pipe = Pipe()
        self._past: dict[int, list[bytes]] = {}

    async def open(self) -> None:
        await self._pipe.open()

    def close(self) -> None:
        self._pipe.close()
        self._db.close()

    def conversation(self, prior: list[bytes]) -> int:
        number = len(self._past) + 1
        self._past[number] = list(prior)
        self._db.execute("begin")
        for message in prior:
            self._db.execute("insert into messages(conversation, body) values(?, ?)", (number, message))
        self._db.execute("commit")
        return number

    def rows(self) -> int:
        found: int = self._db.execute("select count(*) from messages").fetchone()[0]
        return found

    async def turn(self, conversation: int, text: str, out: Out) -> str:
        messages = self._past[conversation]
        self._keep(conversation, messages, {"role": "user", "content": text})
        while True:
            said, calls = await self._model(messages, out)
            if not calls:
                self._keep(conversation, messages, {"role": "assistant", "content": said})
                return said
            wire = [{"id": call.id, "type": "function", "function": call.function} for call in calls]
            self._keep(conversation, messages, {"role": "assistant", "content": None, "tool_calls": wire})
            for call, result in zip(calls, await self._run(calls), strict=True):
                self._keep(conversation, messages, {"role": "tool", "tool_call_id": call.id, "content": result})

    async def _run(self, calls: list[Call]) -> list[str]:
        if len(calls) == 1:
            return [await self._pipe.call(calls[0])]
        return await asyncio.gather(*(self._pipe.call(call) for call in calls))

    def _keep(self, conversation: int, messages: list[bytes], message: dict[str, object]) -> None:
        body = _dumps(message)
        self._db.execute("insert into messages(conversation, body) values(?, ?)", (conversation, body))
        messages.append(body)

    async def _model(self, messages: list[bytes], out: Out) -> tuple[str, list[Call]]:
        body = HEAD + b",".join(messages) + TAIL
        connection = self._idle.pop() if self._idle else await connect(self._model_port)
        reply = Reply(out)
        await connection.ask(request("POST", "/v1/chat/completions", self._model_port, body), reply.feed)
        self._idle.append(connection)
        return "".join(reply.words), [reply.calls[index] for index in sorted(reply.calls)]


class Reply:
    def __init__(self, out: Out) -> None:
        self.words: list[str] = []
        self.calls: dict[int, Call] = {}
        self._out = out
        self._held = b""

    def feed(self, piece: bytes) -> None:
        *events, self._held = (self._held + piece).split(b"\n\n")
        deltas: list[bytes] = []
        for event in events:
            if event == b"data: [DONE]":
                continue
            for choice in _chunk(event[6:]).choices:
                if choice.delta.content:
                    self.words.append(choice.delta.content)
                    said = _dumps({"text": choice.delta.content})
                    deltas.append(b"event: text_delta\ndata: " + said + b"\n\n")
                for call in choice.delta.tool_calls:
                    self.calls[call.index] = call
        if deltas:
            self._out(b"".join(deltas))


class Pipe(asyncio.SubprocessProtocol):
    """JSON-RPC over the pipes of the echo server."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._held = b""
        self._count = 0
        self._transport: asyncio.SubprocessTransport
        self._stdin: asyncio.WriteTransport

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.subprocess_exec(lambda: self, sys.executable, "-S", str(ECHO), stderr=None)
        self._stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        await self._ask(b'"method":"initialize","params":{"protocolVersion":"2025-06-18"}}\n')

    def close(self) -> None:
        self._transport.close()

    async def call(self, call: Call) -> str:
        arguments = call.function.arguments.encode()
        name = call.function.name.encode()
        line = await self._ask(b'"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' % (name, arguments))
        return _response(line).result.content[0].text

    async def _ask(self, rest: bytes) -> bytes:
        self._count += 1
        waiter: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[self._count] = waiter
        self._stdin.write(b'{"jsonrpc":"2.0","id":%d,' % self._count + rest)
        return await waiter

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        assert isinstance(data, bytes)
        *lines, self._held = (self._held + data).split(b"\n")
        for line in lines:
            self._waiting.pop(_response(line).id).set_result(line)
