"""More tools than the budget: requests list those that are used or picked, and the model searches for the others. With
real servers and a strict model."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import until
from tests.web.kit import Site, open_site
from windlass.config import LimitSettings, ServerSettings
from windlass.testing import Gate, StrictLLM, call, say, wait_for

TICKET = {
    "name": "open_ticket",
    "description": "Open a ticket for a bug.",
    "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
    "annotations": {"readOnlyHint": True},
}
WIPE = {"name": "wipe", "description": "Empty the store.", "inputSchema": {"type": "object", "properties": {}}}


@asynccontextmanager
async def site_with(
    home: Path, llm: StrictLLM | None, ledger: Ledger, *tools: dict[str, Any], extra: int = 60, **settings: Any
) -> AsyncIterator[Site]:
    """Two servers that give the same tools, and `extra` others each."""
    definitions = ledger.folder / "tools.json"
    definitions.write_text(json.dumps(tools or [TICKET, WIPE]))
    command, *args = ledger.argv("--only", "echo", "--extra", str(extra), "--tools", str(definitions))
    servers = {
        slug: ServerSettings(command=command, args=args, tools="*", approval="auto", trusted=True)
        for slug in ("left", "right")
    }
    async with open_site(home, llm, durability="normal", servers=servers, **settings) as site:
        for slug in servers:
            await site.app.servers.wait_ready(slug, 20)
        yield site


async def ask(site: Site, conversation: str, content: str = "Please take care of the leak in the store") -> Any:
    return await site.post(f"/conversations/{conversation}/chat", {"content": content})


async def moved(site: Site, turn_id: str) -> list[list[str]]:
    log = (await site.get(f"/turns/{turn_id}/log"))["events"]
    return [event["moved"] for event in log if event["event"] == "model_replied"]


async def test_beyond_the_budget_a_tool_is_searched_for_then_listed_and_called(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    async with site_with(tmp_path / "home", strict_llm, ledger) as site:
        conversation = await site.conversation()
        strict_llm.then(
            call("tools_search", query="report a defect, ticket"), call("left__open_ticket", title="Leak"), say("Done.")
        )
        turn = await ask(site, conversation)
        causes = await moved(site, turn["turn_id"])
    first, second, third = (request.tool_names for request in strict_llm.requests)
    assert first == ["result_read", "result_search", "tools_search"]
    assert second[:3] == first and {"left__open_ticket", "right__open_ticket"} <= {*second} and len(second) <= 8
    assert third == second
    assert "left__open_ticket" in strict_llm.requests[2].results[-1]
    assert causes == [[], ["loaded"], []]


async def test_a_chat_goes_on_with_the_list_it_has_and_says_when_it_grows(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    async with site_with(tmp_path / "home", strict_llm, ledger) as site:
        conversation = await site.conversation()
        strict_llm.then(
            call("tools_search", query="left__open_ticket"), call("left__open_ticket", title="a"), say("A.")
        )
        await ask(site, conversation)
        strict_llm.then(say("Nothing to do."))
        second = await ask(site, conversation, "What about the leak in the harbour?")
        picked = {"server_id": "right", "tool_name": "wipe"}
        await site.post(f"/conversations/{conversation}/tools", picked)
        strict_llm.then(say("Nothing to do."))
        third = await ask(site, conversation, "What about the leak in the tower?")
        assert await moved(site, second["turn_id"]) == [[]]
        assert await moved(site, third["turn_id"]) == [["tools"]]
        shown = (await site.get(f"/turns/{third['turn_id']}/prompt"))["body"]["tools"]
    lists = [request.tool_names for request in strict_llm.requests]
    assert lists[3] == lists[2]
    assert lists[4] == [*lists[3], "right__wipe"]
    assert [tool["function"]["name"] for tool in shown] == lists[4]


async def test_an_enabled_tool_that_is_not_listed_runs_only_with_arguments_that_it_declares(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    """`wipe` takes none: with a filter that it would ignore it does more than was meant."""
    async with site_with(tmp_path / "home", strict_llm, ledger) as site:
        conversation = await site.conversation()
        strict_llm.then(
            call("left__wipe", only="drafts") + call("left__open_ticket", title="b") + call("no_such"), say("Hm.")
        )
        turn = await ask(site, conversation)
        calls = (await site.get(f"/turns/{turn['turn_id']}"))["turn"]["calls"]
    assert [one["state"] for one in calls] == ["error", "ok", "error"]
    wiped, _, unknown = strict_llm.requests[1].results
    assert "'only' is no argument of it" in wiped and "in your list now" in wiped
    assert "tools_search" in unknown
    assert {"left__wipe", "left__open_ticket"} <= {*strict_llm.requests[1].tool_names}


async def test_loading_gives_no_permission(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> None:
    async with site_with(tmp_path / "home", strict_llm, ledger) as site:
        conversation = await site.conversation()
        refused = {"server_id": "left", "tool_name": "open_ticket", "approval": "deny"}
        await site.post(f"/conversations/{conversation}/tools", refused)
        asks = {"server_id": "right", "tool_name": "open_ticket", "approval": "ask"}
        await site.post(f"/conversations/{conversation}/tools", asks)
        await site.call("DELETE", f"/conversations/{conversation}/tools?server_id=left&tool_name=extra_0001")
        strict_llm.then(
            call("tools_search", query="open_ticket left__extra_0001"),
            call("left__extra_0001", text="x")
            + call("left__open_ticket", title="x")
            + call("right__open_ticket", title="x"),
            say("Hm."),
        )
        turn = await ask(site, conversation)
        calls = (await site.get(f"/turns/{turn['turn_id']}"))["turn"]["calls"][1:]
    assert "left__extra_0001" not in strict_llm.requests[1].results[0]
    assert [one["state"] for one in calls] == ["error", "denied", "awaiting_approval"]


async def test_two_hundred_picked_tools_stay_within_the_limit_of_the_wire_and_the_rest_is_found(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    limits = LimitSettings(tools=1000, tool_tokens=1_000_000)
    async with site_with(tmp_path / "home", strict_llm, ledger, extra=100, limits=limits) as site:
        conversation = await site.conversation()
        for slug in ("left", "right"):
            for n in range(100):
                await site.app.services.tools._toolbox.enable(conversation, slug, f"extra_{n:04}")
        found = [[f"right__extra_00{n}" for n in range(first, first + 5)] for first in (75, 80, 85, 90)]
        strict_llm.then(
            *(call("tools_search", query=" ".join(names)) for names in found),
            *(call("right__extra_0099", text="x"), say("Done.")),
        )
        turn = await ask(site, conversation)
        available = await site.get(f"/conversations/{conversation}/tools/available")
    counts = [len(request.tools) for request in strict_llm.requests]
    assert turn["success"] and not strict_llm.refused
    assert counts[0] == 112 and max(counts) == 128
    latest = strict_llm.requests[-1].tool_names  # the first ones made room
    assert {*found[3], "right__extra_0099"} <= {*latest} and "right__extra_0075" not in latest
    assert available["cost"]["exceeded"] and available["cost"]["tools"] == 206
    assert sum(tool["listed"] for tool in available["available_tools"]) == available["cost"]["listed_tools"]


async def test_what_was_loaded_survives_a_restart_in_the_middle_of_a_turn(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    """The call asks first; meanwhile the process ends. Its tool is judged, listed and run as before."""
    async with site_with(tmp_path / "home", strict_llm, ledger) as site:
        conversation = await site.conversation()
        asks = {"server_id": "left", "tool_name": "open_ticket", "approval": "ask"}
        await site.post(f"/conversations/{conversation}/tools", asks)
        strict_llm.then(call("tools_search", query="wipe"), call("left__open_ticket", title="c"))
        turn = await ask(site, conversation)
        call_id = turn["pending_calls"][0]["call_id"]
    before = strict_llm.requests[-1].tool_names
    async with site_with(tmp_path / "home", strict_llm, ledger) as site:
        strict_llm.then(call("left__wipe"), say("Done."))
        await site.post(f"/turns/{turn['turn_id']}/calls/{call_id}/decision", {"decision": "allow"})
        await until(lambda: len(strict_llm.requests) == 4)
    assert "left__wipe" in before
    assert [request.tool_names for request in strict_llm.requests[2:]] == [before, before]


async def test_a_tool_that_changes_or_dies_in_the_turn_is_not_found_or_not_run(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    async with site_with(tmp_path / "home", strict_llm, ledger) as site:
        conversation = await site.conversation()

        gate = Gate()
        stopped = call("tools_search", query="right__open_ticket") + call("right__wipe")
        strict_llm.then(
            call("tools_search", query="wipe"),
            wait_for(gate) + stopped,
            call("right__open_ticket", title="d"),
            say("Hm."),
        )
        answering = asyncio.create_task(ask(site, conversation))
        await gate.reached()
        await site.post("/servers/right/stop")
        gate.open()
        turn = await answering
        outcome = (await site.get(f"/turns/{turn['turn_id']}"))["turn"]["outcome"]
    assert outcome == "answered"
    assert "right__open_ticket (its server is not running now)" in strict_llm.requests[2].results[1]
    assert "not running" in strict_llm.requests[2].results[2] and "not running" in strict_llm.requests[3].results[-1]


async def test_words_of_any_kind_are_searched_for(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> None:
    chinese = {**TICKET, "name": "创建工单", "description": "创建一个新的工单。"}
    german = {**TICKET, "name": "größe_prüfen", "description": "Prüft die Größe einer Datei."}
    async with site_with(tmp_path / "home", strict_llm, ledger, chinese, german, extra=60) as site:
        conversation = await site.conversation()
        queries = ["新工单", "Größe", "GROSSE", '"AND (NOT [x] OR ', "   ", "\u202e\u200b", "%_' or 1=1 --"]
        strict_llm.then(*(call("tools_search", query=query) for query in queries), say("Hm."))
        turn = await ask(site, conversation)
        calls = (await site.get(f"/turns/{turn['turn_id']}"))["turn"]["calls"]
    loaded = [set(request.tool_names) for request in strict_llm.requests]
    assert len(loaded[1] - loaded[0]) == 2 and len(loaded[2] - loaded[1]) == 2 and loaded[3] == loaded[2]
    assert [one["state"] for one in calls] == ["ok"] * 7
    assert "No tool matches" in strict_llm.requests[4].results[-1]


async def test_a_callers_own_tools_stay_and_a_pattern_of_theirs_is_searched(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    async with site_with(tmp_path / "home", strict_llm, ledger) as site:
        own = [
            {"type": "function", "function": {"name": f"own_{n}", "parameters": {"type": "object"}}} for n in range(90)
        ]
        body = {
            "messages": [{"role": "user", "content": "Please report the leak in the store"}],
            "tools": own,
            "model": "strict-model",
        }
        strict_llm.then(
            call("tools_search", query="left__open_ticket"), call("left__open_ticket", title="e"), say("Done.")
        )
        reply = await site.call("POST", "/v1/chat/completions", body, headers={"x-windlass-tools": "left.*,right.*"})
        named = {"x-windlass-tools": "left.open_ticket,right.*"}
        strict_llm.then(say("Done."))
        await site.call("POST", "/v1/chat/completions", body, headers=named)
    assert reply.body["choices"][0]["message"]["content"] == "Done."
    for request in strict_llm.requests:
        assert {f"own_{n}" for n in range(90)} <= {*request.tool_names} and len(request.tools) <= 128
    assert "left__open_ticket" in strict_llm.requests[1].tool_names
    assert "left__open_ticket" in strict_llm.requests[3].tool_names


async def test_up_to_the_budget_nothing_is_searched_and_nothing_is_different(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    async with site_with(tmp_path / "home", strict_llm, ledger, extra=17) as site:
        conversation = await site.conversation()
        strict_llm.then(say("Hello."))
        turn = await ask(site, conversation)
        log = (await site.get(f"/turns/{turn['turn_id']}/log"))["events"]
        cost = (await site.get(f"/conversations/{conversation}/tools/available"))["cost"]
        await site.call("PATCH", "/limits", {"limits": {"tools": 39}})
        over = (await site.get(f"/conversations/{conversation}/tools/available"))["cost"]
    assert len(strict_llm.requests[0].tools) == 42 and log[0]["settings"]["listed"] == []
    assert (cost["tools"], cost["listed_tools"], cost["exceeded"]) == (40, 40, False)
    assert (over["tools"], over["listed_tools"], over["exceeded"]) == (40, 0, True)


async def test_the_demo_is_given_all_tools_since_it_cannot_search(tmp_path: Path, ledger: Ledger) -> None:
    async with site_with(tmp_path / "home", None, ledger) as site:
        answer = await ask(site, await site.conversation(), "/left__open_ticket title=Leak")
        assert (answer["outcome"], answer["rounds"]) == ("answered", 1), answer
