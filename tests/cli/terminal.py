"""A real pseudo-terminal with a program in it: what a person sees, types and interrupts."""

import os
import pty
import re
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

PATIENCE_S = 90.0
UNNOTICED_S = 15.0
CTRL_C, CTRL_D = "\x03", "\x04"
# Gives the program the terminal as its own, so that Ctrl-C reaches it as a signal, which it does not ignore even where
# the tests run in the background of a shell and do.
TAKE_OVER = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|\r")


class Terminal:
    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self._main, side = pty.openpty()
        self.before = termios.tcgetattr(side)
        self._side = side
        self._raw = b""
        self._seen_until = 0
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKE_OVER, *argv],
            stdin=side,
            stdout=side,
            stderr=side,
            env={**env, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"},
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        """Everything shown so far, without colours and cursor movements."""
        return _ANSI.sub("", self._raw.decode("utf-8", "replace"))

    def expect(self, wanted: str) -> None:
        """Wait until the text appears after what was expected before."""
        if not self._appears(wanted, PATIENCE_S):
            raise AssertionError(f"{wanted!r} never appeared; seen:\n{self.text}")

    def send(self, text: str) -> None:
        os.write(self._main, text.encode())

    def interrupt(self, wanted: str) -> None:
        """Press Ctrl-C until the text appears. Python overlooks a signal that comes in the very moment before it waits
        for a key or a lock; a person then presses again, long after anything else would have happened."""
        for _ in range(int(PATIENCE_S / UNNOTICED_S)):
            self.send(CTRL_C)
            if self._appears(wanted, UNNOTICED_S):
                return
        raise AssertionError(f"{wanted!r} never appeared; seen:\n{self.text}")

    def interrupt_and_wait(self) -> int:
        """The same until the program ends; gives its exit code."""
        for _ in range(int(PATIENCE_S / UNNOTICED_S)):
            self.send(CTRL_C)
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(UNNOTICED_S)
        raise AssertionError(f"it never ended; seen:\n{self.text}")

    def wait(self) -> int:
        code = self.process.wait(PATIENCE_S)
        return code

    def now(self) -> list[Any]:
        return termios.tcgetattr(self._side)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._side)
        self._reader.join()
        os.close(self._main)

    def _appears(self, wanted: str, patience_s: float) -> bool:
        ends = time.monotonic() + patience_s
        with self._news:
            while (start := self.text.find(wanted, self._seen_until)) < 0:
                left = ends - time.monotonic()
                if left <= 0:
                    return False
                self._news.wait(left)
            self._seen_until = start + len(wanted)
        return True

    def _read(self) -> None:
        while True:
            try:
                news = os.read(self._main, 65536)
            except OSError:
                news = b""
            with self._news:
                self._raw += news
                self._news.notify_all()
            if not news:
                return


@contextmanager
def terminal(argv: list[str], env: dict[str, str]) -> Iterator[Terminal]:
    opened = Terminal(argv, env)
    try:
        yield opened
    finally:
        opened.close()
