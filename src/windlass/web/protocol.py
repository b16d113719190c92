"""HTTP on the wire, with bounds that come before any check of who is there: a request's head may be only so long, and
take only so long to arrive; so many requests wait on a connection, and so many connections of an address that has shown
no credential are open."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from windlass.web.errors import failed
from windlass.web.guard import is_this_machine
from windlass.web.http import encode
from windlass.web.origin import plain_address
from windlass.web.strangers import STRANGERS, too_many_open

HEAD_BYTES = 64 * 1024
HEAD_S = 30.0
MOST_WAITING = 8  # requests on one connection, behind the one that is being answered
STRANGERS_HERE = 4096  # connections of this machine: as many as may come before the first of them was read
UNREAD_S = 30.0  # how long a stranger may leave a response unread
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_REFUSAL = encode(failed(too_many_open()))
_TOO_MANY = (
    b"HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\nretry-after: 5\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(_REFUSAL), _REFUSAL)
)
_BLANK_LINE = re.compile(rb"\n\r?\n")
_strangers: WeakKeyDictionary[ServerState, Counter[str]] = WeakKeyDictionary()  # by server, then by address


class BoundedProtocol(HttpToolsProtocol):
    flow: "_Flow"
    _head_bytes = 0
    _in_head = False
    _alarm: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _held = memoryview(b"")  # was read, and waits until fewer requests wait
    _running: RequestResponseCycle | None = None
    _stranger = ""  # its address, until a credential was accepted
    is_proxy: Callable[[str], bool] = staticmethod(lambda address: False)

    @property
    def held_bytes(self) -> int:
        return len(self._held)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Flow(transport)
        self._await_head()
        self._count()

    def data_received(self, data: bytes) -> None:
        self._held = memoryview(bytes(self._held) + data if self._held else data)
        self._feed()

    def _feed(self) -> None:
        """As much as has room. A piece ends with the blank line of a head, so that the parser, which cannot be stopped,
        finds no more requests in it than may wait."""
        while self._held and not self.transport.is_closing():
            room = MOST_WAITING - len(self.pipeline)
            if room <= 0:
                self.flow.hold()
                return
            end = _end_of_heads(self._held, room)
            piece, self._held = self._held[:end], self._held[end:]
            self._parse(piece)
        self._held = memoryview(b"")
        if not self.transport.is_closing():
            self.flow.release()

    def _parse(self, data: memoryview) -> None:
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)  # type: ignore[arg-type]
        if self._in_head and self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(_TOO_LONG)
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()
        if self._stranger:
            self.scope["state"]["accepted"] = self._accepted

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_bytes = 0
        self._silence()
        self._heed_target()
        super().on_headers_complete()
        if not self.pipeline:
            self._running = self.cycle

    def _heed_target(self) -> None:
        """A first line may name the host itself, which then counts instead of the Host header. Where they differ the
        guard gets to see both, and refuses."""
        if self.url.startswith(b"/"):
            return
        named = self.url.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0].lower()
        if [value.lower() for name, value in self.headers if name == b"host"] != [named]:
            self.headers.append((b"host", named))

    def on_response_complete(self) -> None:
        if self.pipeline:
            self._running = self.pipeline[-1][0]
        super().on_response_complete()
        if self._held:
            self._feed()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stranger:  # a few that read nothing would else keep everybody at their address out
            self._unread = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._read_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._silence()
        self._read_on()
        self._accepted()
        self._held = memoryview(b"")
        self.pipeline.clear()
        if (running := self._running) and not running.response_complete:  # uvicorn looks at the last request alone
            running.disconnected = True
            running.message_event.set()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._in_head = True
        self._silence()
        self._alarm = self.loop.call_later(HEAD_S, self.transport.close)

    def _silence(self) -> None:
        if self._alarm:
            self._alarm.cancel()
            self._alarm = None

    def _read_on(self) -> None:
        if self._unread:
            self._unread.cancel()
            self._unread = None

    def _count(self) -> None:
        address = plain_address(self.client[0]) if self.client else "local"
        if self.is_proxy(address):
            return  # its connections are not one client's: the guard counts requests by the forwarded address
        open_ones = _strangers.setdefault(self.server_state, Counter())
        if open_ones[address] >= (STRANGERS_HERE if is_this_machine(address) else STRANGERS):
            self.transport.write(_TOO_MANY)
            self.transport.close()
            return
        open_ones[address] += 1
        self._stranger = address

    def _accepted(self) -> None:
        """Called by the app with the first credential that fits, and when the connection is gone."""
        if not self._stranger:
            return
        open_ones = _strangers[self.server_state]
        open_ones[self._stranger] -= 1
        if not open_ones[self._stranger]:
            del open_ones[self._stranger]
        self._stranger = ""
        self._read_on()


def protocol_behind(is_proxy: Callable[[str], bool]) -> type[BoundedProtocol]:
    """For a server whose trusted proxies may open as many connections as they need."""
    return type("ProxiedProtocol", (BoundedProtocol,), {"is_proxy": staticmethod(is_proxy)})


class _Flow(FlowControl):
    """Whoever asks for more, nothing is read while requests are held back."""

    _holding = False

    def hold(self) -> None:
        self._holding = True
        self.pause_reading()

    def release(self) -> None:
        if self._holding:
            self._holding = False
            self.resume_reading()

    def resume_reading(self) -> None:
        if not self._holding:
            super().resume_reading()


def _end_of_heads(data: memoryview, count: int) -> int:
    """Where so many heads may have ended, or the whole length."""
    end = 0
    for _ in range(count):
        found = _BLANK_LINE.search(data, end)
        if not found:
            return len(data)
        end = found.end()
    return end
