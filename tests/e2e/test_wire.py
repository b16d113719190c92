"""Bounds that hold before anyone is asked who they are."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.kit.windlass_process import WindlassProcess, windlass
from windlass.web.protocol import HEAD_BYTES


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[WindlassProcess]:
    async with windlass(tmp_path / "home") as process:
        yield process


async def answer_to(server: WindlassProcess, head: bytes) -> bytes:
    where = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    writer.write(head)
    said = b""
    with contextlib.suppress(ConnectionResetError):  # a server that reads no further resets what is still coming
        async with asyncio.timeout(20):
            while piece := await reader.read(65536):
                said += piece
    writer.close()
    return said


@pytest.mark.parametrize("ends", [True, False], ids=["ended", "endless"])
async def test_a_head_that_is_too_long_is_refused(server: WindlassProcess, ends: bool) -> None:
    many = b"".join(b"x-%d: %s\r\n" % (n, b"y" * 1000) for n in range(2 * HEAD_BYTES // 1000))
    said = await answer_to(server, b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n" + many + (b"\r\n" if ends else b""))
    assert said == b"" or said.startswith(b"HTTP/1.1 431 ")
    assert (await server.call("GET", "/health")).status == 200


async def test_a_head_of_common_length_passes(server: WindlassProcess) -> None:
    host = urlsplit(server.url).netloc.encode()
    head = b"GET /health HTTP/1.1\r\nhost: " + host + b"\r\nconnection: close\r\ncookie: " + b"c" * 8000 + b"\r\n\r\n"
    assert (await answer_to(server, head)).startswith(b"HTTP/1.1 200 ")


TARGETS = {  # what a request's first line names, what its Host header does, and whether it is for us
    ("http://OURS/health", "OURS"): 200,
    ("http://ours/health", "OURS"): 403,
    ("http://evil.example/health", "OURS"): 403,
    ("http://evil.example:80@OURS/health", "OURS"): 403,
    ("http://OURS/health", "evil.example"): 403,
    ("http://evil.example/health", "evil.example"): 403,
    ("ws://evil.example/health", "OURS"): 403,
}


async def test_a_first_line_that_names_a_host_means_that_host(server: WindlassProcess) -> None:
    ours = urlsplit(server.url).netloc
    found = {}
    for target, host in TARGETS:
        line = f"GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".replace("OURS", ours)
        found[target, host] = int((await answer_to(server, line.encode())).split()[1])
    assert found == TARGETS


async def test_what_was_just_said_is_found_at_once(server: WindlassProcess) -> None:
    conversation = (await server.post("/conversations", {}))["conversation"]["id"]
    await server.post(f"/conversations/{conversation}/messages", {"role": "user", "content": "the quay at Nanaimo"})
    found = await server.get("/conversations/search?q=nanaimo")
    assert [one["id"] for one in found["conversations"]] == [conversation]
