"""HTTP on the wire, with bounds that come before any check of who is there: a request's head may be only so long, and
take only so long to arrive."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 64 * 1024
HEAD_S = 30.0
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class BoundedProtocol(HttpToolsProtocol):
    _head_bytes = 0
    _in_head = False
    _alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(_TOO_LONG)
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_bytes = 0
        self._silence()
        self._heed_target()
        super().on_headers_complete()

    def _heed_target(self) -> None:
        """A first line may name the host itself, which then counts instead of the Host header. Where they differ the
        guard gets to see both, and refuses."""
        if self.url.startswith(b"/"):
            return
        named = self.url.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0].lower()
        if [value.lower() for name, value in self.headers if name == b"host"] != [named]:
            self.headers.append((b"host", named))

    def connection_lost(self, exc: Exception | None) -> None:
        self._silence()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._in_head = True
        self._silence()
        self._alarm = self.loop.call_later(HEAD_S, self.transport.close)

    def _silence(self) -> None:
        if self._alarm:
            self._alarm.cancel()
            self._alarm = None
