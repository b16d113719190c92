"""Where the steps of approval get their facts from: rules and settings of a server that is down, text from outside that
no tool of ours brought, and what a person did with a call before."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio

from tests.kit.ledger_file import Ledger
from tests.web.kit import Site, open_site
from windlass.config import WebSearchSettings
from windlass.testing import Gate, StrictLLM, call, calls, say, wait_for

HIT = {"title": "Rain", "link": "http://10.0.0.7/x", "content": "7 C", "media": "", "icon": "", "refer": ""}


@pytest_asyncio.fixture
async def site(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> AsyncIterator[Site]:
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as opened:
        await opened.add_ledger(ledger)
        yield opened


async def chat(site: Site, conversation: str, text: str = "go") -> dict[str, Any]:
    """The turn, once it is over or waits."""
    turn = (await site.post(f"/conversations/{conversation}/chat", {"content": text}))["turn_id"]
    return dict((await site.get(f"/turns/{turn}?wait=60"))["turn"])


async def test_c1_rules_and_settings_hold_while_their_server_is_down(site: Site, strict_llm: StrictLLM) -> None:
    """A call may be judged in the moment in which a crashed server comes up again."""
    rules = [{"server": "ledger", "tool": "record", "approval": "deny"}]
    assert (await site.call("PUT", "/policy", {"rules": rules})).status == 200
    conversation, gate = await site.conversation(), Gate()
    await site.enable(conversation, "record", "destroy", approval="auto")
    await site.call("PATCH", "/servers/ledger", {"approval": "ask"})
    strict_llm.then(wait_for(gate) + call("record", effect_id="x") + call("destroy", effect_id="y"), say("Done."))
    asking = asyncio.create_task(chat(site, conversation))
    await gate.reached()
    await site.post("/servers/ledger/stop")
    gate.open()
    turn = await asking
    assert [(one["name"], one["state"]) for one in turn["calls"]] == [
        ("record", "denied"),
        ("destroy", "awaiting_approval"),
    ]


async def test_d2_a_call_is_tried_as_in_its_chat_whether_its_server_is_named_by_id_or_slug(site: Site) -> None:
    conversation = await site.conversation()
    await site.enable(conversation, "read_only", approval="deny")
    server_id = (await site.get("/servers/ledger"))["server"]["id"]
    for server in (server_id, "ledger"):
        call = {"server": server, "tool": "read_only", "conversation_id": conversation}
        found = await site.post("/permissions/test", call)
        assert (found["verdict"], found["step"], found["enabled"]) == ("refuse", 1, True)
    search = await site.post(
        "/permissions/test", {"server": "windlass", "tool": "web_search", "arguments": {"query": "x"}}
    )
    assert (search["verdict"], search["tool_class"]) == ("auto", "reads")


async def test_c1_a_search_that_the_provider_ran_is_text_from_outside(tmp_path: Path, ledger: Ledger) -> None:
    replies = [say("Rain [1]."), call("record", effect_id="x"), say("Done.")]
    async with StrictLLM(replies, dialect="zai", search=[HIT]) as llm:
        settings: Any = {"web_search": WebSearchSettings(backend="builtin")}
        async with open_site(tmp_path / "home", llm, durability="normal", **settings) as site:
            await site.add_ledger(ledger)
            conversation = await site.conversation()
            await site.enable(conversation, "record")
            assert (await chat(site, conversation, "// weather in Nanaimo"))["sources"]
            turn = await chat(site, conversation, "Record it.")
    assert (turn["state"], turn["calls"][0]["rule"]) == (
        "awaiting_person",
        "it changes something, and this chat has read text from outside",
    )
    assert ledger.counts() == {}


async def test_c2_twenty_addresses_of_the_message_are_fetched_in_a_turn_and_no_more(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    schema = {"type": "object", "properties": {"url": {"type": "string"}}}
    tools = ledger.folder / "tools.json"
    tools.write_text(json.dumps([{"name": "fetch", "inputSchema": schema}]))
    await site.add_ledger(ledger, "--only", "ask", "--tools", str(tools), slug="web", tools="fe*")
    pages = [f"https://docs.example.org/{number}" for number in range(21)]
    strict_llm.then(calls(*(call("fetch", url=page) for page in pages)))
    turn = await chat(site, await site.conversation(), f"Read {' and '.join(pages)}")
    states = [one["state"] for one in turn["calls"]]
    assert states == ["ok"] * 20 + ["awaiting_approval"], states


async def test_d6_a_reader_that_was_stopped_or_broke_is_never_in_doubt(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    both = call("read_slow", effect_id="r", gate=ledger.gate()) + call("record_slow", effect_id="w", gate=ledger.gate())
    ends: dict[str, list[tuple[str, str]]] = {}
    strict_llm.then(both, both, say("Done."))
    for how in ("stopped", "broken"):
        asking = asyncio.create_task(chat(site, await _named(site, "read_slow", "record_slow")))
        await ledger.seen("started", "w", len(ends) + 1)
        await ledger.seen("started", "r", len(ends) + 1)
        if how == "stopped":
            await site.post(f"/turns/{_running(site)}/stop")
        else:
            await site.post("/servers/ledger/stop")
        turn = await asking
        ends[how] = [(one["name"], one["state"]) for one in turn["calls"]]
    assert ends == {
        "stopped": [("read_slow", "cancelled"), ("record_slow", "unknown")],
        "broken": [("read_slow", "error"), ("record_slow", "unknown")],
    }


async def test_d6_a_person_who_retries_an_unknown_call_is_not_asked_again_and_the_model_is(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    slow = call("record_slow", effect_id="x", gate=ledger.gate())
    strict_llm.then(slow, say("Retried."), slow)
    conversation = await _named(site, "record_slow")
    asking = asyncio.create_task(chat(site, conversation))
    await ledger.seen("started", "x")
    stopped = _running(site)
    await site.post(f"/turns/{stopped}/stop")
    [lost] = (await asking)["calls"]
    assert (lost["state"], lost["cause"]) == ("unknown", "stopped")

    ledger.open()
    retried = (await site.post(f"/turns/{stopped}/calls/{lost['id']}/retry"))["turn"]["id"]
    done = (await site.get(f"/turns/{retried}?wait=60"))["turn"]
    assert (done["outcome"], [one["state"] for one in done["calls"]]) == ("answered", ["ok"])
    events = (await site.get(f"/turns/{retried}/log"))["events"]
    assert [one["by"] for one in events if one["event"] == "call_decided"] == ["token"]

    again = await chat(site, conversation, "Once more.")
    assert (again["state"], again["pending_calls"][0]["why"]) == ("awaiting_person", "the same call once ended unknown")
    assert ledger.counts() == {"x": 2}


async def _named(site: Site, *tools: str) -> str:
    conversation = await site.conversation()
    await site.enable(conversation, *tools)
    return conversation


def _running(site: Site) -> str:
    [turn] = site.app.store.conversations.unfinished()
    return turn.id
