"""A model server that costs next to nothing, so that what is measured is not it. Run as a process of its own; it prints
its port.

What it answers depends on the request alone. The last `bench:...` in the body is the order:

    bench:s1:NONCE              two rounds of one `echo` call, then the answer
    bench:s2:NONCE              one round of eight `sleep_ms` calls of 200 ms, then the answer
    bench:stream:COUNT:NONCE    COUNT tokens, all at once
    bench:paced:COUNT:MS:NONCE  COUNT tokens, MS apart, each one the time at which it was sent

How far a turn has come is read from the `tool` messages after the order. The answer says how many of the results it
asked for are really there, so that nobody gains by skipping work.
"""

import asyncio
import re
import sys
import time
import zlib
from dataclasses import dataclass
from typing import cast

import uvloop

ORDER = re.compile(rb'bench:([a-z0-9]+):([^"\\\s]+)')
TOOL_ROLE = re.compile(rb'"role": ?"tool"')
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: "
STREAM_HEAD = HEAD + b"text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
CHUNK = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"stub","choices":[{"index":0,"delta":'
USAGE = b'"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}'
LAST = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"stub","choices":[],' + USAGE + b"}\n\n"
END = LAST + b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Shape:
    """So many rounds of so many calls of one tool."""

    rounds: int
    calls: int
    tool: bytes
    arguments: bytes  # JSON inside a JSON string; {} is where the call's tag goes


SHAPES = {
    b"s1": Shape(2, 1, b"echo", rb"{\"text\":\"TAG\"}"),
    b"s2": Shape(1, 8, b"sleep_ms", rb"{\"ms\":200,\"text\":\"TAG\"}"),
}


class StubLLM(asyncio.Protocol):
    def __init__(self) -> None:
        self._held = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._held = self._held + data if self._held else data
        while (body := self._next_body()) is not None:
            self._answer(body)

    def _next_body(self) -> bytes | None:
        end = self._held.find(b"\r\n\r\n")
        if end < 0:
            return None
        found = LENGTH.search(self._held, 0, end + 2)
        size = end + 4 + (int(found[1]) if found else 0)
        if len(self._held) < size:
            return None
        body, self._held = self._held[end + 4 : size], self._held[size:]
        return body

    def _answer(self, body: bytes) -> None:
        start = body.rfind(b"bench:")
        order = ORDER.match(body, start) if start >= 0 else None
        if order is None:  # a probe, such as a list of models
            self._transport.write(_whole(b'{"object":"list","data":[{"id":"stub","object":"model"}]}'))
            return
        name, rest = order[1], order[2]
        if name == b"paced":
            count, pause_ms, nonce = rest.split(b":")
            Paced(self._transport, int(count), int(pause_ms) / 1000).start(zlib.crc32(nonce))
            return
        calls, text = _reply(name, rest, body, start)
        streamed = b'"stream":true' in body or b'"stream": true' in body
        self._transport.write(_stream(calls, text) if streamed else _complete(calls, text))


@dataclass(slots=True)
class Paced:
    """Tokens that carry the moment they were sent. The first comes after a pause that differs from stream to stream."""

    transport: asyncio.Transport
    left: int
    pause_s: float

    def start(self, seed: int) -> None:
        self.transport.write(STREAM_HEAD)
        asyncio.get_running_loop().call_later(self.pause_s * (seed % 1000) / 1000, self._next)

    def _next(self) -> None:
        if self.transport.is_closing():
            return
        if self.left == 0:
            self.transport.write(_chunked(_token(b"", b'"stop"') + END) + b"0\r\n\r\n")
            return
        self.left -= 1
        self.transport.write(_chunked(_token(b'"content":"%d "' % time.monotonic_ns())))
        asyncio.get_running_loop().call_later(self.pause_s, self._next)


Calls = list[tuple[bytes, bytes, bytes]]  # id, name, arguments


def _reply(name: bytes, rest: bytes, body: bytes, start: int) -> tuple[Calls, bytes]:
    if name == b"stream":
        count, nonce = rest.split(b":")
        return [], b"word " * (int(count) - 1) + nonce
    shape = SHAPES[name]
    done = len(TOOL_ROLE.findall(body, start)) // shape.calls
    if done < shape.rounds:
        tags = [_tag(rest, done, place) for place in range(shape.calls)]
        return [(b"call_" + tag, shape.tool, shape.arguments.replace(b"TAG", tag)) for tag in tags], b""
    wanted = [_tag(rest, turn, place) for turn in range(shape.rounds) for place in range(shape.calls)]
    seen = sum(body.find(b"echo " + tag, start) >= 0 for tag in wanted)
    return [], b"The tools have been asked and this is done: %s %d/%d" % (rest, seen, len(wanted))


def _tag(nonce: bytes, turn: int, place: int) -> bytes:
    return b"%s-%d-%d" % (nonce, turn, place)


def _stream(calls: Calls, text: bytes) -> bytes:
    if calls:
        said = b"".join(
            _token(
                b'"tool_calls":[{"index":%d,"id":"%s","type":"function","function":{"name":"%s","arguments":"%s"}}]'
                % (place, *call)
            )
            for place, call in enumerate(calls)
        )
        return _whole_stream(said + _token(b"", b'"tool_calls"'))
    words = text.split(b" ")
    said = b"".join(_token(b'"content":"%s "' % word) for word in words[:-1]) + _token(b'"content":"%s"' % words[-1])
    return _whole_stream(said + _token(b"", b'"stop"'))


def _whole_stream(events: bytes) -> bytes:
    return STREAM_HEAD + _chunked(_token(b'"role":"assistant"') + events + END) + b"0\r\n\r\n"


def _complete(calls: Calls, text: bytes) -> bytes:
    made = b",".join(
        b'{"id":"%s","type":"function","function":{"name":"%s","arguments":"%s"}}' % call for call in calls
    )
    said = b'"content":null,"tool_calls":[' + made + b"]" if calls else b'"content":"' + text + b'"'
    message = b'{"index":0,"message":{"role":"assistant",' + said + b'},"finish_reason":'
    finish = b'"tool_calls"' if calls else b'"stop"'
    head = b'{"id":"c","object":"chat.completion","created":1,"model":"stub","choices":['
    return _whole(head + message + finish + b"}]," + USAGE + b"}")


def _token(delta: bytes, finish: bytes = b"null") -> bytes:
    return CHUNK + b"{" + delta + b'},"finish_reason":' + finish + b"}]}\n\n"


def _chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


def _whole(body: bytes) -> bytes:
    return HEAD + b"application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(StubLLM, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    # The one who started it holds the other end of stdin; when that closes, nobody needs it any more.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)


if __name__ == "__main__":
    uvloop.run(_serve())
