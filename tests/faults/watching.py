"""A client that watches a conversation as a page does: it comes back with the last id it has, over cuts and restarts,
and writes down every durable event it is given."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.kit.waiting import PATIENCE_S
from tests.kit.windlass_process import WindlassProcess
from tests.proof.checker import Transcript

PAUSE_S = 0.02


class Client:
    def __init__(self, server: WindlassProcess, conversation_id: str) -> None:
        self._server = server
        self.transcript = Transcript(conversation_id)
        self.texts: list[str] = []  # of the reply in flight
        self.connects = 0
        self._grown = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_connect=5)) as session:
            while True:
                try:
                    await self._watch(session)
                except (aiohttp.ClientError, OSError):
                    await asyncio.sleep(PAUSE_S)  # the server is down; nothing tells when it is back

    async def heard(self, text: str) -> None:
        """Wait until this was said in the reply in flight, in however many pieces."""
        while text not in "".join(self.texts):
            self._grown.clear()
            await asyncio.wait_for(self._grown.wait(), PATIENCE_S)

    async def saw(self, number: int) -> None:
        """Wait until the event of this number was given."""
        while self.last < number:
            self._grown.clear()
            await asyncio.wait_for(self._grown.wait(), PATIENCE_S)

    @property
    def last(self) -> int:
        return self.transcript.seen[-1][0] if self.transcript.seen else 0

    async def _watch(self, session: aiohttp.ClientSession) -> None:
        headers = {"Authorization": f"Bearer {self._server.token}", "Last-Event-ID": str(self.last)}
        path = f"/conversations/{self.transcript.conversation_id}/events"
        async with session.get(self._server.url + path, headers=headers) as answer:
            if answer.status != 200:
                raise aiohttp.ClientError(f"status {answer.status}")
            self.connects += 1
            await self._read(answer)

    async def _read(self, answer: aiohttp.ClientResponse) -> None:
        async for fields in sse_events(answer):
            data = json.loads(fields.get("data", "{}"))
            if "id" in fields:
                self.transcript.seen.append((int(fields["id"]), data["turn_id"], data["seq"], fields["event"]))
            elif fields.get("event") == "text_delta":
                self.texts.append(data["text"])
            self._grown.set()


async def sse_events(answer: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    rest = b""
    async for chunk in answer.content.iter_any():
        *blocks, rest = (rest + chunk).split(b"\n\n")
        for block in blocks:
            yield dict(line.split(": ", 1) for line in block.decode().split("\n") if ": " in line)


@asynccontextmanager
async def watching(server: WindlassProcess, conversation_id: str) -> AsyncIterator[Client]:
    client = Client(server, conversation_id)
    task = asyncio.create_task(client.run())
    try:
        yield client
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
