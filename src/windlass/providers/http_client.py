"""HTTP/1.1 to one model server over kept connections: a request is one write, its answer comes piece by piece as it
arrives. A general client spends more on each request than a whole step of a turn costs."""

import asyncio
import socket
import ssl
from functools import cache
from typing import cast

import aiohappyeyeballs
import httptools
from yarl import URL

from windlass.providers.config import ProviderEndpoint
from windlass.providers.failures import BadAnswer, Cut, HungUp, NotConnected, ProxyRefused, Stale

KEEP_ALIVE_S = 30.0
HEADER_BYTES = 64 * 1024
MOST_HELD = 512 * 1024  # of an answer that is read more slowly than it comes
NEXT_ADDRESS_S = 0.25  # a host may have addresses that lead nowhere


class HttpClient:
    def __init__(self, endpoint: ProviderEndpoint, connect_s: float) -> None:
        self._endpoint = endpoint
        self._heads: dict[str, bytes] = {}
        self._connect_s = connect_s
        self._idle: list[HttpConnection] = []
        self._sweep: asyncio.TimerHandle | None = None
        self._closed = False

    async def send(self, method: str, body: bytes) -> "HttpConnection":
        """Connect and send; `answered` waits for the response. Every connection must be given back."""
        if method not in self._heads:
            self._heads[method] = _head(self._endpoint, method)
        connection = self._kept()
        if connection is None:
            try:
                async with asyncio.timeout(self._connect_s):
                    connection = await self._connected()
            except TimeoutError as error:
                raise TimeoutError(f"no connection within {self._connect_s:g} s") from error
        connection.ask(self._heads[method] + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return connection

    def give_back(self, connection: "HttpConnection") -> None:
        """Kept when its response was read to the end, else closed: what is left of it would pass for the next one."""
        if not connection.can_go_on or self._closed:
            return connection.close()
        connection.idle_since = connection.loop.time()
        self._idle.append(connection)
        if self._sweep is None:
            self._sweep = connection.loop.call_later(KEEP_ALIVE_S, self._close_old, connection.loop)

    def close(self) -> None:
        """Those in use are closed when they are given back."""
        self._closed = True
        if self._sweep:
            self._sweep.cancel()
        while self._idle:
            self._idle.pop().close()

    def _kept(self) -> "HttpConnection | None":
        while self._idle:
            connection = self._idle.pop()  # the one used last: the server is least likely to have closed it
            if connection.can_go_on and connection.loop.time() - connection.idle_since < KEEP_ALIVE_S:
                connection.kept = True
                return connection
            connection.close()
        return None

    def _close_old(self, loop: asyncio.AbstractEventLoop) -> None:
        oldest = loop.time() - KEEP_ALIVE_S
        while self._idle and self._idle[0].idle_since <= oldest:
            self._idle.pop(0).close()
        self._sweep = loop.call_later(KEEP_ALIVE_S / 2, self._close_old, loop) if self._idle else None

    async def _connected(self) -> "HttpConnection":
        endpoint, proxy = self._endpoint, self._endpoint.proxy
        trust = await _trust(endpoint.trust) if endpoint.url.scheme == "https" else None
        if proxy is None:
            return await _connect(endpoint.url, trust)
        connection = await _connect(proxy, await _trust(True) if proxy.scheme == "https" else None)
        if trust:
            await _open_tunnel(connection, endpoint, trust)
        return connection


class HttpConnection(asyncio.Protocol):
    """One connection, used for one request after another, never for two at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.kept = False  # it has carried a response before
        self.idle_since = 0.0
        self.status = 0
        self._transport: asyncio.Transport
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        self._held = 0
        self._over = True
        self._goes_on = True
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def can_go_on(self) -> bool:
        return self._over and self._goes_on and self._error is None

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode("latin-1").title(): value.decode("latin-1") for name, value in self._headers}

    def ask(self, request: bytes) -> None:
        self.status = self._held = 0
        self._over = False
        self._headers.clear()
        self._pieces.clear()
        self._transport.write(request)

    async def answered(self) -> int:
        while not self.status:
            await self._wait_for_data()
        return self.status

    async def readany(self) -> bytes:
        """What has come of the body; nothing when it is over."""
        while not self._pieces:
            if self._over:
                return b""
            await self._wait_for_data()
        pieces = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        if self._held > MOST_HELD:  # reading was paused; nobody else resumes it
            self._transport.resume_reading()
        self._held = 0
        return pieces

    def at_eof(self) -> bool:
        return self._over and not self._pieces

    async def secure(self, trust: ssl.SSLContext, host: str) -> None:
        """From here on through TLS, with a new parser: the tunnel's own response is over."""
        inside = await self.loop.start_tls(self._transport, self, trust, server_hostname=host)
        self._transport = cast(asyncio.Transport, inside)
        self._parser = httptools.HttpResponseParser(self)

    def close(self) -> None:
        self.give_up(HungUp("the connection was closed"))

    def give_up(self, error: Exception) -> None:
        """The waiter gets this error instead of a response."""
        self._error = self._error or error
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._over:
            return self.give_up(BadAnswer("a response without a request"))
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self.give_up(BadAnswer(f"not valid HTTP: {error}"))
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.status and self._error is None and self._ends_with_connection:
            self._over = True
        self._error = self._error or self._lost(exc)
        self._wake()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._held += len(name) + len(value)
        if self._held > HEADER_BYTES:
            self.give_up(BadAnswer(f"headers of more than {HEADER_BYTES} bytes"))
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        self._held = 0
        if self._over:
            self.give_up(BadAnswer("more than one response to a request"))
        elif status < 200:  # an interim response; the final one follows
            self._headers.clear()
        else:
            self.status = status

    def on_body(self, body: bytes) -> None:
        if self._over:
            return
        self._pieces.append(body)
        self._held += len(body)
        if self._held > MOST_HELD:
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        if self.status and not self._over:
            self._over = True
            self._goes_on = self._parser.should_keep_alive()  # the parser forgets it after this callback

    @property
    def _ends_with_connection(self) -> bool:
        return not {b"content-length", b"transfer-encoding"} & {name.lower() for name, _ in self._headers}

    async def _wait_for_data(self) -> None:
        if self._error:
            raise self._error
        self._waiter = self.loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def _lost(self, cause: Exception | None) -> Exception:
        message = str(cause or "") or "the connection was cut"
        if self.status:
            return Cut(message)
        return Stale(message) if self.kept else HungUp(message)


def _head(endpoint: ProviderEndpoint, method: str) -> bytes:
    """Everything before the length."""
    target = str(endpoint.url) if endpoint.proxy and endpoint.url.scheme == "http" else endpoint.url.raw_path_qs
    named = {"Host": _host(endpoint.url), "User-Agent": "windlass", "Accept-Encoding": "identity", **endpoint.headers}
    return f"{method} {target} HTTP/1.1\r\n".encode() + _lines(named)


def _lines(headers: dict[str, str]) -> bytes:
    for name, value in headers.items():
        if not value.isprintable():
            raise ValueError(f"the header {name} has a character that cannot be sent")
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()


def _host(url: URL) -> str:
    return url.host_port_subcomponent or ""


async def _connect(url: URL, trust: ssl.SSLContext | None) -> HttpConnection:
    loop = asyncio.get_running_loop()
    host, port = url.raw_host or "", url.port or 0
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        sock = await aiohappyeyeballs.start_connection(found, happy_eyeballs_delay=NEXT_ADDRESS_S, interleave=1)
    except OSError as error:
        raise NotConnected(f"{_host(url)}: {error.strerror or error}") from error
    try:
        _, connection = await loop.create_connection(
            lambda: HttpConnection(loop), sock=sock, ssl=trust, server_hostname=host if trust else None
        )
    except ssl.SSLError:
        raise
    except OSError as error:
        raise NotConnected(f"{_host(url)}: {error.strerror or error}") from error
    return connection


async def _open_tunnel(connection: HttpConnection, endpoint: ProviderEndpoint, trust: ssl.SSLContext) -> None:
    authority = f"{endpoint.url.raw_host}:{endpoint.url.port}"
    try:
        connection.ask(
            f"CONNECT {authority} HTTP/1.1\r\n".encode()
            + _lines({"Host": authority, **endpoint.proxy_headers})
            + b"\r\n"
        )
        if await connection.answered() != 200:
            raise ProxyRefused(f"it answered {connection.status}")
        await connection.secure(trust, endpoint.url.raw_host or "")
    except BaseException:  # no caller has the connection yet, so it is closed here, also when this task is cancelled
        connection.close()
        raise


async def _trust(trust: ssl.SSLContext | bool) -> ssl.SSLContext:
    """Reading the system's authorities takes as long as a dozen turns."""
    return trust if isinstance(trust, ssl.SSLContext) else await asyncio.to_thread(_system_trust)


@cache
def _system_trust() -> ssl.SSLContext:
    return ssl.create_default_context()
