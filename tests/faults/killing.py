"""A real turn of a real server, killed at a named point, and what is left of it afterwards."""

import asyncio
import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess, model_settings
from tests.proof.checker import broken_promises
from windlass.testing import ChatRequest, StrictLLM, call, calls, say
from windlass.testing.replies import Scripted
from windlass.testing.scripts import ScriptFunction

AGAIN = "and again"

# The kill points of a turn, in its order. `n` is the occurrence that kills, where there is more than one.
INSIDE = (
    ("request_parsed", 1),
    ("turn_created", 1),
    ("turn_claimed", 1),
    ("model_asked", 1),
    ("reply_complete", 1),
    ("calls_ready", 1),
    ("calls_begun", 1),
    ("result_received", 1),
    ("result_recorded", 1),
    ("model_asked", 2),
    ("reply_complete", 2),
    ("turn_settled", 1),
)


@dataclass
class Scene:
    folder: Path
    ledger: Ledger
    llm: StrictLLM
    durability: str = "full"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def write_settings(self, approval: str = "auto") -> None:
        command, *args = self.ledger.argv()
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "windlass.toml").write_text(
            f"""
            durability = {json.dumps(self.durability)}
            [servers.ledger]
            command = {json.dumps(command)}
            args = {json.dumps(args)}
            tools = "*"
            approval = {json.dumps(approval)}
            """
        )

    def server(self) -> WindlassProcess:
        return WindlassProcess(self.home, model_settings(self.llm.base_url))


def script(parallel: int) -> ScriptFunction:
    """One round of unsafe calls, then the answer; told by the request alone, so it can be asked again."""
    asking = calls(*(call("record", effect_id=f"e{n}") for n in range(parallel)))

    def reply_for(request: ChatRequest) -> Scripted:
        return say("All done.") if request.rounds or request.user_text == AGAIN else asking

    return reply_for


async def killed_turn(server: WindlassProcess, **env: str) -> str:
    """Send one message to a server that will die of it. Gives the conversation."""
    await server.start(**env)
    await server.running("ledger")
    conversation: str = (await server.post("/conversations", {}))["conversation"]["id"]
    await killed_by(server, f"/conversations/{conversation}/chat", {"content": "go", "client_message_id": "m1"})
    return conversation


async def killed_by(server: WindlassProcess, path: str, body: object) -> None:
    with contextlib.suppress(aiohttp.ClientError):
        await server.post(path, body)
    assert await server.ended() == -9


async def recovered(scene: Scene, server: WindlassProcess, conversation: str) -> dict[str, int]:
    """Start again on what is left, give the word where it waits for one, and ask once more. Gives how many calls were
    found unknown and whether the first message was still there."""
    await server.start()
    await server.running("ledger")
    turns = (await server.get(f"/conversations/{conversation}/turns"))["turns"]
    unknown = 0
    for turn in turns:
        unknown += await _finish(server, turn["id"])
    answer = await server.post(f"/conversations/{conversation}/chat", {"content": AGAIN})
    assert answer["outcome"] in ("answered", "awaiting_person"), answer
    if answer["outcome"] == "awaiting_person":
        await _finish(server, answer["turn_id"])
    await server.stop()
    faults = broken_promises(scene.home / "windlass.db", scene.ledger.path, [AGAIN, *(["go"] if turns else [])])
    assert faults == []
    return {"turns": len(turns), "unknown": unknown}


async def _finish(server: WindlassProcess, turn_id: str) -> int:
    unknown = 0
    while (turn := await server.settled(turn_id))["state"] != "finished":
        for one in turn["calls"]:
            where = f"/turns/{turn_id}/calls/{one['id']}"
            if one["state"] == "awaiting_approval":
                await server.post(f"{where}/decision", {"decision": "allow"})
            elif one["state"] == "unknown" and one["finished_at"] is None:
                unknown += 1
                await server.post(f"{where}/resolve", {"as": "skip"})
        await asyncio.sleep(0)
    return unknown
