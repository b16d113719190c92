"""Connections to a model server: kept, given back, and what comes over them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.kit.waiting import turns_of_the_loop
from tests.providers.kit import Talk, talking
from windlass.providers import ProviderConfig
from windlass.providers.config import endpoint_for
from windlass.providers.failures import BadAnswer, Cut, HungUp, NotConnected
from windlass.providers.http_client import MOST_HELD, HttpClient, HttpConnection

OK = b"HTTP/1.1 200 OK\r\n"
HI = OK + b"Content-Length: 2\r\n\r\nHi"
CONNECT_S = 10.0


class Speaker:
    """A server that answers each request on a connection with the next of its answers, and counts connections."""

    def __init__(self, *answers: bytes, hangs_up: bool = False) -> None:
        self.answers = answers
        self.hangs_up = hangs_up
        self.connections = 0
        self.requests: list[bytes] = []
        self.left = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            for answer in self.answers:
                self.requests.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(answer)
            if not self.hangs_up:
                await reader.read(1)
        finally:
            self.left.set()


@asynccontextmanager
async def wire_to(talk: Talk, key: str = "") -> AsyncIterator[HttpClient]:
    async with talking(talk) as port:
        wire = HttpClient(
            endpoint_for(ProviderConfig("a", base_url=f"http://127.0.0.1:{port}/v1", api_key=key), "/x"), CONNECT_S
        )
        try:
            yield wire
        finally:
            wire.close()


async def body_of(line: HttpConnection) -> bytes:
    pieces = []
    while piece := await line.readany():
        pieces.append(piece)
    return b"".join(pieces)


async def told(wire: HttpClient) -> bytes:
    line = await wire.send("GET", b"")
    try:
        await line.answered()
        return await body_of(line)
    finally:
        wire.give_back(line)


async def test_a_connection_whose_answer_was_read_is_used_again() -> None:
    speaker = Speaker(HI, HI)
    async with wire_to(speaker) as wire:
        assert [await told(wire), await told(wire)] == [b"Hi", b"Hi"]
    assert speaker.connections == 1
    assert speaker.requests[0].startswith(b"GET /v1/x HTTP/1.1\r\nHost: 127.0.0.1:")


async def test_an_answer_left_in_the_middle_ends_its_connection() -> None:
    speaker = Speaker(OK + b"Content-Length: 100\r\n\r\nonly some")
    async with wire_to(speaker) as wire:
        line = await wire.send("GET", b"")
        assert await line.answered() == 200
        wire.give_back(line)
        await speaker.left.wait()


async def test_a_server_that_wants_to_close_is_not_asked_again_on_that_connection() -> None:
    speaker = Speaker(OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nHi")
    async with wire_to(speaker) as wire:
        assert [await told(wire), await told(wire)] == [b"Hi", b"Hi"]
    assert speaker.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nH\r\n1\r\ni\r\n0\r\nX-Trailer: 1\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + HI,
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nHi",
    ],
)
async def test_every_form_of_an_answer_is_understood(answer: bytes) -> None:
    async with wire_to(Speaker(answer)) as wire:
        assert await told(wire) == b"Hi"


async def test_a_body_without_a_length_ends_with_its_connection() -> None:
    async with wire_to(Speaker(OK + b"\r\nHi", hangs_up=True)) as wire:
        assert await told(wire) == b"Hi"


@pytest.mark.parametrize("framing", [b"Content-Length: 100\r\n\r\nHi", b"Transfer-Encoding: chunked\r\n\r\n5\r\nHi"])
async def test_a_body_that_ends_too_early_is_cut(framing: bytes) -> None:
    async with wire_to(Speaker(OK + framing, hangs_up=True)) as wire:
        with pytest.raises(Cut):
            await told(wire)


async def test_going_away_without_a_word_is_hanging_up() -> None:
    async with wire_to(Speaker(b"", hangs_up=True)) as wire:
        with pytest.raises(HungUp):
            await told(wire)


@pytest.mark.parametrize("answer", [b"220 mail.example ESMTP\r\n", OK + b"X: " + 70_000 * b"x" + b"\r\n\r\n"])
async def test_what_is_no_answer_is_refused(answer: bytes) -> None:
    async with wire_to(Speaker(answer)) as wire:
        with pytest.raises(BadAnswer):
            await told(wire)


async def test_a_second_answer_to_one_question_ends_the_connection() -> None:
    speaker = Speaker(HI + HI)
    async with wire_to(speaker) as wire:
        assert [await told(wire), await told(wire)] == [b"Hi", b"Hi"]
    assert speaker.connections == 2


async def test_what_nobody_asked_for_ends_an_idle_connection() -> None:
    speaker = Speaker(HI)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        speaker.connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HI)
        await asked.wait()
        writer.write(HI)
        await reader.read()
        speaker.left.set()

    asked = asyncio.Event()
    async with wire_to(talk) as wire:
        assert await told(wire) == b"Hi"
        asked.set()
        await speaker.left.wait()
        assert await told(wire) == b"Hi"
    assert speaker.connections == 2


async def test_a_long_answer_that_is_read_slowly_comes_whole() -> None:
    size = 20 * MOST_HELD
    async with wire_to(Speaker(OK + b"Content-Length: %d\r\n\r\n" % size + size * b"x")) as wire:
        line = await wire.send("GET", b"")
        await line.answered()
        largest, seen = 0, 0
        while piece := await line.readany():
            largest, seen = max(largest, len(piece)), seen + len(piece)
            await turns_of_the_loop()
        wire.give_back(line)
    assert seen == size
    assert largest < 4 * MOST_HELD


async def test_a_closed_wire_keeps_nothing() -> None:
    speaker = Speaker(HI, HI)
    async with wire_to(speaker) as wire:
        line = await wire.send("GET", b"")
        wire.close()
        assert await body_of(line) == b"Hi"
        wire.give_back(line)
        await speaker.left.wait()


async def test_nobody_there_is_said() -> None:
    async with talking(Speaker()) as port:
        pass
    wire = HttpClient(endpoint_for(ProviderConfig("a", base_url=f"http://127.0.0.1:{port}"), "/x"), CONNECT_S)
    with pytest.raises(NotConnected, match=f"127.0.0.1:{port}"):
        await told(wire)


async def test_a_key_with_a_line_break_is_never_sent() -> None:
    speaker = Speaker(HI)
    async with wire_to(speaker, key="secret\r\nX-Other: 1") as wire:
        with pytest.raises(ValueError, match="Authorization"):
            await told(wire)
    assert speaker.connections == 0
