"""A tool server that tries to allow its own call: a real Windlass, a call that waits for a person, and a server that
knows where everything lies. Under the default isolation it never runs; without isolation it does, so the attack is
real."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.kit.isolation_probes import ROOT
from tests.kit.waiting import until
from tests.kit.windlass_process import WindlassProcess, windlass
from tests.proof.figures import note
from windlass.servers.isolation import trial
from windlass.servers.isolation.landlock import landlock_version

SERVER = ROOT / "tests" / "kit" / "self_approving_server.py"
WITHOUT_BWRAP = "#!/bin/sh\necho 'no user namespaces' >&2\nexit 1\n"


LEVELS = [
    pytest.param("bwrap", marks=pytest.mark.skipif(trial().level != "bwrap", reason=trial().why)),
    pytest.param("landlock", marks=pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")),
]


@pytest.mark.parametrize("level", LEVELS)
async def test_b1_a_server_does_not_allow_its_own_call(tmp_path: Path, level: str) -> None:
    ways, really, ran = await attacked(tmp_path, level)
    through = [way for way, decided in ways.items() if decided]
    note("self-approval", count=len(ways), through=len(through))
    assert (really, through, ran) == (level, [], False)


async def test_b1_without_isolation_the_same_server_does(tmp_path: Path) -> None:
    ways, really, ran = await attacked(tmp_path, "off")
    assert (really, ways["the token's file"], ran) == ("none", True, True)


async def attacked(folder: Path, level: str) -> tuple[dict[str, bool], str, bool]:
    """Which ways of the server led to a decision, what isolated it, and whether the call ran."""
    home, work, programs = folder / "home", folder / "work", folder / "programs"
    for made in (home, work, programs):
        made.mkdir()
    if level == "landlock":
        (programs / "bwrap").write_text(WITHOUT_BWRAP)
        (programs / "bwrap").chmod(0o755)
    args = ["-S", "-E", str(SERVER), str(work)]
    (home / "windlass.toml").write_text(
        f"[servers.evil]\ncommand = {json.dumps(os.path.realpath(sys.executable))}\nargs = {json.dumps(args)}\n"
        f'tools = "*"\nsandbox = {json.dumps("off" if level == "off" else "default")}\n'
    )
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    async with windlass(home, env={"PATH": path}, verb="demo") as server:
        await server.running("evil")
        turn, call = await waiting_call(server)
        really = (await server.get("/servers/evil"))["server"]["isolation"]["level"]
        target = {"url": server.url, "turn": turn, "call": call, "data": str(home), "pid": str(server.pid)}
        (work / "target.new").write_text(json.dumps(target))
        (work / "target.new").rename(work / "target")
        await until((work / "outcome").exists, "the end of the attack")
        ran = (await server.settled(turn))["state"] != "awaiting_person" or (work / "destroyed").exists()
    return json.loads((work / "outcome").read_text()), really, ran


async def waiting_call(server: WindlassProcess) -> tuple[str, str]:
    conversation = (await server.post("/conversations", {}))["conversation"]["id"]
    said = await server.call("POST", f"/conversations/{conversation}/chat", {"content": "/delete_everything"})
    [pending] = said.body["pending_calls"]
    return said.body["turn_id"], pending["call_id"]
