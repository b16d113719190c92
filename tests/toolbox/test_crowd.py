"""More tools than most providers take are offered all the same, and said to be too many; a strict model refuses."""

import sys
from pathlib import Path

import pytest

from tests.kit.ledger_file import Ledger
from tests.web.kit import open_site
from windlass.config import ServerSettings
from windlass.testing import StrictLLM, say

CROWDED = Path(__file__).parents[1] / "proof" / "crowded_server.py"


@pytest.mark.parametrize(("extra", "crowded"), [(120, False), (140, True)])
async def test_too_many_tools_are_warned_of(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger, caplog: pytest.LogCaptureFixture, extra: int, crowded: bool
) -> None:
    command, *args = ledger.argv("--only", "echo", "--extra", str(extra))
    servers = {"ledger": ServerSettings(command=command, args=args, tools="*", approval="auto")}
    async with open_site(tmp_path / "home", strict_llm, durability="normal", servers=servers) as site:
        await site.app.servers.wait_ready("ledger", 20)
        conversation = await site.conversation()
        found = await site.get(f"/conversations/{conversation}/tools/available")
        strict_llm.then(say("Hello."))
        await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Hi"})
    assert bool(strict_llm.refused) == crowded
    strict_llm.refused.clear()
    words = f"{extra + 3} tools are offered; many models take 128 at most."
    assert found.get("warning", "") == (words if crowded else "")
    assert (words in caplog.text) == crowded


async def test_e2_a_server_may_bring_a_thousand_tools_and_the_rest_is_named(
    tmp_path: Path, strict_llm: StrictLLM
) -> None:
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as site:
        argv = [sys.executable, "-S", "-E", str(CROWDED), "1200", "2000"]
        await site.post("/servers", {"name": "crowded", "command": argv[0], "args": argv[1:]})
        await site.post("/servers/crowded/confirm", {"argv": argv})
        started = (await site.post("/servers/crowded/start"))["server"]
        tools = (await site.get("/servers/crowded/tools"))["tools"]
    assert (started["tool_count"], len(tools)) == (1000, 1000)
    assert started["note"] == "It lists more than 1,000 tools; the others are left out."


async def test_e2_a_tool_with_an_endless_name_is_not_offered_and_says_why(
    tmp_path: Path, strict_llm: StrictLLM
) -> None:
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as site:
        argv = [sys.executable, "-S", "-E", str(CROWDED), "3", "900000"]
        await site.post("/servers", {"name": "crowded", "command": argv[0], "args": argv[1:], "tools": "*"})
        await site.post("/servers/crowded/confirm", {"argv": argv})
        await site.post("/servers/crowded/start")
        problems = [tool["problem"] for tool in (await site.get("/servers/crowded/tools"))["tools"]]
        conversation = await site.conversation()
        offered = (await site.get(f"/conversations/{conversation}/tools/available"))["available_tools"]
    assert problems == ["", "", "", "Its name has 900,000 characters; 1,024 are the most."]
    assert [tool["tool_name"] for tool in offered] == ["tool_0", "tool_1", "tool_2"]
