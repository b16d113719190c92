"""Child processes of a run: started, asked what they cost, and always ended."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = os.sysconf("SC_PAGE_SIZE")


class Failed(Exception):
    """A process did not come up, or went away."""


@dataclass(slots=True)
class Child:
    """A process of ours. It ends when its stdin closes, or is killed."""

    process: "subprocess.Popen[bytes]"
    port: int = 0
    measured: int = 0  # the process that does the work, where this one only speaks for it

    @property
    def rss_mb(self) -> float:
        fields = Path(f"/proc/{self._pid}/statm").read_text().split()
        return int(fields[1]) * PAGE / 1e6

    @property
    def cpu_s(self) -> float:
        """Processor time of all its threads, to the nanosecond; far steadier than the clock on a busy machine."""
        tasks = Path(f"/proc/{self._pid}/task")
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9

    @property
    def _pid(self) -> int:
        return self.measured or self.process.pid

    def order(self, line: bytes) -> bytes:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return self.line()

    def line(self) -> bytes:
        assert self.process.stdout
        if answer := self.process.stdout.readline():
            return answer
        raise Failed(f"{self.process.args!r} went away")

    def stop(self, *, gently: bool = False) -> None:
        if self.process.stdin:
            with suppress(BrokenPipeError):  # it is gone, and left something unread
                self.process.stdin.close()
        if gently:
            self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def start_module(module: str, *args: object, under: Sequence[str] = ()) -> Child:
    """One of our own, which prints its port when it is ready."""
    command = [*under, sys.executable, "-m", module, *map(str, args)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise Failed(f"{module} did not start")
    return Child(process, int(line))


def start(command: list[str], env: Mapping[str, str], log: Path) -> Child:
    with log.open("ab") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    return Child(process)


def seconds_of(command: list[str], env: Mapping[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began
