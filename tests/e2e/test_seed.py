"""The flow of the seed over HTTP: create, list tools, enable, ask, answer; with the real filesystem server."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.real_servers import filesystem
from tests.kit.windlass_process import WindlassProcess, model_settings, windlass
from windlass.testing import StrictLLM, call, say

GOLDEN = Path(__file__).parent / "golden" / "seed_messages.json"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("README.md", "API.md"):
        (folder / name).write_text("# " + name)
    return folder


@pytest.fixture(params=[(), ("--no-auth",)], ids=["token", "no-auth"])
async def server(
    request: pytest.FixtureRequest, tmp_path: Path, strict_llm: StrictLLM
) -> AsyncIterator[WindlassProcess]:
    async with windlass(tmp_path / "home", *request.param, env=model_settings(strict_llm.base_url)) as process:
        yield process


async def add_filesystem(server: WindlassProcess, folder: Path) -> str:
    """As a draft through the API, confirmed by its exact argv, untrusted, without hints."""
    command, *args = filesystem(folder)
    added = (await server.post("/servers", {"name": "files", "slug": "files", "command": command, "args": args}))[
        "server"
    ]
    assert added["status"] == "draft"
    refused = await server.call("POST", f"/servers/{added['id']}/start")
    assert refused.status == 409
    await server.post(f"/servers/{added['id']}/confirm", {"argv": [command, *args]})
    await server.post(f"/servers/{added['id']}/start")
    await server.running("files")
    return str(added["id"])


async def test_the_seeds_flow_ends_in_an_answer_without_approval(
    server: WindlassProcess, strict_llm: StrictLLM, docs: Path
) -> None:
    strict_llm.then(call("list_directory", path=str(docs)), say("The /docs directory contains: README.md and API.md"))
    server_id = await add_filesystem(server, docs)
    conversation = (await server.call("POST", "/conversations", {"title": "Test"})).body["conversation"]["id"]
    available = await server.get(f"/conversations/{conversation}/tools/available")
    assert "list_directory" in {tool["tool_name"] for tool in available["available_tools"]}
    assert available["count"] == len(available["available_tools"])

    body = {"server_id": server_id, "tool_name": "list_directory"}
    await server.post(f"/conversations/{conversation}/tools", body)
    enabled = await server.get(f"/conversations/{conversation}/tools")
    assert [tool["tool_name"] for tool in enabled["enabled_tools"]] == ["list_directory"]

    answer = await server.call("POST", f"/conversations/{conversation}/chat", {"content": "What files are in /docs?"})
    assert answer.status == 200
    assert answer.body["success"] is True
    assert answer.body["message"] == "Chat completed successfully"
    assert answer.body["assistant_message"]["content"] == "The /docs directory contains: README.md and API.md"

    messages = (await server.get(f"/conversations/{conversation}/messages"))["messages"]
    assert [plain(message, docs) for message in messages] == json.loads(GOLDEN.read_text())
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", message["timestamp"]) for message in messages)


def plain(message: dict[str, Any], docs: Path) -> dict[str, Any]:
    """The seed's keys alone, ids and times told by their kind."""
    extra = {"turn_id", "usage", "sources", "reasoning", "error"}
    kept = {key: value for key, value in message.items() if key not in extra}
    text = json.dumps(kept).replace(str(docs), "/docs")
    text = re.sub(r"msg-[0-9a-z.-]+", "msg-xxx", text)
    text = re.sub(r"call_[0-9a-z]{26}_\d+_\d+", "call_123", text)
    text = re.sub(r'"timestamp": "[^"]+"', '"timestamp": "2025-01-11T19:00:00Z"', text)
    found: dict[str, Any] = json.loads(text)
    return found


async def test_on_the_wire_nothing_is_missing_and_nothing_is_twice(
    server: WindlassProcess, strict_llm: StrictLLM, docs: Path
) -> None:
    strict_llm.then(
        call("list_directory", path=str(docs)) + call("list_directory", path=str(docs / "none")),
        say("Two files."),
        say("You asked about files."),
    )
    await add_filesystem(server, docs)
    made = await server.post("/conversations", {"system_prompt": "Speak plainly."})
    conversation = made["conversation"]["id"]
    await server.post(
        f"/conversations/{conversation}/context",
        {"descriptive_name": "House rules", "related_keywords": ["rules"], "related_files": [], "content": "No jokes."},
    )
    await server.post(f"/conversations/{conversation}/tools", {"server_id": "files", "tool_name": "list_directory"})
    await server.post(f"/conversations/{conversation}/chat", {"content": "What files?"})
    await server.post(f"/conversations/{conversation}/chat", {"content": "What did I ask?"})

    first, second, third = strict_llm.requests
    assert "Speak plainly." in first.messages[0]["content"]
    assert "No jokes." in first.messages[0]["content"]
    for request in (first, second, third):
        assert "list_directory" in request.tool_names
    assert [message["role"] for message in second.messages] == ["system", "user", "assistant", "tool", "tool"]
    calls = [one["id"] for one in second.messages[2]["tool_calls"]]
    assert [message["tool_call_id"] for message in second.messages[3:]] == calls
    said = [message["content"] for message in third.messages if message["role"] == "user"]
    assert said == ["What files?", "What did I ask?"]


async def test_a_stopped_servers_tools_are_not_offered_and_the_answer_says_so(
    server: WindlassProcess, strict_llm: StrictLLM, docs: Path
) -> None:
    strict_llm.then(say("I can only talk."))
    await add_filesystem(server, docs)
    conversation = (await server.post("/conversations", {}))["conversation"]["id"]
    await server.post(f"/conversations/{conversation}/tools", {"server_id": "files", "tool_name": "list_directory"})
    await server.post("/servers/files/stop")
    answer = await server.post(f"/conversations/{conversation}/chat", {"content": "What files?"})
    assert strict_llm.requests[0].tool_names == []
    assert answer["unavailable"] == [{"server_slug": "files", "status": "stopped"}]


async def test_the_log_has_the_seeds_lines_and_no_prompt_argument_or_key(
    server: WindlassProcess, strict_llm: StrictLLM, docs: Path
) -> None:
    strict_llm.then(call("list_directory", path=str(docs)), call("no_such_tool"), say("A secret answer."))
    await add_filesystem(server, docs)
    conversation = (await server.post("/conversations", {}))["conversation"]["id"]
    await server.post(f"/conversations/{conversation}/tools", {"server_id": "files", "tool_name": "list_directory"})
    await server.post(f"/conversations/{conversation}/chat", {"content": "A secret question"})
    await server.stop()
    for line in (
        r"Tool calls detected: 1 tools",
        r"Processing tool: list_directory \(id: call_\w+\)",
        r"Tool execution completed: list_directory in \d+ ms",
        r"Sending tool results to model \(messages: \d+\)",
        r"Tool execution failed: no_such_tool - unknown_tool",
        r"Final response received: 16 chars",
    ):
        assert re.search(line, server.log), line
    for secret in ("secret question", "secret answer", "key-of-the-test", str(docs), server.token):
        assert secret not in server.log
