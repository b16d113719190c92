"""Several conversations at once on one server that is killed again and again, at moments a seed decides. Every person
behaves as a page does: repeats what got no answer, answers what is asked, and watches."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp

from tests.faults.killing import Scene, finished
from tests.faults.watching import Client, watching
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess
from tests.proof.figures import note
from windlass.core.events import Limits
from windlass.testing import ChatRequest, StrictLLM, call, calls, say
from windlass.testing.replies import Scripted

LONGEST_S = 1.5
CLAIMS = Limits().claims  # so many starts without progress are enough
Step = Callable[[], Awaitable[str]]


async def check_storm(folder: Path, ledger: Ledger, *, kills: int, conversations: int, seed: int) -> None:
    rng = random.Random(seed)
    async with StrictLLM(reply_for) as llm:
        scene = Scene(folder, ledger, llm, rng.choice(["full", "normal"]))
        scene.write_settings()
        server = scene.server()
        await server.start()
        try:
            await server.running("ledger")
            async with contextlib.AsyncExitStack() as stack:
                people = [
                    Person(server, await stack.enter_async_context(watching(server, await _conversation(server))), name)
                    for name in map(str, range(conversations))
                ]
                await _blow(server, people, kills, rng)
                for person in people:
                    await person.client.saw(await person.last_event())
                assert await server.stop() == 0
        finally:
            await server.kill()
        scene.acknowledged += [text for person in people for text in person.acknowledged]
        faults = scene.faults(*(person.client.transcript for person in people))
    turns = sum(len(person.acknowledged) for person in people)
    assert faults == [], f"seed {seed}: {faults}"
    assert llm.refused == [], f"seed {seed}: {llm.refused}"
    assert turns >= conversations, f"seed {seed}: only {turns} turns"
    assert all(person.given_up * CLAIMS <= kills for person in people), f"seed {seed}: given up too soon"
    note("random kills", count=kills, seed=seed, turns=turns, effects=len(ledger.effects()))
    note("reconnects", count=sum(person.client.connects - 1 for person in people))


def reply_for(request: ChatRequest) -> Scripted:
    if request.rounds:
        return say("Done with ", request.user_text, ".")
    return calls(*(call("record", effect_id=f"{request.user_text}/{n}") for n in range(3)))


class Person:
    """One who keeps talking. A message counts as acknowledged when its turn was answered or shown."""

    def __init__(self, server: WindlassProcess, client: Client, name: str) -> None:
        self.client = client
        self.acknowledged: list[str] = []
        self.over = False
        self.given_up = 0  # turns that were killed before every step, time after time, and said so
        self._server = server
        self._name = name

    async def talk(self) -> None:
        number = 0
        while not self.over:
            number += 1
            text = f"{self._name}-{number}"
            turn_id = await self._stubbornly(self._say(text))
            self.acknowledged.append(text)
            await self._stubbornly(self._finish(turn_id))

    async def last_event(self) -> int:
        conversation = self.client.transcript.conversation_id
        turn = (await self._server.get(f"/conversations/{conversation}/turns"))["turns"][-1]
        return int((await self._server.get(f"/turns/{turn['id']}/log"))["events"][-1]["id"])

    def _say(self, text: str) -> Step:
        async def once() -> str:
            path = f"/conversations/{self.client.transcript.conversation_id}/chat"
            answer = await self._server.call("POST", path, {"content": text, "client_message_id": text})
            assert answer.status in (200, 202, 502, 503), answer
            if answer.status == 503:
                raise aiohttp.ClientError("it is going down")
            if answer.status == 502:
                assert answer.body["error"]["code"] == "crashed", answer
                self.given_up += 1
            else:
                assert answer.body["outcome"] in ("answered", "awaiting_person"), answer
            return str(answer.body["turn_id"])

        return once

    def _finish(self, turn_id: str) -> Step:
        async def once() -> str:
            await finished(self._server, turn_id)
            return turn_id

        return once

    async def _stubbornly(self, step: Step) -> str:
        while True:
            try:
                return await step()
            except (aiohttp.ClientError, OSError):
                await asyncio.sleep(0.02)  # the server is down; nothing tells when it is back


async def _conversation(server: WindlassProcess) -> str:
    return str((await server.post("/conversations", {}))["conversation"]["id"])


async def _blow(server: WindlassProcess, people: list[Person], kills: int, rng: random.Random) -> None:
    async with asyncio.TaskGroup() as crowd:
        for person in people:
            crowd.create_task(person.talk())
        for _ in range(kills):
            await asyncio.sleep(rng.random() * LONGEST_S)  # the moment of the kill is the point of it
            await server.kill()
            await server.start()
        for person in people:
            person.over = True
