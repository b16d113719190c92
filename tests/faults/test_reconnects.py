"""Clients whose connection is cut at any byte, again and again, while turns run and over restarts of the server: what
each of them was given is the log, every event once and in order."""

import asyncio
import contextlib
import json
import random
from pathlib import Path

import aiohttp
import pytest

from tests.faults.killing import Scene
from tests.faults.storm import reply_for
from tests.faults.watching import sse_events
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess
from tests.proof.checker import Transcript
from tests.proof.figures import FULL, note
from tests.web.kit import TOKEN, Site, open_site
from windlass.testing import StrictLLM, say

CUTS = 1000 if FULL else 50
CONVERSATIONS = 4
TURNS = 12 if FULL else 3
SEED = 8


@pytest.mark.timeout(600)
async def test_every_client_sees_the_log_however_often_it_is_cut_off(tmp_path: Path, ledger: Ledger) -> None:
    rng = random.Random(SEED)
    async with StrictLLM(reply_for) as llm:
        scene = Scene(tmp_path, ledger, llm, "normal")
        scene.write_settings()
        server = scene.server()
        await server.start()
        try:
            await server.running("ledger")
            ids = [await _conversation(server) for _ in range(CONVERSATIONS)]
            cutters = [Cutter(server, id, rng.randrange(1 << 30)) for id in ids]
            cutting = [asyncio.create_task(cutter.run(CUTS // CONVERSATIONS)) for cutter in cutters]
            await asyncio.gather(*(_talk(server, id, "a") for id in ids))
            await server.kill()
            await server.start()
            await server.running("ledger")
            await asyncio.gather(*(_talk(server, id, "b") for id in ids))
            await asyncio.gather(*cutting)
            assert await server.stop() == 0
        finally:
            await server.kill()
        faults = scene.faults(*(transcript for cutter in cutters for transcript in cutter.transcripts))
    assert faults == [], f"seed {SEED}: {faults[:3]}"
    cuts = sum(cutter.cuts for cutter in cutters)
    assert cuts >= CUTS - CONVERSATIONS
    note("reconnects", count=cuts, seed=SEED)


async def _talk(server: WindlassProcess, conversation: str, name: str) -> None:
    for number in range(TURNS):
        text = f"{conversation}-{name}{number}"
        answer = await server.post(f"/conversations/{conversation}/chat", {"content": text})
        assert answer["outcome"] == "answered", answer


async def _conversation(server: WindlassProcess) -> str:
    return str((await server.post("/conversations", {}))["conversation"]["id"])


class Cutter:
    """Reads so many bytes, hangs up, comes back with the last id it has whole; at the end of the log it starts over as
    another client."""

    def __init__(self, server: WindlassProcess, conversation_id: str, seed: int) -> None:
        self._server = server
        self._rng = random.Random(seed)
        self._conversation = conversation_id
        self.transcripts = [Transcript(conversation_id, whole=False)]
        self.cuts = 0

    async def run(self, cuts: int) -> None:
        async with aiohttp.ClientSession() as session:
            while self.cuts < cuts:
                with contextlib.suppress(aiohttp.ClientError, OSError, TimeoutError):
                    await self._once(session)

    async def _once(self, session: aiohttp.ClientSession) -> None:
        seen = self.transcripts[-1].seen
        headers = {"Authorization": f"Bearer {self._server.token}", "Last-Event-ID": str(seen[-1][0] if seen else 0)}
        url = f"{self._server.url}/conversations/{self._conversation}/events"
        async with session.get(url, headers=headers) as answer:
            left, rest = self._rng.randint(20, 4000), b""
            while left > 0:
                try:
                    piece = await asyncio.wait_for(answer.content.read(left), 0.5)
                except TimeoutError:  # nothing more is to come for now
                    self.transcripts.append(Transcript(self._conversation, whole=False))
                    break
                if not piece:
                    break
                left -= len(piece)
                *blocks, rest = (rest + piece).split(b"\n\n")
                for block in blocks:
                    self._take(block)
            answer.close()
        self.cuts += 1

    def _take(self, block: bytes) -> None:
        fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if ": " in line)
        if "id" in fields:
            data = json.loads(fields["data"])
            self.transcripts[-1].seen.append((int(fields["id"]), data["turn_id"], data["seq"], fields["event"]))


async def test_any_last_id_gives_what_is_missing_or_everything(tmp_path: Path) -> None:
    """One of ours: what came after it. One of the future, or none at all: everything."""
    async with StrictLLM([say("Hi.")]) as llm, open_site(tmp_path, llm) as site:
        conversation = await site.conversation()
        answer = await site.post(f"/conversations/{conversation}/chat", {"content": "x"})
        ids = [event["id"] for event in (await site.get(f"/turns/{answer['turn_id']}/log"))["events"]]
        for last in ("0", "3", "999999", "garbage", "-1", "3.5", "", "9" * 30, "0x3", "\u0663"):
            wanted = [id for id in ids if last != "3" or id > 3]
            assert await _seen_after(site, conversation, last, wanted[-1]) == wanted, last


async def _seen_after(site: Site, conversation: str, last: str, until: int) -> list[int]:
    headers = {"Authorization": f"Bearer {TOKEN}", "Last-Event-ID": last}
    seen: list[int] = []
    async with site.session.get(f"{site.url}/conversations/{conversation}/events", headers=headers) as answer:
        async for fields in sse_events(answer):
            if "id" in fields:
                seen.append(int(fields["id"]))
            if seen and seen[-1] >= until:
                answer.close()
                break
    return seen
