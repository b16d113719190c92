"""Never answers, and does not hear that its stdin closes."""

import asyncio
from contextlib import AsyncExitStack

from benchmarks.peers.driver import Peer, Place, drive


async def open_peer(stack: AsyncExitStack, place: Place) -> Peer:
    async def ask(conversation: str, text: str) -> bytes:
        await asyncio.Event().wait()
        return b""

    return Peer(ask)


if __name__ == "__main__":
    drive("msgspec", open_peer)
