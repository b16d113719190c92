"""kill -9 of the real server in the middle of a real turn. Afterwards nothing acknowledged is lost, nothing unsafe was
done twice, nothing needs repair, and a strict model server takes the next request."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.faults.killing import INSIDE, Scene, killed_by, killed_turn, recovered, script
from tests.kit.ledger_file import Ledger
from tests.kit.real_servers import filesystem
from tests.kit.windlass_process import children_of, gone
from windlass.testing import StrictLLM

FULL = os.environ.get("SCALE") == "full"
PARALLEL = (1, 3) if FULL else (3,)
DURABILITY = ("full", "normal") if FULL else ("full",)


@asynccontextmanager
async def scene_with(parallel: int, folder: Path, ledger: Ledger) -> AsyncIterator[Scene]:
    async with StrictLLM(script(parallel)) as llm:
        yield Scene(folder, ledger, llm)
    assert llm.refused == []


@pytest.mark.parametrize("durability", DURABILITY)
@pytest.mark.parametrize("parallel", PARALLEL)
@pytest.mark.parametrize(("point", "number"), INSIDE)
async def test_a_turn_survives_a_kill_at(
    point: str, number: int, parallel: int, durability: str, tmp_path: Path, ledger: Ledger
) -> None:
    async with scene_with(parallel, tmp_path, ledger) as scene:
        scene.durability = durability
        scene.write_settings()
        server = scene.server()
        conversation = await killed_turn(server, WINDLASS_FAULT=f"{point}:{number}:kill")
        left = await recovered(scene, server, conversation)
    assert left["turns"] == (point != "request_parsed")
    in_flight = {"calls_begun": parallel, "result_received": parallel, "result_recorded": parallel - 1}
    assert left["unknown"] <= in_flight.get(point, 0)
    if point == "calls_begun":
        assert left["unknown"] == parallel


async def test_a_decision_is_kept_over_a_kill(tmp_path: Path, ledger: Ledger) -> None:
    async with scene_with(2, tmp_path, ledger) as scene:
        scene.write_settings(approval="ask")
        server = scene.server()
        await server.start(WINDLASS_FAULT="word_recorded:1:kill")
        await server.running("ledger")
        conversation = (await server.post("/conversations", {}))["conversation"]["id"]
        waiting = await server.post(f"/conversations/{conversation}/chat", {"content": "go"})
        assert waiting["outcome"] == "awaiting_person"
        first = waiting["pending_calls"][0]["call_id"]
        await killed_by(server, f"/turns/{waiting['turn_id']}/calls/{first}/decision", {"decision": "allow"})
        await recovered(scene, server, conversation)
    assert ledger.counts() == {"e0": 1, "e1": 1}


async def test_no_child_is_left_after_a_kill(tmp_path: Path, ledger: Ledger) -> None:
    """Neither of a server on the standard library nor of one that Node runs."""
    async with scene_with(1, tmp_path, ledger) as scene:
        scene.write_settings()
        with (scene.home / "windlass.toml").open("a") as settings:
            command, *args = filesystem(tmp_path)
            settings.write(f"\n[servers.files]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n")
        server = scene.server()
        await server.start()
        await server.running("ledger", "files")
        children = children_of(server.pid)
        assert len(children) >= 2
        await server.kill()
        await gone(children)
