"""The server's log lines on a stream. What `logging` does for every line (a lock, filters, a stamp from the calendar,
a look for the source) costs more than most steps of a turn; here the stamp is made once a second, the rest never."""

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any, Literal, TextIO

import msgspec

Form = Literal["text", "json"]
COMPANY_S = 0.05


class Lines(logging.Handler):
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
        self._held.append(self._line(record))
        if self._at_once or record.levelno >= logging.WARNING:
            self.flush()
        elif len(self._held) == 1:
            self._flush_soon()

    def flush(self) -> None:
        if not self._held:
            return
        lines, self._held = self._held, []
        try:
            self._stream.write("\n".join(lines) + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads any more; the turns go on
            pass

    def _flush_soon(self) -> None:
        try:
            asyncio.get_running_loop().call_later(COMPANY_S, self.flush)
        except RuntimeError:  # another thread's line, or before the server runs
            self.flush()

    def _line(self, record: logging.LogRecord) -> str:
        second = int(record.created)
        if second != self._second:
            self._stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
            self._second = second
        words = self.format(record) if record.exc_info or record.stack_info else record.getMessage()
        return f"{self._stamp},{int(record.msecs):03d} {record.levelname} {words}"


class JsonLines(Lines):
    """One JSON object a line, for programs that collect logs; times in UTC."""

    def _line(self, record: logging.LogRecord) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        told = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["exception"] = logging.Formatter().formatException(record.exc_info)
        return msgspec.json.encode(told).decode()


class Record(logging.LogRecord):
    """With everything a formatter may ask for, but threads, processes and source lines are not looked for: nobody
    reads them here."""

    def __init__(
        self,
        name: str,
        level: int,
        pathname: str,
        lineno: int,
        msg: object,
        args: Any,
        exc_info: Any,
        func: str | None = None,
        sinfo: str | None = None,
        **_: object,
    ) -> None:
        now = time.time()
        named = len(args) == 1 and isinstance(args[0], Mapping) and args[0]  # "%(what)s", and a dict that says what
        self.__dict__ = {
            **_NOWHERE,
            "name": name,
            "msg": msg,
            "args": args[0] if named else args,
            "levelno": level,
            "levelname": logging.getLevelName(level),
            "exc_info": exc_info,
            "stack_info": sinfo,
            "created": now,
            "msecs": now % 1 * 1000,
        }


_NOWHERE = {
    "pathname": "",
    "filename": "",
    "module": "",
    "lineno": 0,
    "funcName": "",
    "thread": 0,
    "threadName": "",
    "process": 0,
    "processName": "",
    "taskName": "",
    "relativeCreated": 0.0,
    "exc_text": None,
}


class Straight(logging.Logger):
    """Where our lines are the only handler, what a turn tells of its steps goes straight to it."""

    def info(self, msg: object, *args: object, **more: Any) -> None:
        lines = self.root.handlers[0] if len(self.root.handlers) == 1 and not self.handlers else None
        if more or not isinstance(lines, Lines):
            super().info(msg, *args, **more)
        elif self.isEnabledFor(logging.INFO):
            lines.emit(Record(self.name, logging.INFO, "", 0, msg, args, None))


def log_to(stream: TextIO, level: int, form: Form = "text") -> None:
    logging.setLogRecordFactory(Record)
    logging._srcfile = None  # else every line looks for its source, as the documentation of `logging` says
    logging.basicConfig(level=level, handlers=[JsonLines(stream) if form == "json" else Lines(stream)])
    logging.getLogger("windlass").__class__ = Straight
