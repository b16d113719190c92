"""What a program sees and gets over `/mcp`."""

import asyncio
import base64
import json
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError

from tests.gateway.kit import ERAS, mcp_client, text_of
from tests.kit.authorized_server import authorized_server, final_address
from tests.kit.ledger.pictures import png
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S, until_found
from tests.web.kit import Site


@pytest.mark.parametrize("mode", ERAS)
async def test_a_program_lists_and_calls_the_tools_that_new_chats_have(site: Site, ledger: Ledger, mode: str) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    async with mcp_client(site, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("record", {"effect_id": "a"})
    assert tools["destroy"].annotations and tools["destroy"].annotations.destructive_hint is True
    assert tools["wrong_output"].output_schema and tools["wrong_output"].output_schema["required"] == ["n"]
    assert tools["record"].input_schema["required"] == ["effect_id"]
    assert "result_read" not in tools, "results are handed over whole"
    assert text_of(result) == "recorded a"
    assert ledger.counts() == {"a": 1}


async def test_tools_that_are_off_in_new_chats_are_neither_listed_nor_called(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, tools="read_*", approval="auto")
    async with mcp_client(site) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        with pytest.raises(MCPError, match="There is no tool 'record' here"):
            await client.call_tool("record", {"effect_id": "a"})
    assert {"read_only", "read_slow"} <= names
    assert "record" not in names
    assert ledger.counts() == {}


async def test_two_servers_with_the_same_tools_are_told_apart(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, tools="read_only,echo", slug="one")
    await site.add_ledger(ledger, tools="read_only", slug="two")
    async with mcp_client(site) as client, mcp_client(site, path="/mcp/two") as of_two:
        every = {tool.name for tool in (await client.list_tools()).tools}
        some = [tool.name for tool in (await of_two.list_tools()).tools]
        result = await of_two.call_tool("two__read_only", {"effect_id": "b"})
        with pytest.raises(MCPError, match="no tool"):
            await of_two.call_tool("echo", {"text": "hello"})
    assert {"one__read_only", "two__read_only", "echo"} <= every
    assert some == ["two__read_only"]
    assert text_of(result) == "read b"


async def test_a_server_that_is_not_there_is_named(site: Site) -> None:
    reply = await site.call("POST", "/mcp/nowhere", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert (reply.status, reply.code) == (404, "not_found") and "There is no server 'nowhere'" in reply.text


@pytest.mark.parametrize("mode", ERAS)
async def test_results_arrive_as_their_server_gave_them(site: Site, ledger: Ledger, mode: str) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    async with mcp_client(site, mode=mode) as client:
        mixed = await client.call_tool("odd", {"kind": "mixed"})
        structured = await client.call_tool("odd", {"kind": "structured"})
        blob = await client.call_tool("odd", {"kind": "blob"})
        empty = await client.call_tool("odd", {"kind": "empty"})
        many = await client.call_tool("odd", {"kind": "many"})
        failed = await client.call_tool("fail", {"message": "no such row"})
        long = await client.call_tool("big", {"chars": 300_000})
    picture, text, link = mixed.content
    assert isinstance(picture, types.ImageContent) and picture.mime_type == "image/png"
    assert base64.b64decode(picture.data) == png()
    assert isinstance(text, types.TextContent) and text.text == "a picture"
    assert isinstance(link, types.ResourceLink) and link.uri == "file:///docs/a.txt"
    assert structured.structured_content == {"temperature": 21.5, "unit": "C"}
    assert isinstance(blob.content[0], types.EmbeddedResource)
    assert empty.content == []
    assert [text_of(types.CallToolResult(content=[block])) for block in many.content][:2] == ["block 0", "block 1"]
    assert failed.is_error and text_of(failed) == "no such row"
    assert len(text_of(long)) == 300_000, "the whole of it, not the short form that a model is shown"


async def test_arguments_that_do_not_fit_are_an_error_result(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    async with mcp_client(site) as client:
        result = await client.call_tool("record", {"effect": 7})
    assert result.is_error
    assert "do not fit the tool's schema" in text_of(result)


@pytest.mark.parametrize("mode", ERAS)
async def test_progress_is_passed_on(site: Site, ledger: Ledger, mode: str) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    seen: list[tuple[float, float | None, str | None]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with mcp_client(site, mode=mode) as client:
        await client.call_tool("progress", {"steps": 3}, progress_callback=heard)
    assert seen == [(1, 3, "step 1 of 3"), (2, 3, "step 2 of 3"), (3, 3, "step 3 of 3")]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_call_that_is_taken_back_is_stopped(site: Site, ledger: Ledger, mode: str) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    async with mcp_client(site, mode=mode) as client:
        calling = asyncio.ensure_future(client.call_tool("record_slow", {"effect_id": "a", "gate": ledger.gate("g")}))
        await ledger.seen("started", "a")
        calling.cancel()
        turn = await only_turn(site, "finished")
    assert turn["outcome"] == "stopped"
    assert [call["state"] for call in turn["calls"]] == ["unknown"], "it was sent, and it changes something"


async def test_two_programs_call_at_once(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    async with mcp_client(site, name="One") as one, mcp_client(site, name="Two", mode="auto") as two:
        async with asyncio.timeout(PATIENCE_S):
            results = await asyncio.gather(
                *(
                    client.call_tool("record", {"effect_id": f"{who}{n}"})
                    for n in range(6)
                    for who, client in (("one", one), ("two", two))
                )
            )
    assert sorted(text_of(result) for result in results) == sorted(
        f"recorded {who}{n}" for n in range(6) for who in ("one", "two")
    )
    assert set(ledger.counts().values()) == {1}


@pytest.mark.parametrize("mode", ERAS)
async def test_a_change_of_the_list_is_announced(site: Site, ledger: Ledger, mode: str) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    changed = asyncio.Event()

    async def heard(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async with mcp_client(site, mode=mode, on_message=heard) as client, asyncio.timeout(PATIENCE_S):
        before = {tool.name for tool in (await client.list_tools()).tools}
        if mode == "auto":
            async with client.listen(tools_list_changed=True) as changes:
                await site.add_ledger(ledger, tools="echo", slug="more")
                await anext(aiter(changes))
        else:
            await site.add_ledger(ledger, tools="echo", slug="more")
            await changed.wait()
        after = {tool.name for tool in (await client.list_tools()).tools}
    assert after - before == {"ledger__echo", "more__echo"}


async def test_the_program_and_its_call_are_kept_in_the_ledger(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    async with mcp_client(site, name="Odd\n\u202eDesktop") as client:
        await client.call_tool("echo", {"text": "hello"})
    turn = await only_turn(site, "finished")
    assert (turn["origin"], turn["client"], turn["outcome"]) == ("mcp", "Odd Desktop 1.2", "answered")
    assert json.loads(turn["calls"][0]["arguments"]) == {"text": "hello"}
    kinds = [event["event"] for event in (await site.get(f"/turns/{turn['id']}/log"))["events"]]
    assert kinds == [
        "turn_started",
        "model_replied",
        "call_judged",
        "turn_claimed",
        "tool_started",
        "tool_finished",
        "turn_finished",
    ]
    replayed = await site.post(
        "/permissions/replay", {"rule": {"server": "ledger", "tool": "echo", "approval": "deny"}, "last": 10}
    )
    assert replayed["would_deny"] == 1
    assert (await site.get("/conversations"))["count"] == 0, "nothing waits, so no list shows it"


async def only_turn(site: Site, state: str) -> Any:
    """The newest turn of a program that called, once it is in this state."""
    store = site.app.store.conversations

    async def found() -> Any:
        heads = [head for one in store.of_clients() if (head := store.head(one.id))]
        turns = [(await site.get(f"/turns/{head}"))["turn"] for head in heads]
        return [turn for turn in turns if turn["state"] == state]

    await until_found(found, f"a call that is {state}")
    return (await found())[0]


async def cut_off(site: Site, ledger: Ledger, client: Client) -> dict[str, str]:
    """A call whose outcome is unknown; gives its arguments."""
    arguments = {"effect_id": "a", "gate": ledger.gate("g")}
    calling = asyncio.ensure_future(client.call_tool("record_slow", arguments))
    await ledger.seen("started", "a")
    calling.cancel()
    await only_turn(site, "finished")
    ledger.open("g")
    return arguments


async def test_a_call_in_doubt_asks_also_when_its_tool_has_another_name_by_then(site: Site, ledger: Ledger) -> None:
    server = await site.add_ledger(ledger, tools="*", approval="auto")
    await site.add_ledger(ledger, slug="other", tools="echo", approval="auto")
    async with mcp_client(site) as client:
        arguments = await cut_off(site, ledger, client)
        await site.call("PATCH", "/servers/other", {"tools": "*"})
        ours = await client.call_tool("ledger__record_slow", {**arguments, "effect_id": "b"})
        theirs = await client.call_tool("other__record_slow", arguments)
        assert not ours.is_error and not theirs.is_error, "other arguments, and another server, are another call"
        for renamed in ("ledger", "removed"):
            if renamed == "removed":
                await site.call("DELETE", f"/servers/{server}")
                await site.add_ledger(ledger, slug="again", tools="*", approval="auto")
            name = "ledger__record_slow" if renamed == "ledger" else "again__record_slow"
            again = asyncio.ensure_future(client.call_tool(name, arguments))
            turn = await only_turn(site, "awaiting_person")
            assert turn["pending_calls"][0]["rule"] == "the same call once ended unknown"
            again.cancel()
            await only_turn(site, "finished")
    assert ledger.counts() == {"a": 2, "b": 1}


async def test_a_program_does_not_delete_what_it_left_in_doubt(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    own = site.token("chat")
    async with mcp_client(site, token=own) as client:
        await cut_off(site, ledger, client)
    (kept,) = site.app.store.conversations.of_clients()
    listed = (await site.get(f"/conversations/{kept.id}/messages"))["messages"]
    paths = [f"/conversations/{kept.id}", *(f"/conversations/{kept.id}/messages/{one['id']}" for one in listed)]
    assert len(paths) > 1
    for path in paths:
        assert (await site.call("DELETE", path, token=own)).code == "scope_required"
    mine = await site.conversation()
    assert (await site.call("DELETE", f"/conversations/{mine}", token=own)).status == 200
    assert (await site.call("DELETE", paths[0])).status == 200


@pytest.mark.parametrize("forbidden", ["by a rule", "by the server", "not"])
async def test_a_call_that_was_denied_while_it_waited_for_a_sign_in_is_not_sent(site: Site, forbidden: str) -> None:
    async with authorized_server() as remote:
        new = {"name": "Guarded", "slug": "guarded", "url": remote.url, "tools": "*", "approval": "auto"}
        await site.post("/servers", new)
        await site.post("/servers/guarded/start")
        await sign_in(site)
        async with mcp_client(site) as client:
            await client.call_tool("keep", {"text": "one"})
            remote.authority.refuses_to_renew = True
            remote.authority.expire_all()
            calling = asyncio.ensure_future(client.call_tool("keep", {"text": "two"}))
            turn = await only_turn(site, "awaiting_person")
            assert turn["pending_calls"][0]["kind"] == "sign_in"
            await until_found(lambda: asks_for_sign_in(site), "the server to be found asking for a sign-in")
            if forbidden == "by a rule":
                await site.call("PUT", "/policy", {"rules": [{"server": "guarded", "tool": "*", "approval": "deny"}]})
            else:
                approval = "deny" if forbidden == "by the server" else "ask"
                await site.call("PATCH", "/servers/guarded", {"approval": approval})
            remote.authority.refuses_to_renew = False
            await sign_in(site)
            result = await calling
        await site.post("/servers/guarded/stop")
    if forbidden == "not":
        assert remote.calls == ["one", "two"], "what asks by now was allowed before"
    else:
        assert result.is_error and "Not allowed here" in text_of(result) and remote.calls == ["one"]


async def asks_for_sign_in(site: Site) -> bool:
    return bool((await site.get("/servers/guarded"))["server"]["status"] == "needs_sign_in")


async def sign_in(site: Site) -> None:
    begun = await site.post("/servers/guarded/login", {})
    back = await final_address(begun["authorize_url"])
    assert (await site.call("GET", back.removeprefix(site.url), token="")).status == 200
