"""What the tests of the servers share: a config for the ledger server, and a count of the living."""

import os
from collections.abc import Sequence
from typing import Any

import psutil

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S, until
from windlass.servers import ServerConfig, Servers, TextPart
from windlass.servers.values import CallResult

ERAS = ("handshake", "stateless")
VERSIONS = {"handshake": "2025-11-25", "stateless": "2026-07-28"}


def ledger_config(ledger: Ledger, *options: str, slug: str = "ledger", **more: Any) -> ServerConfig:
    return program(ledger.argv(*options), slug=slug, **more)


def program(argv: Sequence[str], *, slug: str = "server", **more: Any) -> ServerConfig:
    return ServerConfig(f"srv-{slug}", slug, command=argv[0], args=tuple(argv[1:]), **{"confirmed": True, **more})


async def run(servers: Servers, config: ServerConfig) -> None:
    """Start it and wait until it runs."""
    await servers.put(config)
    servers.start(config.id)
    status = await servers.wait_ready(config.id, PATIENCE_S)
    assert status.state == "running", status.reason


def text_of(result: CallResult) -> str:
    return "\n".join(part.text for part in result.parts if isinstance(part, TextPart))


def family(servers: Servers, slug: str) -> list[int]:
    """All processes of a running server, bubblewrap or the launcher first, as this machine numbers them: inside its
    namespace a server sees other numbers."""
    root = psutil.Process(servers.status(slug).pid)
    return [root.pid, *(child.pid for child in root.children(recursive=True))]


class Census:
    """The living descendants of this process, and who of them was not there before."""

    def __init__(self) -> None:
        self._before = _living()

    async def newcomers_gone(self) -> list[str]:
        """Wait a while for them to go; the names of those who stay."""
        try:
            await until(lambda: not _living() - self._before, "every new process to end")
        except AssertionError:
            return [_name(pid) for pid in _living() - self._before]
        return []


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _living() -> set[int]:
    return {child.pid for child in psutil.Process(os.getpid()).children(recursive=True) if alive(child.pid)}


def _name(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.NoSuchProcess:
        return str(pid)
