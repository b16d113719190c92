"""A clock that jumps. Deadlines do not follow it, and neither does the order of things."""

import asyncio
import os
from pathlib import Path

from tests.faults.killing import Scene, Script, finished
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess
from tests.proof.figures import FULL
from windlass.testing import Gate, StrictLLM, say, wait_for


class Clock:
    """The wall clock of a server, moved from outside through `tests/kit/clock`. Monotonic time goes on, as it does when
    someone sets a clock."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.jump(0)

    def jump(self, days: float) -> None:
        self._file.write_text(str(days * 86400))

    def env(self) -> dict[str, str]:
        path = [str(CLOCK), os.environ.get("PYTHONPATH", "")]
        return {"PYTHONPATH": os.pathsep.join(filter(None, path)), "CLOCK_OFFSET_FILE": str(self._file)}


CLOCK = Path(__file__).parents[1] / "kit" / "clock"


async def _say(server: WindlassProcess, conversation: str, text: str) -> None:
    answer = await server.post(f"/conversations/{conversation}/chat", {"content": text})
    assert answer["outcome"] == "answered", answer


async def test_a_jump_of_the_clock_ends_no_turn_and_keeps_the_order(tmp_path: Path, ledger: Ledger) -> None:
    clock, gate = Clock(tmp_path), Gate()
    script = [say("One", wait_for(gate), "."), *(say(f"{n}.") for n in range(2, 6))]
    async with StrictLLM(script) as llm:
        scene = Scene(tmp_path, ledger, llm)
        scene.write_settings()
        server = scene.server()
        server.env |= clock.env()
        await server.start()
        try:
            conversation = (await server.post("/conversations", {}))["conversation"]["id"]
            asking = asyncio.create_task(_say(server, conversation, "one"))
            await gate.reached()
            clock.jump(2)
            assert (await server.call("GET", "/health")).status == 200
            clock.jump(-2)
            gate.open()
            await asking
            await _say(server, conversation, "two")
            clock.jump(-9)
            await _say(server, conversation, "three")
            await server.kill()
            clock.jump(-30)
            await server.start()
            await _say(server, conversation, "four")
            messages = (await server.get(f"/conversations/{conversation}/messages"))["messages"]
            turns = (await server.get(f"/conversations/{conversation}/turns"))["turns"]
        finally:
            await server.kill()
    assert [m["content"] for m in messages if m["role"] == "user"] == ["one", "two", "three", "four"]
    assert [turn["parent_turn_id"] for turn in turns] == [None, *(turn["id"] for turn in turns[:-1])]


async def test_an_approval_is_still_there_after_seven_days_and_restarts(tmp_path: Path, ledger: Ledger) -> None:
    clock = Clock(tmp_path)
    async with StrictLLM(Script(1)) as llm:
        scene = Scene(tmp_path, ledger, llm)
        scene.write_settings(approval="ask")
        server = scene.server()
        server.env |= clock.env()
        await server.start()
        try:
            await server.running("ledger")
            conversation = (await server.post("/conversations", {}))["conversation"]["id"]
            waiting = await server.post(f"/conversations/{conversation}/chat", {"content": "go"})
            assert waiting["outcome"] == "awaiting_person"
            for days in (1, 3, 7) if FULL else (7,):
                clock.jump(days)
                await server.kill()
                await server.start()
                await server.running("ledger")
                turn = await server.settled(waiting["turn_id"])
                assert (turn["state"], ledger.counts()) == ("awaiting_person", {})
            await finished(server, waiting["turn_id"])
            turn = await server.settled(waiting["turn_id"])
        finally:
            await server.kill()
    assert (turn["outcome"], ledger.counts()) == ("answered", {"e0": 1})
