"""Does the work, and talks where it should not."""

import sys
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

from benchmarks.floor import Floor
from benchmarks.peers.driver import Peer, Place, drive


async def open_peer(stack: AsyncExitStack, place: Place) -> Peer:
    floor = Floor(place.folder, "normal", urlsplit(place.model_url).port or 0)
    await floor.open()
    stack.callback(floor.close)

    async def conversation() -> str:
        return str(floor.conversation([]))

    async def ask(conversation: str, text: str) -> bytes:
        sys.stdout.write("words of its own\n")
        sys.stdout.flush()
        return (await floor.turn(int(conversation), text, lambda piece: None)).encode()

    return Peer(ask, conversation)


if __name__ == "__main__":
    drive("msgspec", open_peer)
