"""Cuts a byte stream into lines in linear time, with a cap. A line over the cap is never held whole: it goes to a file
as it comes, up to `KEEP_CAP`, and only its two ends stay in memory."""

import tempfile
from collections.abc import Callable
from typing import IO

from windlass.servers.values import LongLine

PEEK = 4096
KEEP_CAP = 64 << 20
ENDLESS = 256 << 20
_HEAVY = 1 << 20
_TOKENS = 300_000


class LineBuffer:
    """Feed it chunks; it calls `on_line` for what may be parsed and `on_long` for what may not."""

    def __init__(self, cap: int, on_line: Callable[[bytes], None], on_long: Callable[[LongLine], None]) -> None:
        self._cap = cap
        self._on_line = on_line
        self._on_long = on_long
        self._held = bytearray()
        self._long: _Spill | None = None

    def feed(self, chunk: bytes) -> None:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._more(chunk[start:end])
            self._finish()
            start = end + 1
        if start < len(chunk):
            self._more(chunk[start:] if start else chunk)

    @property
    def endless(self) -> bool:
        """Whether the current line has grown past any excuse."""
        return self._long is not None and self._long.size > ENDLESS

    def close(self) -> None:
        if self._long:
            self._long.discard()
        self._long = None
        self._held.clear()

    def _more(self, piece: bytes) -> None:
        if self._long:
            self._long.add(piece)
            return
        self._held += piece
        if len(self._held) > self._cap:
            self._long = _Spill()
            self._long.add(bytes(self._held))
            self._held = bytearray()

    def _finish(self) -> None:
        if self._long:
            spill, self._long = self._long, None
            self._on_long(spill.line())
            return
        line, self._held = bytes(self._held), bytearray()
        if len(line) > _HEAVY and stalls(line):
            spill = _Spill()
            spill.add(line)
            self._on_long(spill.line())
        else:
            self._on_line(line)


def stalls(line: bytes) -> bool:
    """Whether parsing this would hold up the event loop. Bytes are no measure: 8 MB in one string take 20 ms, 8 MB of
    small objects 600 ms and 200 MB of memory. So the tokens are counted, less those quoted inside a string."""
    quotes = line.count(b'"') - line.count(b'\\"')
    return quotes + line.count(b"{") + line.count(b"[") > _TOKENS


class _Spill:
    def __init__(self) -> None:
        self.size = 0
        self._head = b""
        self._tail = b""
        self._file: IO[bytes] | None = tempfile.TemporaryFile()  # closed by whoever reads the line

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if len(self._head) < PEEK:
            self._head += piece[: PEEK - len(self._head)]
        self._tail = (self._tail + piece[-PEEK:])[-PEEK:]
        if self._file and self.size > KEEP_CAP:
            self.discard()
        if self._file:
            self._file.write(piece)

    def discard(self) -> None:
        if self._file:
            self._file.close()
        self._file = None

    def line(self) -> LongLine:
        return LongLine(self._head, self._tail, self.size, self._file)
