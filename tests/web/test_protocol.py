"""What one peer may make the server hold, before and after anyone knows who it is."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import pytest_asyncio

from tests.kit.waiting import PATIENCE_S, until
from tests.kit.windlass_process import windlass
from tests.proof.figures import note
from tests.web.kit import TOKEN, Site, open_site
from windlass.testing import StrictLLM
from windlass.web.protocol import MOST_WAITING, BoundedProtocol

FULL = os.environ.get("SCALE") == "full"
SMALL_BUFFER = 4096  # of a socket, so that few unread responses fill it
READ_AT_ONCE = 256 * 1024  # the most that the loop reads from a socket in one go
REQUESTS = 4000
Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def request(site: Site, path: str = "/health", *, token: str = "", body: bytes = b"", forwarded: str = "") -> bytes:
    head = f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nhost: 127.0.0.1:{site.port}\r\n"
    head += f"authorization: Bearer {token}\r\n" if token else ""
    head += f"x-forwarded-for: {forwarded}\r\n" if forwarded else ""
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n" if body else ""
    return head.encode() + b"\r\n" + body


@asynccontextmanager
async def connected(site: Site) -> AsyncIterator[Ends]:
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", site.port))
    reader, writer = await asyncio.open_connection(sock=raw, limit=SMALL_BUFFER)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def server_end(site: Site, writer: asyncio.StreamWriter) -> BoundedProtocol:
    """The server's side of this connection, with a small buffer to send from."""
    ours = writer.get_extra_info("sockname")
    found: list[BoundedProtocol] = []

    def there() -> bool:
        found[:] = [one for one in site.connections if one.client == ours[:2]]
        return bool(found)

    await until(there, "the connection")
    found[0].transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER)
    return found[0]


async def statuses(reader: asyncio.StreamReader, count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        found.append(int(head.split()[1]))
        length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
    return found


async def test_e1_a_flood_that_is_never_read_leaves_eight_requests_waiting(site: Site) -> None:
    async with connected(site) as (reader, writer):
        end = await server_end(site, writer)
        writer.write(request(site) * REQUESTS)
        await until(lambda: end.flow.write_paused, "the responses to back up")
        assert len(end.pipeline) <= MOST_WAITING
        assert end.flow.read_paused
        assert end.held_bytes <= READ_AT_ONCE
        assert end.transport.get_write_buffer_size() < READ_AT_ONCE
        assert set(await statuses(reader, REQUESTS)) == {200}
        await until(lambda: not end.pipeline and not end.held_bytes, "the last of them")


async def test_e1_no_more_is_read_for_a_request_that_asks_for_its_body(site: Site, strict_llm: StrictLLM) -> None:
    """A turn under way, whose stream looks for the reader's leaving, and a flood behind it."""
    id = await site.conversation()
    async with connected(site) as (_, writer):
        end = await server_end(site, writer)
        writer.write(request(site, f"/conversations/{id}/events", token=TOKEN))
        writer.write(request(site) * REQUESTS)
        await until(lambda: len(end.pipeline) >= MOST_WAITING, "the flood")
        await site.get("/ready")
        assert len(end.pipeline) == MOST_WAITING and end.held_bytes <= READ_AT_ONCE


async def test_e1_a_lost_connection_ends_the_stream_that_others_waited_behind(site: Site) -> None:
    id = await site.conversation()
    async with connected(site) as (_, writer):
        end = await server_end(site, writer)
        writer.write(request(site, f"/conversations/{id}/events", token=TOKEN) + request(site) * 20)
        await until(lambda: len(end.pipeline) == MOST_WAITING, "the requests behind it")
        end.transport.abort()
        await until(lambda: site.app.bus.watchers == 0, "the watcher to be forgotten")
    assert not end.pipeline and not end.held_bytes


@pytest.mark.parametrize("piece", [1, 7, 50, 10**6])
async def test_e1_requests_in_a_row_are_answered_in_order_however_they_arrive(
    site: Site, strict_llm: StrictLLM, piece: int
) -> None:
    """Bodies with blank lines among them, which end no request."""
    id = await site.conversation()
    blank = b'{\r\n\r\n\n\n"role": "user",\r\n\r\n "content": "x"}'
    row = [request(site), request(site, "/nowhere")]
    row += [request(site, f"/conversations/{id}/messages", token=TOKEN, body=blank), request(site, "/ready")]
    sent = b"".join(row * 5)
    async with connected(site) as (reader, writer):
        for start in range(0, len(sent), piece):
            writer.write(sent[start : start + piece])
            await writer.drain()
        assert await statuses(reader, 20) == [200, 404, 201, 401] * 5


async def test_e1_a_large_body_behind_waiting_requests_comes_whole(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    large = b'{"role": "user", "content": "' + b"x" * 600_000 + b'"}'
    one = request(site, f"/conversations/{id}/messages", token=TOKEN, body=large)
    async with connected(site) as (reader, writer):
        writer.write(request(site) * 12 + one + request(site) * 12 + one + request(site))
        assert await statuses(reader, 27) == [200] * 12 + [201] + [200] * 12 + [201, 200]


async def test_e1_connections_of_one_address_are_bounded_until_a_credential_was_accepted(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.web.protocol.STRANGERS_HERE", 3)
    async with AsyncExitStack() as open_ones:
        for _ in range(10):  # each is accepted before the next comes
            reader, writer = await open_ones.enter_async_context(connected(site))
            writer.write(request(site, "/ready", token=TOKEN))
            assert await statuses(reader, 1) == [200]
        for path, token, status in (("/health", "", 200), ("/ready", "wrong", 401), ("/ready", "", 401)):
            reader, writer = await open_ones.enter_async_context(connected(site))
            writer.write(request(site, path, token=token))
            assert await statuses(reader, 1) == [status]
        reader, _ = await open_ones.enter_async_context(connected(site))
        refusal = await reader.read()
        assert refusal.startswith(b"HTTP/1.1 429 ") and b'"too_many_connections"' in refusal


async def test_e1_a_closed_connection_and_an_accepted_one_make_room(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.web.protocol.STRANGERS_HERE", 1)
    await site.session.close()
    async with connected(site) as (reader, writer):
        writer.write(request(site))
        assert await statuses(reader, 1) == [200]
    await until(lambda: not site.connections, "the first to be gone")
    async with connected(site) as (reader, writer), AsyncExitStack() as later:
        writer.write(request(site) + request(site, "/ready", token=TOKEN))
        assert await statuses(reader, 2) == [200, 200]
        reader, writer = await later.enter_async_context(connected(site))
        writer.write(request(site))
        assert await statuses(reader, 1) == [200]


@pytest_asyncio.fixture
async def proxied(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path / "proxied", trusted_proxies=["127.0.0.1"]) as opened:
        yield opened


async def test_e1_the_connections_of_a_trusted_proxy_are_not_one_clients(
    proxied: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.web.protocol.STRANGERS_HERE", 3)
    async with AsyncExitStack() as open_ones:
        for number in range(80):
            reader, writer = await open_ones.enter_async_context(connected(proxied))
            writer.write(request(proxied, forwarded=f"203.0.113.{number}"))
            assert await statuses(reader, 1) == [200]


async def test_e1_behind_a_trusted_proxy_each_client_is_bounded_until_a_credential_was_accepted(
    proxied: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.web.strangers.STRANGERS", 2)
    slow = request(proxied, "/session", body=b"{}", forwarded="203.0.113.1").removesuffix(b"{}")
    async with AsyncExitStack() as open_ones:
        for _ in range(2):  # their bodies never come
            _, writer = await open_ones.enter_async_context(connected(proxied))
            writer.write(slow)
        await expect_status(proxied, "203.0.113.1", 429)
        await expect_status(proxied, "198.51.100.7, 203.0.113.1", 429)
        await expect_status(proxied, "203.0.113.2", 200)
    await expect_status(proxied, "203.0.113.1", 200)


async def expect_status(site: Site, address: str, status: int) -> None:
    """Wait until that client gets this."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            answer = await site.call("GET", "/health", headers={"X-Forwarded-For": address}, token="")
            if answer.status == status:
                return


async def test_e1_failed_tokens_count_by_the_forwarded_address(proxied: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async def tried(address: str) -> int:
        return (await proxied.call("GET", "/ready", token="wrong", headers={"X-Forwarded-For": address})).status

    monkeypatch.setattr(proxied.access._failed_tokens, "most", 2)
    assert [await tried("203.0.113.1") for _ in range(3)] == [401, 401, 429]
    assert await tried("203.0.113.1, 203.0.113.2") == 401, "the rightmost is the client"
    assert await tried("203.0.113.2, 203.0.113.1") == 429


async def test_e1_a_stranger_who_never_reads_is_cut_off(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the few connections of its address could be held for ever."""
    monkeypatch.setattr("windlass.web.protocol.UNREAD_S", 0.01)
    async with connected(site) as (_, writer):
        end = await server_end(site, writer)
        writer.write(request(site) * REQUESTS)
        await until(lambda: end not in site.connections, "the connection to be cut")
    assert (await site.call("GET", "/health")).status == 200, "others are served as before"


@pytest.mark.skipif(not FULL, reason="measures memory: SCALE=full")
async def test_e1_memory_is_back_after_a_flood(tmp_path: Path) -> None:
    async with windlass(tmp_path / "home") as server:
        process = psutil.Process(server.pid)
        host = urlsplit(server.url)
        one = f"GET /health HTTP/1.1\r\nhost: {host.netloc}\r\n\r\n".encode()
        reader, writer = await asyncio.open_connection(host.hostname, host.port)
        writer.write(one * REQUESTS)  # ordinary requests, which are read: what any server grows by at first
        await statuses(reader, REQUESTS)
        writer.close()
        before, most = process.memory_info().rss, 0
        for _ in range(5):
            _, writer = await asyncio.open_connection(host.hostname, host.port)
            writer.write(one * (60_000_000 // len(one)))
            for _ in range(20):
                most = max(most, process.memory_info().rss)
                await server.call("GET", "/health")
                await asyncio.sleep(0.1)  # another process's memory is looked at
            writer.transport.abort()
        after = process.memory_info().rss
    grown = 100 * (max(most, after) / before - 1)
    note("unread flood", percent=grown, before_mb=before / 1e6, most_mb=most / 1e6, after_mb=after / 1e6)
    assert after < before * 1.1 and most < before * 1.1
