"""Server-sent events from bytes, in any pieces, in linear time. Only the data matters here: names, ids and comments of
events are dropped."""

LINE_CAP = 8 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class LineTooLong(ValueError):
    """One line, or one event, is larger than any honest server sends."""


class EventStream:
    """`feed` gives the data of each event that a piece completes; `close` gives what is left at the end."""

    __slots__ = ("_cap", "_data", "_first", "_held", "_parts", "_size", "_skip_newline")

    def __init__(self, cap: int = LINE_CAP) -> None:
        self._cap = cap
        self._parts: list[bytes] = []  # the line that has not ended yet
        self._size = 0
        self._data: list[bytes] = []  # the event that has not ended yet
        self._held = 0
        self._skip_newline = False
        self._first = True

    def feed(self, piece: bytes) -> list[bytes]:
        if not piece:
            return []
        *lines, rest = self._newlines_only(piece).split(b"\n")
        events: list[bytes] = []
        if lines:
            lines[0] = self._end_line(lines[0])
            if self._first:
                lines[0] = lines[0].removeprefix(_BOM)
                self._first = False
            self._take(lines, events)
        if rest:
            self._hold(rest)
        return events

    def close(self) -> list[bytes]:
        """The last event, even without its blank line: whether it is whole is for its reader to see."""
        return self.feed(b"\n\n") if self._parts or self._data else []

    def _newlines_only(self, piece: bytes) -> bytes:
        """A line may end in CR, LF or both, and both may be torn apart."""
        if self._skip_newline and piece.startswith(b"\n"):
            piece = piece[1:]
        self._skip_newline = piece.endswith(b"\r")
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in piece else piece

    def _end_line(self, ending: bytes) -> bytes:
        if not self._parts:
            return ending
        self._hold(ending)
        line = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return line

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._cap:
            raise LineTooLong(f"a line of more than {self._cap} bytes")
        self._parts.append(part)

    def _take(self, lines: list[bytes], events: list[bytes]) -> None:
        data = self._data
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[6:] if line.startswith(b"data: ") else line[5:])
                self._held += len(line)
                if self._held > self._cap:
                    raise LineTooLong(f"an event of more than {self._cap} bytes")
            elif not line and data:
                events.append(data[0] if len(data) == 1 else b"\n".join(data))
                data.clear()
                self._held = 0
