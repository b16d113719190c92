"""Streamable HTTP and the older SSE, with what the SDK leaves out: a request that could not be delivered fails alone
instead of taking the connection with it, answers have a size, and compressed ones (a bomb costs nothing to send) are
not read."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from windlass.servers.sdk import SessionMessage, httpx2, sse_client, streamable_http_client
from windlass.servers.values import current

_CONNECT_S, _READ_S = 30.0, 900.0
_GOODBYE_S = 2.0  # a server that no longer answers must not delay closing
Streams = tuple[Any, Any]


class McpHttpClient(httpx2.AsyncClient):
    """`trouble` is the reason of the last failure; the SDK only passes on that something failed."""

    def __init__(self, headers: Mapping[str, str], cap: int) -> None:
        timeout = httpx2.Timeout(_CONNECT_S, read=_READ_S)
        super().__init__(headers={**headers, "accept-encoding": "identity"}, timeout=timeout)
        self._cap = cap
        self.trouble = ""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        call = current.get()
        if request.method == "DELETE":
            request.extensions["timeout"] = httpx2.Timeout(_GOODBYE_S).as_dict()
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError as error:
            if call and isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
                call.sent = call.delivered  # a call with questions is several requests
            return self._instead(503, request, f"{request.url.host}: {error or type(error).__name__}")
        # Only the response to the call's own POST counts: a stream that is opened again says nothing of the call.
        if call and request.method == "POST":
            call.status, call.delivered = response.status_code, True
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            if call:
                call.status = 502
            return self._instead(
                502,
                request,
                "the server compresses its responses, which is not supported; turn that off at the server",
            )
        if response.status_code >= 400:
            self.trouble = f"{request.url.host} answered {response.status_code} {response.reason_phrase}".strip()
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Capped(cast(httpx2.AsyncByteStream, response.stream), self._cap)
        return response

    def _instead(self, status: int, request: httpx2.Request, why: str) -> httpx2.Response:
        self.trouble = why
        return httpx2.Response(status, request=request)


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, cap: int) -> None:
        self._inner = inner
        self._left = cap

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.StreamError("the response is longer than can be read")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def http_streams(url: str, client: McpHttpClient, cap: int) -> AsyncIterator[Streams]:
    async with client, streamable_http_client(url, http_client=client, max_sse_event_size=cap) as (read, write):
        yield read, _Marked(write)


@asynccontextmanager
async def sse_streams(url: str, client: McpHttpClient, cap: int) -> AsyncIterator[Streams]:
    def ours(**_: object) -> McpHttpClient:
        return client

    async with sse_client(url, None, httpx_client_factory=cast(Any, ours)) as (read, write):
        yield read, _Marked(write)


class _Marked:
    """Marks the call as sent before its request goes to the transport: from here on it may have had an effect."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def send(self, item: SessionMessage, /) -> None:
        if call := current.get():
            call.sent = True
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> "_Marked":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
