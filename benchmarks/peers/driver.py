"""What every driver shares. It runs inside the peer's own environment, so it uses the standard library only.

    driver  {"version": "1.2.3", "pid": 4711}              once, when the peer is ready; pid is the process to measure
    bench   {"order": "s1", "turns": 20, "at_once": 1}
    driver  {"ms": [13.1, ...], "seconds": 0.27}

and at any time, as the last line: {"failed": "why"}.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.load import Ask, Sample, run_turns

ECHO = Path(__file__).parent.parent / "echo_server.py"
KEY = "none"
MODEL = "stub"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a peer works: the model's address, the tool server's command, a folder of its own."""

    model_url: str
    command: str
    args: list[str]
    folder: Path


async def _no_conversation() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Peer:
    ask: Ask
    conversation: Callable[[], Awaitable[str]] = _no_conversation  # made before the clock starts
    pid: int = 0


Open = Callable[[AsyncExitStack, Place], Awaitable[Peer]]


def drive(package: str, open_peer: Open) -> None:
    """Open the peer, say so, follow orders until stdin closes."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # a peer that prints must not speak on our line
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    place = Place(f"http://127.0.0.1:{port}/v1", sys.executable, ["-S", str(ECHO)], folder)

    def tell(line: dict[str, object]) -> None:
        out.write(json.dumps(line) + "\n")

    try:
        asyncio.run(_follow(package, open_peer, place, tell))
    except Exception as error:  # the root of the process: whatever it was, the bench is told
        tell({"failed": reason(error)})
        raise


async def _follow(package: str, open_peer: Open, place: Place, tell: Callable[[dict[str, object]], None]) -> None:
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        peer = await open_peer(stack, place)
        tell({"version": version(package), "pid": peer.pid or os.getpid()})
        while line := await loop.run_in_executor(None, sys.stdin.buffer.readline):
            tell(asdict(await _turns(peer, **json.loads(line))))


async def _turns(peer: Peer, order: str, turns: int, at_once: int) -> Sample:
    conversations = [await peer.conversation() for _ in range(turns)]
    return await run_turns(peer.ask, order, conversations, at_once)


def reason(error: BaseException) -> str:
    """The innermost of a group; one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}"[:300]
