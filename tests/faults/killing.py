"""A real turn of a real server, killed at one of the points of its life, and what is left of it afterwards."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.faults.watching import Client, watching
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S
from tests.kit.windlass_process import WindlassProcess, model_settings
from tests.proof.checker import Transcript, broken_promises
from tests.proof.figures import note
from windlass.testing import ChatRequest, Gate, Reply, StrictLLM, call, calls, headers, raw_delta, say, wait_for
from windlass.testing.replies import Scripted

AGAIN = "and again"
ANSWER = ("All ", "done.")


@dataclass(frozen=True, slots=True)
class Point:
    """Where to kill: at a named fault point inside (`{last}` is the turn's last commit), or from outside once `held`
    is reached. `unknown` is how many of n calls may then be in question, `sure` that it is exactly so many."""

    name: str
    fault: str = ""
    held: str = ""
    tool: str = "record"
    approval: str = "auto"
    lost: bool = False
    unknown: Callable[[int], int] = lambda calls: 0
    sure: bool = True

    def __str__(self) -> str:
        return self.name


def _all(calls: int) -> int:
    return calls


POINTS = (
    Point("K1-request-parsed", "request_parsed:1", lost=True),
    Point("K2-turn-created", "turn_created:1"),
    Point("K3-turn-claimed", "turn_claimed:1"),
    Point("K4-before-the-model", "model_asked:1"),
    Point("K5-after-headers", held="headers"),
    Point("K6-mid-text", held="text"),
    Point("K7-mid-arguments", held="arguments"),
    Point("K8-reply-complete", "reply_complete:1"),
    Point("K9-before-intent", "calls_ready:1"),
    Point("K10-after-intent", "calls_begun:1", unknown=_all),
    Point("K11-before-effect", held="received", tool="record_held", unknown=_all),
    Point("K12-after-effect", held="started", tool="record_slow", unknown=_all),
    Point("K13-result-received", "result_received:1", unknown=_all),
    Point("K14-one-result-kept", "result_recorded:1", unknown=lambda calls: calls - 1, sure=False),
    Point("K15-approved", "decision_recorded:1", approval="ask"),
    Point("K16-final-commit", "rows_committed:{last}"),
)
# Not on the list, and as dangerous: the second request, and the moment before each commit.
MORE_POINTS = (
    Point("before-the-second-request", "model_asked:2"),
    Point("second-reply-complete", "reply_complete:2"),
    Point("settled", "turn_settled:1"),
    Point("before-the-first-commit", "rows_written:1", lost=True),
    Point("before-the-reply-and-its-intents-are-kept", "rows_written:2"),
    Point("before-a-result-is-kept", "rows_written:3", unknown=_all),
    Point("before-the-end-is-kept", "rows_written:{last}"),
    Point("after-the-intent-before-it-is-told", "rows_committed:2", unknown=_all),
)


@dataclass
class Scene:
    folder: Path
    ledger: Ledger
    llm: StrictLLM
    durability: str = "full"
    acknowledged: list[str] = field(default_factory=list)

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

    def faults(self, *transcripts: Transcript) -> list[str]:
        return broken_promises(self.home / "windlass.db", self.ledger.path, self.acknowledged, transcripts)


class Script:
    """One round of calls, then the answer; told by the request alone, so it can be asked again. The very first request
    may be held at a place of its answer."""

    def __init__(self, parallel: int, tool: str = "record", held: str = "") -> None:
        self._asking = calls(*(call(tool, effect_id=f"e{n}") for n in range(parallel)))
        self._held = held
        self.gate = Gate()

    def __call__(self, request: ChatRequest) -> Scripted:
        if request.rounds or request.user_text == AGAIN:
            return say(*ANSWER)
        held, self._held = self._held, ""
        return HELD[held](self.gate) if held in HELD else self._asking


HALF_A_CALL = {"index": 0, "id": "x", "type": "function", "function": {"name": "record", "arguments": '{"effect_'}}
HELD: dict[str, Callable[[Gate], Reply]] = {
    "headers": lambda gate: headers() + wait_for(gate),
    "text": lambda gate: say("I will ", "look ", wait_for(gate), "into it."),
    "arguments": lambda gate: raw_delta(tool_calls=[HALF_A_CALL]) + wait_for(gate),
}


async def check_survival(point: Point, parallel: int, durability: str, folder: Path, ledger: Ledger) -> None:
    """Kill a server at this point, start another on what is left, and hold it against every promise."""
    script = Script(parallel, point.tool, point.held)
    async with StrictLLM(script) as llm:
        scene = Scene(folder, ledger, llm, durability)
        scene.write_settings(point.approval)
        server = scene.server()
        fault = f"{point.fault.format(last=3 + parallel)}:kill" if point.fault else ""
        await server.start(WINDLASS_FAULT=fault)
        try:
            await server.running("ledger")
            conversation: str = (await server.post("/conversations", {}))["conversation"]["id"]
            async with watching(server, conversation) as client:
                await _killed(point, parallel, scene, server, script, client)
                found = await recovered(scene, server, client)
        finally:
            await server.kill()
    assert llm.refused == []
    _check(point, parallel, found, ledger)
    note("kill", count=1, durability=durability)


async def _killed(
    point: Point, parallel: int, scene: Scene, server: WindlassProcess, script: Script, client: Client
) -> None:
    path = f"/conversations/{client.transcript.conversation_id}/chat"
    asking = asyncio.create_task(killed_by(server, path, {"content": "go", "client_message_id": "m1"}))
    if point.approval == "ask":
        answer = await asking
        assert answer and answer["outcome"] == "awaiting_person", answer
        scene.acknowledged.append("go")
        first = answer["pending_calls"][0]["call_id"]
        where = f"/turns/{answer['turn_id']}/calls/{first}/decision"
        assert await killed_by(server, where, {"decision": "allow"}) is None
    elif point.held:
        await _reached(point.held, parallel, scene.ledger, script, client)
        await server.kill()
        assert await asking is None
    else:
        assert await asking is None
    assert await server.ended() == -9
    if not point.lost:
        scene.acknowledged[:] = ["go"]


async def _reached(held: str, parallel: int, ledger: Ledger, script: Script, client: Client) -> None:
    if held in HELD:
        await asyncio.wait_for(script.gate.reached(), PATIENCE_S)
    else:
        for number in range(parallel):
            await ledger.seen(held, f"e{number}")
    if held == "text":
        await client.heard("look ")


async def killed_by(server: WindlassProcess, path: str, body: object) -> dict[str, Any] | None:
    """None when the server died of it instead of answering."""
    with contextlib.suppress(aiohttp.ClientError, ConnectionError):
        answer: dict[str, Any] = await server.post(path, body)
        return answer
    return None


@dataclass(frozen=True, slots=True)
class Found:
    turns: int
    unknown: int
    texts: tuple[str, ...]


async def recovered(scene: Scene, server: WindlassProcess, client: Client) -> Found:
    """Start again on what is left, give the word where it waits for one, and ask once more."""
    conversation = client.transcript.conversation_id
    await server.start()
    await server.running("ledger")
    turns = (await server.get(f"/conversations/{conversation}/turns"))["turns"]
    unknown = sum([await finished(server, turn["id"]) for turn in turns])
    answer = await server.post(f"/conversations/{conversation}/chat", {"content": AGAIN})
    assert answer["outcome"] == "answered", answer
    scene.acknowledged.append(AGAIN)
    messages = (await server.get(f"/conversations/{conversation}/messages"))["messages"]
    log = (await server.get(f"/turns/{answer['turn_id']}/log"))["events"]
    await client.saw(log[-1]["id"])
    assert await server.stop() == 0
    faults = scene.faults(client.transcript)
    assert faults == [], faults
    return Found(
        len(turns), unknown, tuple(m["content"] for m in messages if m["role"] == "assistant" and m["content"])
    )


async def finished(server: WindlassProcess, turn_id: str) -> int:
    """Answer all it waits for, until it is finished. Gives how many calls were in question."""
    unknown = 0
    while (turn := await server.settled(turn_id))["state"] != "finished":
        for one in turn["calls"]:
            where = f"/turns/{turn_id}/calls/{one['id']}"
            if one["state"] == "awaiting_approval":
                await server.post(f"{where}/decision", {"decision": "allow"})
            elif one["state"] == "unknown" and one["finished_at"] is None:
                unknown += 1
                await server.post(f"{where}/resolve", {"as": "skip"})
    return unknown


def _check(point: Point, parallel: int, found: Found, ledger: Ledger) -> None:
    assert found.turns == (0 if point.lost else 1)
    assert set(found.texts) <= {"".join(ANSWER)}, "half a reply was kept as a whole one"
    in_question = point.unknown(parallel)
    assert found.unknown == in_question if point.sure else found.unknown <= in_question
    happened = {"K11-before-effect": 0, "K12-after-effect": parallel}
    if point.name in happened:
        assert sum(ledger.counts().values()) == happened[point.name]
    if not in_question and not point.lost:
        assert ledger.counts() == {f"e{n}": 1 for n in range(parallel)}
