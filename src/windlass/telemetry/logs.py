"""The server's log lines on a stream. What `logging` does for every line (a record, a lock, filters, a calendar date,
a search for the caller) costs more than most steps of a turn, so the lines of a turn bypass it."""

import asyncio
import logging
import re
import time
from collections.abc import Callable
from typing import Any, Literal, TextIO

import msgspec

Form = Literal["text", "json"]
FLUSH_DELAY_S = 0.05
# Characters that end a line, steer a terminal, reorder text, or cannot be written at all.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def one_line(text: str) -> str:
    """The text with such characters escaped: names come from models and servers, and must not forge a line."""
    return text if text.isprintable() else _UNSAFE.sub(_escaped, text)


def json_line(value: object) -> str:
    """JSON may hold some of them as they are; escaped, they mean the same."""
    text = msgspec.json.encode(value).decode()
    return text if text.isprintable() else _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


class LineHandler(logging.Handler):
    """`2026-01-31 12:00:00,123 INFO message`. A write costs as much as ten lines, so lines below WARNING are held for
    `FLUSH_DELAY_S` and written together. Warnings and lines at a terminal are written at once. Lines keep their order:
    all of them go through the one list of held lines."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(message)s"))
        self._stream = stream
        self._at_once = stream.isatty()
        self._held: list[str] = []
        self.redact: Callable[[str], str] = str
        self._second = 0
        self._stamp = ""

    def handle(self, record: logging.LogRecord) -> bool:
        self.emit(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        self._hold(self._line(record))
        if record.levelno >= logging.WARNING:
            self.flush()

    def info(self, name: str, message: str) -> None:
        """A line of level INFO without a record."""
        self._hold(self._shape(time.time(), "INFO", name, message))

    def flush(self) -> None:
        if not self._held:
            return
        lines, self._held = self._held, []
        try:
            self._stream.write(self.redact("\n".join(lines)) + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # the reader is gone; a turn does not fail for its log
            pass

    def _hold(self, line: str) -> None:
        self._held.append(line)
        if self._at_once:
            self.flush()
        elif len(self._held) == 1:
            self._flush_soon()

    def _flush_soon(self) -> None:
        try:
            asyncio.get_running_loop().call_later(FLUSH_DELAY_S, self.flush)
        except RuntimeError:  # no loop here to flush later: another thread, or the server does not run yet
            self.flush()

    def _line(self, record: logging.LogRecord) -> str:
        line = self._shape(record.created, record.levelname, record.name, record.getMessage())
        if not (record.exc_info or record.stack_info):
            return line
        trace = self.format(record).removeprefix(record.getMessage())
        # Indented, so that no line of an error's text passes for one of the log's.
        return "\n".join([line, *(f"  {one_line(rest)}" for rest in trace.strip("\n").split("\n"))])

    def _shape(self, at: float, level: str, name: str, message: str) -> str:
        second = int(at)
        if second != self._second:
            self._stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
            self._second = second
        return f"{self._stamp},{int(at % 1 * 1000):03d} {level} {one_line(message)}"


class JsonLineHandler(LineHandler):
    """One JSON object a line, for programs that collect logs; times in UTC."""

    def _line(self, record: logging.LogRecord) -> str:
        more = {"exception": logging.Formatter().formatException(record.exc_info)} if record.exc_info else {}
        return self._shape(record.created, record.levelname, record.name, record.getMessage(), **more)

    def _shape(self, at: float, level: str, name: str, message: str, **more: str) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
        head = {"time": f"{stamp}.{int(at % 1 * 1000):03d}Z", "level": level.lower(), "logger": name}
        texts = {"message": message, **more}
        return json_line(head | {key: _SURROGATE.sub(_escaped, text) for key, text in texts.items()})


class DirectLogger(logging.Logger):
    """Passes the lines of a turn straight to our handler, where that is the only one. With any other handler each line
    takes the ordinary way, since that handler needs a record."""

    def info(self, msg: object, *args: object, **more: Any) -> None:
        lines = self.root.handlers[0] if len(self.root.handlers) == 1 and not self.handlers else None
        if more or not isinstance(lines, LineHandler):
            super().info(msg, *args, **more)
        elif self.isEnabledFor(logging.INFO):
            lines.info(self.name, str(msg) % args if args else str(msg))


def redact_lines(redact: Callable[[str], str]) -> None:
    """From now on, in all that is logged here."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LineHandler):
            handler.redact = redact


def log_to(stream: TextIO, level: int, form: Form = "text") -> None:
    logging.basicConfig(level=level, handlers=[JsonLineHandler(stream) if form == "json" else LineHandler(stream)])
    logging.getLogger("windlass").__class__ = DirectLogger
