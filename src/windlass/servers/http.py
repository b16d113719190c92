"""Streamable HTTP and the older SSE, with what the SDK leaves out: a request that could not be delivered fails alone
instead of taking the connection with it, answers have a size, compressed ones (a bomb costs nothing to send) are not
read, and requests carry the token of a sign-in."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from windlass.core.errors import Unavailable
from windlass.servers.sdk import (
    SessionMessage,
    extract_field_from_www_auth,
    httpx2,
    sse_client,
    streamable_http_client,
)
from windlass.servers.sign_in import Challenge, SignIn
from windlass.servers.values import ServerConfig, current

_CONNECT_S, _READ_S = 30.0, 900.0
_GOODBYE_S = 1.0  # a server that no longer answers must not delay closing
_LONGEST_REFUSAL = 64 << 10  # bytes of an error that are read to learn what it is about
_COMPRESSED = "the server compresses its responses, which is not supported; turn that off at the server"
Streams = tuple[Any, Any]
_GONE = r"not found|unknown|invalid|expired|no valid|missing|required|terminated|does not exist|not exist|closed|stale"
_LOST_SESSION = re.compile(
    rf"session\b.{{0,60}}\b({_GONE})|\b({_GONE})\b.{{0,40}}\bsession|not initialized", re.I | re.S
)


class McpHttpClient(httpx2.AsyncClient):
    """`trouble` is the reason of the last failure; the SDK only passes on that something failed. `status` is that of
    the last refusal, of a POST or of the stream that SSE begins with, and 0 after a POST that was taken."""

    def __init__(self, config: ServerConfig, headers: Mapping[str, str], sign_in: SignIn | None) -> None:
        timeout = httpx2.Timeout(_CONNECT_S, read=_READ_S)
        super().__init__(headers={**headers, "accept-encoding": "identity"}, timeout=timeout)
        self._config = config
        self._sign_in = sign_in
        self._origin = _origin(httpx2.URL(config.url))
        self.trouble = ""
        self.status = 0
        self.asked_to_sign_in = False  # at any request: a later one may be refused for another reason
        self.session_lost = False  # the last refusal was about the session

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        call = current.get()
        if request.method == "DELETE":
            request.extensions["timeout"] = httpx2.Timeout(_GOODBYE_S).as_dict()
        try:
            response = await self._signed(request, options)
        except Unavailable as error:  # of the authorization server: the request itself was not sent
            if call:
                call.sent = call.delivered
            return self._instead(503, request, error.message.rstrip("."))
        except httpx2.TransportError as error:
            if call and isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
                call.sent = call.delivered  # a call with questions is several requests
            return self._instead(503, request, f"{request.url.host}: {str(error).strip(' .') or type(error).__name__}")
        # Only the response to the call's own POST counts: a stream that is opened again says nothing of the call.
        if call and request.method == "POST":
            call.status, call.delivered = response.status_code, True
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            if call:
                call.status = 502
            return self._instead(502, request, _COMPRESSED)
        return await self._checked(response, request)

    async def _signed(self, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        """A token that was refused though its time was not over is replaced once. A server that answers 401 has not run
        the request."""
        if self._sign_in is None or _origin(request.url) != self._origin:
            return await super().send(request, **options)
        token = await self._sign_in.token(self._config)
        if token:
            request.headers["authorization"] = f"Bearer {token}"
        response = await super().send(request, **options)
        if response.status_code == 401 and token:
            if other := await self._sign_in.token_instead(self._config, token):
                await response.aclose()
                request.headers["authorization"] = f"Bearer {other}"
                response = await super().send(request, **options)
            else:
                await self._sign_in.ended(self._config, token)
        if response.status_code in (401, 403):
            self._sign_in.challenge = _challenge(response)
            self.asked_to_sign_in = self.asked_to_sign_in or response.status_code == 401
        return response

    async def _checked(self, response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Capped(cast(httpx2.AsyncByteStream, response.stream), self._config.line_cap)
        if response.status_code >= 400:
            return await self._looked_at(response, request)
        if request.method == "POST":
            self.status, self.session_lost = 0, False
        return response

    async def _looked_at(self, response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
        """The SDK does not tell a refused session from other refusals, so what the server says is read here."""
        self.trouble = f"{request.url.host} answered {response.status_code} {response.reason_phrase}".strip()
        if request.method != "POST" and self._config.transport == "http":
            return response  # the stream for changes, which a server need not have
        self.status, self.session_lost = response.status_code, False
        if response.status_code in (401, 403) or response.status_code >= 500:
            return response
        body = bytearray()
        try:
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) >= _LONGEST_REFUSAL:
                    break
        except httpx2.HTTPError:
            body.clear()
        finally:
            await response.aclose()
        self.session_lost = response.status_code == 404 or names_a_lost_session(body.decode("utf-8", "replace"))
        return httpx2.Response(response.status_code, headers=response.headers, content=bytes(body), request=request)

    def _instead(self, status: int, request: httpx2.Request, why: str) -> httpx2.Response:
        self.trouble = why
        return httpx2.Response(status, request=request)


def names_a_lost_session(text: str) -> bool:
    """How servers word it differs: "Session not found", "No valid session ID provided", "Server not initialized"."""
    return bool(_LOST_SESSION.search(text))


def _challenge(response: httpx2.Response) -> Challenge:
    wants_more = extract_field_from_www_auth(response, "error") == "insufficient_scope"
    scope = extract_field_from_www_auth(response, "scope") if wants_more else None
    return Challenge(response.headers.get("www-authenticate", ""), scope or "")


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


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
