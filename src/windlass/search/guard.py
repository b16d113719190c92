"""The only way to a page that somebody else named. Each hop is parsed, resolved once, checked, and connected to at the
very addresses that were checked; redirects are followed here, one by one, never by the HTTP client."""

import asyncio
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from ipaddress import ip_address
from ssl import SSLContext

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from windlass.addresses import Address
from windlass.core.errors import ToolError
from windlass.core.values import value_object
from windlass.search.page import Page, page_from
from windlass.search.targets import Target, blocked, check_address, target_of

Resolve = Callable[[str, int], Awaitable[Collection[str]]]
_HEADERS = {
    "Accept": "text/html, text/plain, application/json;q=0.8",
    "Accept-Encoding": "gzip",
    "User-Agent": "Mozilla/5.0 (compatible; Windlass/0.1; reads pages a person asked for)",
}
_KINDS = ("text/html", "text/plain", "application/json")
_MOVED = (301, 302, 303, 307, 308)


@value_object
class FetchCaps:
    seconds: float = 20
    redirects: int = 5
    wire_bytes: int = 2 * 1024 * 1024
    page_bytes: int = 2 * 1024 * 1024


async def system_addresses(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


@value_object
class FetchGuard:
    """`allow` names hosts the operator trusts although they are private; `tls` replaces the system's certificates."""

    allow: frozenset[str] = frozenset()
    resolve: Resolve = system_addresses
    caps: FetchCaps = FetchCaps()
    tls: SSLContext | None = None

    async def fetch(self, url: str) -> Page:
        """The page as text, cut at the caps. `ToolError` says why there is none."""
        try:
            async with asyncio.timeout(self.caps.seconds):
                return await self._follow(url)
        except TimeoutError:
            raise _failed("it took too long") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _failed(str(error) or type(error).__name__) from error

    async def _follow(self, url: str) -> Page:
        for _ in range(self.caps.redirects + 1):
            target = target_of(url, self.allow)
            async with self._opened(target) as response:
                if response.status not in _MOVED:
                    return await self._page(target, response)
                url = _next_url(target.url, response)
        raise _failed("it redirects too often")

    @asynccontextmanager
    async def _opened(self, target: Target) -> AsyncIterator[aiohttp.ClientResponse]:
        connector = aiohttp.TCPConnector(
            resolver=_Pinned(await self._addresses(target)),
            use_dns_cache=False,
            force_close=True,
            socket_factory=_checked_socket(target),
            ssl=self.tls or True,
        )
        # No proxy from the environment: it would resolve the name again, past the check.
        async with (
            aiohttp.ClientSession(connector=connector, auto_decompress=False, trust_env=False) as session,
            session.get(target.url, headers=_HEADERS, allow_redirects=False) as response,
        ):
            yield response

    async def _addresses(self, target: Target) -> list[Address]:
        if target.literal is not None:
            return [target.literal]
        addresses = [ip_address(text) for text in await self.resolve(target.host, target.port)]
        if not addresses:
            raise _failed(f"{target.host} has no address")
        for address in addresses:
            check_address(target, address)
        return addresses

    async def _page(self, target: Target, response: aiohttp.ClientResponse) -> Page:
        if response.status != 200:
            raise _failed(f"{target.host} answered {response.status}")
        if response.content_type not in _KINDS or "Content-Type" not in response.headers:
            raise _failed(f"it is {response.content_type}, not text")
        body = await self._body(response)
        # Up to a tenth of a second for the largest page: in a thread, so that the loop does not wait.
        return await asyncio.to_thread(page_from, str(target.url), response.content_type, response.charset or "", body)

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        unpack = _unpacker(encoding)
        packed, body = 0, bytearray()
        async for chunk in response.content.iter_chunked(64 * 1024):
            packed += len(chunk)
            body += unpack(chunk, self.caps.page_bytes - len(body))
            if packed >= self.caps.wire_bytes or len(body) >= self.caps.page_bytes:
                break
        return bytes(body)


class _Pinned(AbstractResolver):
    """Answers with the addresses that were checked, whatever the name resolves to by now."""

    def __init__(self, addresses: list[Address]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET if address.version == 4 else socket.AF_INET6,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        return None


def _checked_socket(target: Target) -> Callable[[aiohttp.AddrInfoType], socket.socket]:
    """The last look before a connection is made: nothing above may be forgotten or got around."""

    def make(info: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, proto, _, address = info
        check_address(target, ip_address(str(address[0])))
        return socket.socket(family, kind, proto)

    return make


def _next_url(base: URL, response: aiohttp.ClientResponse) -> str:
    location = response.headers.get("Location", "")
    if not location:
        raise _failed("its redirect has no target")
    try:
        return str(base.join(URL(location, encoded=True)))
    except ValueError:
        raise blocked("it redirects to an address that cannot be read") from None


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    """A function that unpacks the next bytes, giving at most so many: a small body may unpack to gigabytes."""
    if encoding in ("", "identity"):
        return lambda chunk, room: chunk[:room]
    if encoding not in ("gzip", "x-gzip"):
        raise _failed(f"its content encoding, {encoding}, is not supported")
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)

    def unpack(chunk: bytes, room: int) -> bytes:
        try:
            return stream.decompress(chunk, max(1, room))[:room]
        except zlib.error:
            raise _failed("its compressed body is damaged") from None

    return unpack


def _failed(why: str) -> ToolError:
    return ToolError(f"The page could not be fetched: {why}.", cause="fetch_failed")
