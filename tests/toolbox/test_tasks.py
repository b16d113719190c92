"""Tools that run only as tasks: shown, not offered, with the reason."""

import sys
from pathlib import Path

from tests.servers.small_servers import SERVE
from tests.web.kit import open_site

TASKS = (
    SERVE
    + """
schema = {"type": "object"}
serve([
    {"name": "now", "inputSchema": schema, "execution": {"taskSupport": "optional"}},
    {"name": "later", "inputSchema": schema, "execution": {"taskSupport": "required"}},
], lambda given: "done")
"""
)


async def test_a_tool_that_needs_a_task_is_not_offered_and_says_why(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home", durability="normal") as site:
        argv = [sys.executable, "-S", "-E", "-c", TASKS]
        await site.post("/servers", {"name": "tasks", "command": argv[0], "args": argv[1:], "tools": "*"})
        await site.post("/servers/tasks/confirm", {"argv": argv})
        await site.post("/servers/tasks/start")
        problems = {tool["name"]: tool["problem"] for tool in (await site.get("/servers/tasks/tools"))["tools"]}
        conversation = await site.conversation()
        offered = (await site.get(f"/conversations/{conversation}/tools/available"))["available_tools"]
        body = {"server_id": "tasks", "tool_name": "later"}
        refused = await site.call("POST", f"/conversations/{conversation}/tools", body)
    assert problems["now"] == "" and "taskSupport: required" in problems["later"]
    assert "now" in [tool["tool_name"] for tool in offered] and "later" not in [tool["tool_name"] for tool in offered]
    assert refused.status == 422 and "taskSupport" in refused.body["error"]["message"]
