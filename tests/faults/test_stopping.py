"""A server that is told to go: nothing new, what runs may finish, the rest waits for the next start."""

import asyncio
import contextlib
from pathlib import Path

import aiohttp

from tests.faults.killing import Scene, finished
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S
from tests.kit.windlass_process import WindlassProcess, children_of, gone
from tests.proof.figures import FULL
from windlass.testing import ChatRequest, Gate, StrictLLM, say, wait_for
from windlass.testing.replies import Scripted

RUNS = 20


async def test_a_server_told_to_go_leaves_its_turns_to_the_next(tmp_path: Path, ledger: Ledger) -> None:
    """Turns that can finish within the grace do; at full scale half of them cannot, which takes the whole grace.
    SIGTERM ends with 0, and no child is left."""
    gate, held = Gate(), asyncio.Event()

    def reply_for(request: ChatRequest) -> Scripted:
        slow = request.user_text.startswith("slow") and not held.is_set()
        return say("Well ", wait_for(held if slow else gate), "done.")

    async with StrictLLM(reply_for) as llm:
        scene = Scene(tmp_path, ledger, llm)
        scene.write_settings()
        server = scene.server()
        await server.start()
        try:
            await server.running("ledger")
            children = children_of(server.pid)
            names = [f"{'slow' if FULL and n % 2 else 'quick'}-{n}" for n in range(RUNS)]
            ids = [(await server.post("/conversations", {}))["conversation"]["id"] for _ in names]
            asking = [
                asyncio.create_task(server.call("POST", f"/conversations/{id}/chat", {"content": name}))
                for id, name in zip(ids, names, strict=True)
            ]
            await llm.arrived(RUNS)
            stopping = asyncio.create_task(server.stop())
            await until_refused(server, ids[0])
            gate.open()
            assert await stopping == 0
            answers = await asyncio.gather(*asking, return_exceptions=True)
            await gone(children)
            quick = [answer for name, answer in zip(names, answers, strict=True) if name.startswith("quick")]
            assert all(getattr(answer, "status", 0) == 200 for answer in quick), quick
            held.set()
            await server.start()
            for id in ids:
                turns = (await server.get(f"/conversations/{id}/turns"))["turns"]
                assert turns, "what was asked before the stop is kept"
                for turn in turns:
                    await finished(server, turn["id"])
                    assert (await server.settled(turn["id"]))["outcome"] == "answered"
            assert await server.stop() == 0
        finally:
            await server.kill()
        scene.acknowledged += names
        assert scene.faults() == []


async def until_refused(server: WindlassProcess, conversation: str) -> None:
    """The first 503 with its Retry-After."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                said = await server.call("POST", f"/conversations/{conversation}/chat", {"content": "more"})
                if said.status == 503:
                    assert int(said.headers["Retry-After"]) > 0
                    return
                assert said.status == 409, said
