"""Statements of the two seeds that no other test shows by itself; docs/seeds.md names them all."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.kit.fenced import unfenced
from tests.kit.ledger_file import Ledger
from tests.search.kit import says
from tests.search.kit import site as search_engine
from tests.servers.small_servers import SERVE
from tests.web.kit import Site, open_site
from windlass.config import WebSearchSettings
from windlass.testing import Gate, StrictLLM, call, calls, raw_chunks, say, wait_for

READ_ON = ["result_read", "result_search"]  # come with any tool, for results that are too long to show
FLAKY = (
    SERVE
    + """
def look(given):
    tried = sys.argv[1].removeprefix("--out=")
    if not os.path.exists(tried):
        open(tried, "w").close()
        os._exit(3)
    return "fine weather"
serve([{"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}], look)
"""
)


async def test_the_first_request_has_the_model_the_message_and_each_tool_as_a_function(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record_slow")
    strict_llm.then(say("Nothing to record."))
    [offered] = [tool for tool in (await site.get("/servers/ledger/tools"))["tools"] if tool["name"] == "record_slow"]

    await site.post(f"/conversations/{conversation}/chat", {"content": "What's the weather in Nanaimo?"})

    [request] = strict_llm.requests
    assert request.model == "strict-model"
    assert request.messages[-1] == {"role": "user", "content": "What's the weather in Nanaimo?"}
    assert request.tool_names == ["record_slow", *READ_ON]
    tool = request.tools[0]
    assert tool["type"] == "function"
    assert tool["function"]["description"] == offered["description"] != ""
    parameters, schema = tool["function"]["parameters"], offered["input_schema"]
    assert parameters["type"] == "object" and parameters["required"] == schema["required"] == ["effect_id"]
    assert {name: field["type"] for name, field in parameters["properties"].items()} == {
        name: field["type"] for name, field in schema["properties"].items()
    }


async def test_later_requests_keep_the_model_the_temperature_and_the_tools(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation(temperature=0.7)
    await site.enable(conversation, "echo")
    strict_llm.then(say("I'll echo.") + call("echo", text="rain"), say("It said rain."))

    answer = await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})

    first, second = strict_llm.requests
    for field in ("model", "temperature", "tools"):
        assert first.body[field] == second.body[field]
    assert first.body["temperature"] == 0.7
    assert second.messages[: len(first.messages)] == first.messages
    made, result = second.messages[len(first.messages) :]
    assert (made["role"], made["content"], len(made["tool_calls"])) == ("assistant", "I'll echo.", 1)
    assert (result["role"], result["tool_call_id"]) == ("tool", made["tool_calls"][0]["id"])
    assert unfenced(result["content"]) == "rain"
    assert answer["assistant_message"]["content"] == "It said rain."


async def test_a_reply_without_calls_is_the_answer_also_with_an_empty_list_of_them(
    site: Site, strict_llm: StrictLLM
) -> None:
    message = {"role": "assistant", "content": "Hello.", "tool_calls": []}
    body = {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    strict_llm.then(raw_chunks(json.dumps(body).encode(), content_type="application/json"))

    answer = await site.post(f"/conversations/{await site.conversation()}/chat", {"content": "Hi"})

    assert (answer["outcome"], answer["assistant_message"]["content"]) == ("answered", "Hello.")
    assert len(strict_llm.requests) == 1


async def test_small_talk_after_slashes_is_one_request_without_tools_though_tools_are_enabled(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    found = says('{"results": [{"url": "https://10.0.0.9/", "title": "Tides"}]}', kind="application/json")
    async with search_engine(found) as engine:
        searched = WebSearchSettings(backend="searxng", searxng_url=engine.url())
        async with open_site(tmp_path / "home", strict_llm, durability="normal", web_search=searched) as site:
            await site.add_ledger(ledger)
            conversation = await site.conversation()
            await site.enable(conversation, "echo")
            path = f"/conversations/{conversation}/chat"
            strict_llm.then(say("Hello!"), say("Hello again."), call("web_search", query="tides"), say("High [1]."))

            greeted = await site.post(path, {"content": "// hello"})
            assert greeted["assistant_message"]["content"] == "Hello!" and greeted["rounds"] == 0
            assert len(strict_llm.requests) == 1 and "tools" not in strict_llm.requests[0].body
            assert not engine.requests
            await site.post(path, {"content": "hello"})
            await site.post(path, {"content": "// when is high water?"})

    plain, asked = (request.tool_names for request in strict_llm.requests[1:3])
    assert plain == ["echo", *READ_ON] and "web_search" in asked and len(engine.requests) == 1


async def test_each_step_is_saved_and_streamed_before_the_next_begins(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    """The person's message before the model answers, the calls before they end, each result as it comes."""
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "echo", "read_slow")
    gate = Gate()
    slow = call("read_slow", effect_id="a", gate=ledger.gate())
    strict_llm.then(wait_for(gate) + calls(call("echo", text="rain"), slow), say("Both."))

    async def saved() -> list[tuple[str, int]]:
        messages = (await site.get(f"/conversations/{conversation}/messages"))["messages"]
        return [(one["role"], len(one.get("tool_calls", []))) for one in messages]

    async with site.events(f"/conversations/{conversation}/chat", method="POST", body={"content": "Go"}) as stream:
        await gate.reached()
        assert await saved() == [("user", 0)]
        gate.open()
        streamed = await stream.until("tool_finished")
        assert streamed[-1].data["output"]["text"] == "rain"
        assert "turn_finished" not in [event.event for event in streamed]
        await ledger.seen("started", "a")
        assert await saved() == [("user", 0), ("assistant", 2), ("tool", 0)]
        ledger.open()
        await stream.until("turn_finished")
    assert await saved() == [("user", 0), ("assistant", 2), ("tool", 0), ("tool", 0), ("assistant", 0)]


async def test_each_tool_is_called_on_its_own_server(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    elsewhere = Ledger(ledger.folder / "other")
    elsewhere.folder.mkdir()
    await site.add_ledger(ledger)
    await site.add_ledger(elsewhere, slug="other")
    conversation = await site.conversation()
    await site.enable(conversation, "record")
    await site.enable(conversation, "record", server="other")
    strict_llm.then(call("other__record", effect_id="there"), say("Done."))

    await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})

    assert set(strict_llm.requests[0].tool_names) == {"ledger__record", "other__record", *READ_ON}
    assert (dict(ledger.counts()), dict(elsewhere.counts())) == ({}, {"there": 1})


async def test_no_tool_is_offered_until_it_was_enabled_in_this_conversation(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    here, elsewhere = await site.conversation(), await site.conversation()
    await site.enable(elsewhere, "echo")
    strict_llm.then(say("I have none."), say("I have one."))

    assert (await site.get(f"/conversations/{here}/tools"))["enabled_tools"] == []
    available = (await site.get(f"/conversations/{here}/tools/available"))["available_tools"]
    assert {"echo", "record"} <= {tool["tool_name"] for tool in available}
    await site.post(f"/conversations/{here}/chat", {"content": "Go"})
    await site.enable(here, "record")
    await site.post(f"/conversations/{here}/chat", {"content": "Again"})

    assert [request.tool_names for request in strict_llm.requests] == [[], ["record", *READ_ON]]


async def test_a_chat_is_answered_whole_in_the_seeds_shape(site: Site, strict_llm: StrictLLM) -> None:
    strict_llm.then(say("Hello ", "there."))

    reply = await site.call("POST", f"/conversations/{await site.conversation()}/chat", {"content": "user message"})

    assert reply.headers["Content-Type"].startswith("application/json")
    assert (reply.body["success"], reply.body["message"]) == (True, "Chat completed successfully")
    for name, role, content in (("user", "user", "user message"), ("assistant", "assistant", "Hello there.")):
        message = reply.body[f"{name}_message"]
        assert message["id"].startswith("msg-")
        assert (message["role"], message["content"]) == (role, content)


async def test_messages_have_the_seeds_fields_in_all_four_roles(site: Site) -> None:
    conversation = await site.conversation()
    made: dict[str, Any] = {
        "id": "call_123",
        "type": "function",
        "function": {"name": "list_directory", "arguments": '{"path": "/"}'},
    }
    given: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What files are in /docs?"},
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "content": '{"files": []}', "tool_call_id": "call_123", "name": "list_directory"},
        {"role": "assistant", "content": "None."},
    ]
    for message in given:
        await site.post(f"/conversations/{conversation}/messages", message)

    shown = (await site.get(f"/conversations/{conversation}/messages"))["messages"]

    assert [one["role"] for one in shown] == [one["role"] for one in given]
    assert [one["content"] for one in shown] == [one["content"] for one in given]
    assert all(one["id"].startswith("msg-") and one["timestamp"].endswith("Z") for one in shown)
    [kept] = shown[2]["tool_calls"]
    assert {**kept, "id": "call_123"} == made
    assert (shown[3]["tool_call_id"], shown[3]["name"]) == (kept["id"], "list_directory")
    assert not any(key in one for one in (shown[0], shown[1], shown[4]) for key in ("tool_calls", "tool_call_id"))


async def test_a_failed_call_of_a_tool_that_only_reads_is_repeated_by_itself(
    site: Site, strict_llm: StrictLLM, tmp_path: Path
) -> None:
    """Its server dies in the middle of the first call; nobody is asked, and the model sees only the result."""
    tried = tmp_path / "tried"
    argv = [sys.executable, "-S", "-E", "-c", FLAKY, f"--out={tried}"]
    server = {"name": "flaky", "slug": "flaky", "command": argv[0], "args": argv[1:], "sandbox": "off"}
    await site.post("/servers", {**server, "trusted": True, "retries": 1})
    await site.post("/servers/flaky/confirm", {"argv": argv})
    await site.post("/servers/flaky/start")
    conversation = await site.conversation()
    await site.enable(conversation, "look", server="flaky")
    strict_llm.then(call("look"), say("Fine weather."))

    answer = await site.post(f"/conversations/{conversation}/chat", {"content": "Look"})

    assert tried.exists() and (answer["outcome"], answer["rounds"]) == ("answered", 1)
    assert [unfenced(result) for result in strict_llm.requests[1].results] == ["fine weather"]
