"""A peer among those who are measured. Whatever goes wrong with it becomes a reason in its row; the run goes on."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from benchmarks.load import Sample
from benchmarks.peers.environments import NotInstalled, Spec, environment, python_of
from benchmarks.processes import ROOT, Child, Failed

START_S, ORDER_S = 120.0, 300.0


class PeerFailed(Exception):
    """This peer has no figure."""


class Line(msgspec.Struct):
    """Any line a driver says."""

    failed: str = ""
    version: str = ""
    pid: int = 0
    ms: tuple[float, ...] = ()
    seconds: float = 0


class Peer:
    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.name = spec.name
        self.failed = ""
        self.start_s = 0.0
        self.patience_s = ORDER_S
        self.log = Path()
        self.child: Child | None = None

    async def open(self, python: Path, model_port: int, folder: Path) -> None:
        """Started and ready; or `failed` says why not."""
        began = time.perf_counter()
        self.log = folder / "log"
        self.child = child = _start([str(python), "-m", self.spec.module, str(model_port), str(folder)], self.log)
        with suppress(PeerFailed):
            ready = await self._emit(child.line, START_S)
            self.start_s = time.perf_counter() - began
            self.name = f"{self.spec.name} {ready.version}"
            child.measured = ready.pid

    async def turns(self, order: str, count: int, at_once: int = 1, prior: int = 0) -> Sample:
        child = self.child
        if self.failed or child is None:
            raise PeerFailed(self.failed)
        wanted = msgspec.json.encode({"order": order, "turns": count, "at_once": at_once})
        cpu = child.cpu_s
        said = await self._emit(lambda: child.order(wanted), self.patience_s)
        return Sample(said.ms, said.seconds, child.cpu_s - cpu)

    def close(self) -> None:
        if self.child:
            self.child.stop()
            self._kill()  # what it started itself and left behind

    def _kill(self) -> None:
        if self.child:
            with suppress(ProcessLookupError):
                os.killpg(self.child.process.pid, signal.SIGKILL)

    async def _emit(self, listen: Callable[[], bytes], most_s: float) -> Line:
        try:
            line = await asyncio.wait_for(asyncio.to_thread(listen), most_s)
            said = msgspec.json.decode(line, type=Line)
        except TimeoutError:
            self._kill()  # or the thread that listens would wait on
            said = Line(failed=f"no answer within {most_s:g} s")
        except (Failed, OSError, msgspec.DecodeError):
            said = Line(failed=f"its driver went away{self._last_words()}")
        if said.failed:
            self.failed = said.failed
            self.close()
            raise PeerFailed(self.failed)
        return said

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").split("\n") if self.log.exists() else []
        said = [line.strip() for line in lines if line.strip()]
        return f": {said[-1][:200]}" if said else ""


async def open_all(specs: Sequence[Spec], model_port: int, folder: Callable[[str], Path]) -> list[Peer]:
    """Each in its own environment. All are installed before the first is started."""
    peers = [Peer(spec) for spec in specs]
    pythons = [await asyncio.to_thread(_installed, peer) for peer in peers]
    for peer, python in zip(peers, pythons, strict=True):
        if python:
            await peer.open(python, model_port, folder(peer.name))
        print(f"{peer.name}: {peer.failed or f'ready after {peer.start_s:.1f} s'}", file=sys.stderr, flush=True)
    return peers


def _installed(peer: Peer) -> Path | None:
    try:
        return python_of(peer.spec)
    except (NotInstalled, OSError) as error:
        peer.failed = f"not installed: {error}"
        return None


def _start(command: list[str], log: Path) -> Child:
    pipe = subprocess.PIPE
    with log.open("ab") as file:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, stderr=file, start_new_session=True
        )
    return Child(process)
