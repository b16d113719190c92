"""The server's log lines on a stream. What `logging` does for every line (a record, a lock, filters, a stamp from the
calendar, a look for the source) costs more than most steps of a turn; what a turn says of its steps goes past it."""

import asyncio
import logging
import time
from typing import Any, Literal, TextIO

import msgspec

Form = Literal["text", "json"]
COMPANY_S = 0.05


class LineHandler(logging.Handler):
    """`2026-01-31 12:00:00,123 INFO words`. Each write costs as much as ten lines, so a line that is no warning waits a
    moment for company; at a terminal, where somebody looks on, it does not."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(message)s"))
        self._stream = stream
        self._at_once = stream.isatty()
        self._held: list[str] = []
        self._second = 0
        self._stamp = ""

    def handle(self, record: logging.LogRecord) -> bool:
        self.emit(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        self._hold(self._line(record))
        if record.levelno >= logging.WARNING:
            self.flush()

    def tell(self, name: str, words: str) -> None:
        """A line of level INFO for which nobody made a record."""
        self._hold(self._shape(time.time(), "INFO", name, words))

    def flush(self) -> None:
        if not self._held:
            return
        lines, self._held = self._held, []
        try:
            self._stream.write("\n".join(lines) + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads any more; the turns go on
            pass

    def _hold(self, line: str) -> None:
        self._held.append(line)
        if self._at_once:
            self.flush()
        elif len(self._held) == 1:
            self._flush_soon()

    def _flush_soon(self) -> None:
        try:
            asyncio.get_running_loop().call_later(COMPANY_S, self.flush)
        except RuntimeError:  # another thread's line, or before the server runs
            self.flush()

    def _line(self, record: logging.LogRecord) -> str:
        words = self.format(record) if record.exc_info or record.stack_info else record.getMessage()
        return self._shape(record.created, record.levelname, record.name, words)

    def _shape(self, at: float, level: str, name: str, words: str) -> str:
        second = int(at)
        if second != self._second:
            self._stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
            self._second = second
        return f"{self._stamp},{int(at % 1 * 1000):03d} {level} {words}"


class JsonLineHandler(LineHandler):
    """One JSON object a line, for programs that collect logs; times in UTC."""

    def _line(self, record: logging.LogRecord) -> str:
        more = {"exception": logging.Formatter().formatException(record.exc_info)} if record.exc_info else {}
        return self._shape(record.created, record.levelname, record.name, record.getMessage(), **more)

    def _shape(self, at: float, level: str, name: str, words: str, **more: str) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
        place = {"time": f"{stamp}.{int(at % 1 * 1000):03d}Z", "level": level.lower(), "logger": name}
        return msgspec.json.encode({**place, "message": words, **more}).decode()


class DirectLogger(logging.Logger):
    """Where our lines are the only handler, what a turn tells of its steps goes straight to it."""

    def info(self, msg: object, *args: object, **more: Any) -> None:
        lines = self.root.handlers[0] if len(self.root.handlers) == 1 and not self.handlers else None
        if more or not isinstance(lines, LineHandler):
            super().info(msg, *args, **more)
        elif self.isEnabledFor(logging.INFO):
            lines.tell(self.name, str(msg) % args if args else str(msg))


def log_to(stream: TextIO, level: int, form: Form = "text") -> None:
    logging.basicConfig(level=level, handlers=[JsonLineHandler(stream) if form == "json" else LineHandler(stream)])
    logging.getLogger("windlass").__class__ = DirectLogger
