"""The floor as a server: uvicorn, a token, the same turn, its text streamed out as it comes."""

import asyncio
import hmac
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import msgspec
import uvicorn

from benchmarks.floor import Durability, Floor

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
SSE = [(b"content-type", b"text/event-stream")]
JSON = [(b"content-type", b"application/json")]


class Chat(msgspec.Struct):
    content: str


class Import(msgspec.Struct):
    messages: list[msgspec.Raw] = []


class App:
    def __init__(self, floor: Floor, token: str) -> None:
        self._floor = floor
        self._token = f"Bearer {token}".encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return
        if scope["path"] != "/health" and not self._allowed(scope):
            await _send(send, 401, JSON, b"{}")
            return
        match scope["path"].strip("/").split("/"):
            case ["health"]:
                await _send(send, 200, JSON, b"{}")
            case ["conversations"]:
                prior = msgspec.json.decode(await _body(receive), type=Import).messages
                number = self._floor.conversation([bytes(message) for message in prior])
                await _send(send, 201, JSON, b'{"id":"%d"}' % number)
            case ["conversations", number, "chat"]:
                asked = msgspec.json.decode(await _body(receive), type=Chat)
                await self._chat(int(number), asked.content, send)
            case _:
                await _send(send, 404, JSON, b"{}")

    async def _chat(self, conversation: int, text: str, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": SSE})
        waiting: asyncio.Queue[bytes] = asyncio.Queue()
        turn = asyncio.create_task(self._floor.turn(conversation, text, waiting.put_nowait))
        turn.add_done_callback(lambda _: waiting.put_nowait(b""))
        while piece := await waiting.get():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        done = b"event: done\ndata: " + msgspec.json.encode({"text": turn.result()}) + b"\n\n"
        await send({"type": "http.response.body", "body": done})

    def _allowed(self, scope: Message) -> bool:
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        return hmac.compare_digest(given, self._token)


async def _body(receive: Receive) -> bytes:
    pieces: list[bytes] = []
    while True:
        message = await receive()
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(pieces)


async def _send(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


async def main(floor: Floor, token: str) -> None:
    await floor.open()
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(App(floor, token), log_level="warning", access_log=False, lifespan="off", loop="uvloop")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listening]))
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    server.should_exit = True
    await serving
    floor.close()


if __name__ == "__main__":
    folder, durability, port, token = sys.argv[1:]
    kind: Durability = "full" if durability == "full" else "normal"
    config_loop = uvicorn.Config(App).get_loop_factory()
    with asyncio.Runner(loop_factory=config_loop) as runner:
        runner.run(main(Floor(Path(folder), kind, int(port)), token))
