"""Servers with too many tools, or with names that no provider takes."""

import sys
from pathlib import Path

from tests.web.kit import open_site
from windlass.testing import StrictLLM

CROWDED = Path(__file__).parents[1] / "proof" / "crowded_server.py"


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
