"""Permissions over HTTP: one list of what decides calls, revoking, and grants that hold as long as they claim."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.kit.ledger_file import Ledger
from tests.web.kit import Reply, Site, open_site
from windlass.config import load
from windlass.testing import Gate, StrictLLM, call, say, wait_for
from windlass.testing.replies import Scripted
from windlass.toolbox.permission_rows import GrantKept
from windlass.toolbox.permissions import Grant, decide

FILE = """
[[policy]]
tool = "sleep_*"
approval = "ask"

[servers.first]
command = {command}
args = {args}
approval = "ask"
[servers.first.tools.echo]
approval = "auto"
"""


@pytest_asyncio.fixture
async def site(tmp_path: Path, strict_llm: StrictLLM) -> AsyncIterator[Site]:
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as opened:
        yield opened


@asynccontextmanager
async def configured(tmp_path: Path, llm: StrictLLM, ledger: Ledger) -> AsyncIterator[Site]:
    """A server with settings in the operator's file."""
    command, *args = ledger.argv()
    path = tmp_path / "windlass.toml"
    path.write_text(FILE.format(command=json.dumps(command), args=json.dumps(args)))
    read = load(config=path)
    settings: dict[str, Any] = {"servers": read.servers, "policy": read.policy, "lines": read.lines}
    async with open_site(tmp_path / "home", llm, durability="normal", **settings) as site:
        await site.app.servers.wait_ready("first", 60)
        yield site


async def asked(site: Site, llm: StrictLLM, conversation: str, tool: str = "record", **arguments: object) -> Any:
    """The call that waits, with the path of its verbs."""
    llm.then(call(tool, **(arguments or {"effect_id": "x"})), say("Done."))
    reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Do it"})
    assert reply.status == 202, reply.text
    [pending] = reply.body["pending_calls"]
    return pending | {
        "turn": reply.body["turn_id"],
        "path": f"/turns/{reply.body['turn_id']}/calls/{pending['call_id']}",
    }


async def chat(site: Site, llm: StrictLLM, conversation: str, tool: str = "record", **arguments: object) -> Reply:
    llm.then(call(tool, **(arguments or {"effect_id": "x"})), say("Done."))
    return await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Do it"})


async def denied(site: Site, reply: Reply) -> None:
    [pending] = reply.body["pending_calls"]
    turn = f"/turns/{reply.body['turn_id']}"
    await site.post(f"{turn}/calls/{pending['call_id']}/decision", {"decision": "deny"})
    await site.get(f"{turn}?wait=60")


async def asking_chat(site: Site, *tools: str, server: str = "ledger") -> str:
    conversation = await site.conversation()
    await site.enable(conversation, *(tools or ("record",)), server=server, approval="ask")
    return conversation


async def listed(site: Site, query: str = "") -> list[dict[str, Any]]:
    return list((await site.get(f"/permissions{query}"))["permissions"])


async def test_d2_every_rule_grant_and_setting_is_listed_with_its_origin(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    async with configured(tmp_path, strict_llm, ledger) as site:
        rules = [{"tool": "destroy", "approval": "deny", "name": "no harm", "arguments": {"effect_id": "a*"}}]
        await site.call("PUT", "/policy", {"rules": rules})
        conversation = await asking_chat(site, server="first")
        await site.enable(conversation, "read_only", server="first")
        pending = await asked(site, strict_llm, conversation)
        decided = await site.post(f"{pending['path']}/decision", {"decision": "allow", "scope": "always"})

        found = await listed(site)

        file_rule, rule, grant, chat_setting, tool, server = found
        assert (file_rule["kind"], file_rule["source"], file_rule["line"]) == ("rule", "windlass.toml", 2)
        assert (rule["effect"], rule["name"], rule["by"], rule["source"]) == ("deny", "no harm", "token", "policy")
        assert rule["arguments"] == {"effect_id": "a*"} and rule["at"] and rule["last_used_at"] is None
        assert (grant["id"], grant["server"], grant["tool"]) == (decided["permission_id"], "first", "record")
        assert (grant["kind"], grant["effect"], grant["scope"], grant["by"]) == ("grant", "auto", "always", "token")
        assert (chat_setting["effect"], chat_setting["tool"]) == ("ask", "record")
        assert (chat_setting["scope"], chat_setting["conversation_id"]) == ("conversation", conversation)
        assert (tool["kind"], tool["effect"], tool["tool"], tool["line"]) == ("tool", "auto", "echo", 11)
        assert (server["kind"], server["effect"], server["server"], server["line"]) == ("server", "ask", "first", 9)
        here = await listed(site, f"?conversation={conversation}")
        assert ("named", "read_only") in [(one["effect"], one["tool"]) for one in here]


async def test_d2_the_list_is_narrowed_to_a_server_a_tool_or_a_chat(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    for slug in ("one", "two"):
        await site.add_ledger(ledger, slug=slug)
    rules = [{"server": "t*", "approval": "ask"}, {"tool": "rec*", "approval": "ask"}, {"tool": "x", "approval": "ask"}]
    await site.call("PUT", "/policy", {"rules": rules})
    chats = [await asking_chat(site, server=slug) for slug in ("one", "two")]

    assert [one["server"] for one in await listed(site, "?server=two")] == ["t*", "*", "*", "two"]
    assert [one["tool"] for one in await listed(site, "?tool=record")] == ["*", "rec*", "record", "record"]
    assert [one["server"] for one in await listed(site, f"?conversation={chats[0]}&tool=record")] == ["t*", "*", "one"]
    assert (await site.call("GET", "/permissions?conversation=conv-none")).status == 404


async def test_d2_what_the_file_says_is_not_revoked_here_and_the_line_is_named(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    async with configured(tmp_path, strict_llm, ledger) as site:
        for one in await listed(site):
            refused = await site.call("DELETE", f"/permissions/{one['id']}")
            assert (refused.status, refused.code) == (409, "from_config")
            assert f"windlass.toml, line {one['line']}" in refused.body["error"]["message"]
        assert len(await listed(site)) == 3


async def test_d2_what_comes_with_the_demo_is_listed_as_such_and_stays(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        [setting] = (await site.get("/permissions"))["permissions"]
        assert (setting["id"], setting["effect"], setting["source"]) == ("tool:demo:write_note", "ask", "built-in")
        refused = await site.call("DELETE", f"/permissions/{setting['id']}")
        assert (refused.status, refused.code) == (409, "from_config") and "GET /policy" in refused.body["error"]["hint"]


async def test_d2_revoking_holds_at_once_in_a_turn_that_runs(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    conversation = await asking_chat(site)
    first = await asked(site, strict_llm, conversation)
    body = {"decision": "allow", "scope": "conversation"}
    grant = (await site.post(f"{first['path']}/decision", body))["permission_id"]
    await site.get(f"/turns/{first['turn']}?wait=60")
    gate = Gate()
    strict_llm.then(call("record", effect_id="runs"), wait_for(gate) + call("record", effect_id="asks"), say("Done."))
    running = asyncio.create_task(site.call("POST", f"/conversations/{conversation}/chat", {"content": "Go"}))
    await gate.reached()
    await site.call("DELETE", f"/permissions/{grant}")
    gate.open()
    assert (await running).status == 202
    assert ledger.counts() == {"x": 1, "runs": 1}


async def test_d2_a_revoked_setting_of_a_chat_or_a_server_is_gone(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger, approval="deny")
    conversation = await asking_chat(site)
    for one in await listed(site):
        assert (await site.call("DELETE", f"/permissions/{one['id']}")).status == 200, one
    assert await listed(site) == []
    assert (await site.get("/servers/ledger"))["server"]["approval"] is None
    [kept] = (await site.get(f"/conversations/{conversation}/tools"))["enabled_tools"]
    assert (kept["tool_name"], kept["approval"]) == ("record", "")
    assert (await chat(site, strict_llm, conversation)).status == 200


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"covers": "server"}, "covers"),
        ({"scope": "once", "conditions": {"a": "b"}}, "conditions"),
        ({"expires_at": "2126-01-01T00:00:00Z"}, "expires_at"),
        ({"scope": "always", "expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"scope": "always", "expires_at": "tomorrow"}, "expires_at"),
        ({"scope": "always", "covers": "server", "conditions": {"effect_id": "x"}}, "conditions"),
    ],
)
async def test_a_decision_that_asks_for_the_impossible_changes_nothing(
    site: Site, strict_llm: StrictLLM, ledger: Ledger, fields: dict[str, Any], path: str
) -> None:
    await site.add_ledger(ledger)
    pending = await asked(site, strict_llm, await asking_chat(site))
    refused = await site.call("POST", f"{pending['path']}/decision", {"decision": "allow", **fields})
    assert (refused.status, refused.body["error"]["detail"]) == (422, {"path": path})
    assert (await site.get(f"/turns/{pending['turn']}"))["turn"]["state"] == "awaiting_person"
    assert [one["kind"] for one in await listed(site)] == ["conversation"]


async def test_a_grant_is_written_before_the_decision_and_taken_back_when_another_came_first(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    pending = await asked(site, strict_llm, await asking_chat(site))
    always = {"decision": "allow", "scope": "always"}
    replies = await asyncio.gather(
        *(site.call("POST", f"{pending['path']}/decision", body) for body in ({"decision": "deny"}, always, always))
    )
    turn = (await site.get(f"/turns/{pending['turn']}?wait=60"))["turn"]
    grants = [one["id"] for one in await listed(site) if one["kind"] == "grant"]
    if turn["calls"][0]["state"] == "denied":
        assert grants == [] and not any("permission_id" in reply.body for reply in replies)
    else:
        assert {reply.body.get("permission_id") for reply in replies} == set(grants) and len(grants) == 1


async def test_a_decision_sent_twice_names_the_same_grant(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    pending = await asked(site, strict_llm, await asking_chat(site))
    always = {"decision": "allow", "scope": "always", "emphatic": True}
    first, second = [await site.post(f"{pending['path']}/decision", always) for _ in range(2)]
    assert first["permission_id"] == second["permission_id"]
    assert len([one for one in await listed(site) if one["kind"] == "grant"]) == 1


async def test_d1_with_two_servers_of_one_tool_everything_names_the_calls_own(
    site: Site, strict_llm: StrictLLM, tmp_path: Path
) -> None:
    ids = {}
    for slug in ("mine", "theirs"):
        (tmp_path / slug).mkdir()
        ids[slug] = await site.add_ledger(Ledger(tmp_path / slug), slug=slug)
    conversation = await site.conversation()
    for slug in ids:
        await site.enable(conversation, "record", server=slug, approval="ask")
    pending = await asked(site, strict_llm, conversation, "theirs__record", effect_id="x")
    assert (pending["name"], pending["server_slug"]) == ("theirs__record", "theirs")
    await site.post(f"{pending['path']}/decision", {"decision": "allow", "scope": "always"})
    turn = (await site.get(f"/turns/{pending['turn']}?wait=60"))["turn"]
    assert turn["calls"][0]["server_slug"] == "theirs"
    [grant] = [one for one in await listed(site) if one["kind"] == "grant"]
    assert (grant["server"], grant["tool"]) == ("theirs", "record")
    assert Ledger(tmp_path / "theirs").counts() == {"x": 1} and Ledger(tmp_path / "mine").counts() == {}

    assert (await chat(site, strict_llm, conversation, "mine__record", effect_id="y")).status == 202
    other = await asking_chat(site, server="theirs")
    assert (await chat(site, strict_llm, other, "record", effect_id="z")).status == 200


async def test_rules_have_ids_and_a_stale_change_is_refused(site: Site) -> None:
    first = (await site.call("PUT", "/policy", {"rules": [{"tool": "a", "approval": "ask"}]})).body
    both = (await site.call("PUT", "/policy", {"rules": [*first["rules"], {"tool": "b", "approval": "deny"}]})).body
    assert both["rules"][0] == first["rules"][0] and both["rules"][0]["by"] == "token"

    stale = await site.call("PUT", "/policy", {"rules": [], "version": first["version"]})
    assert (stale.status, stale.code) == (409, "policy_changed")
    assert (await site.get("/policy"))["rules"] == both["rules"]

    plain = [{"tool": "a", "approval": "ask"}, {"tool": "b", "approval": "ask"}]  # as a first-edition client sends it
    third = (await site.call("PUT", "/policy", {"rules": plain, "version": both["version"]})).body
    assert third["rules"][0] == first["rules"][0] and third["rules"][1]["id"] != both["rules"][1]["id"]
    await site.call("DELETE", f"/permissions/{third['rules'][0]['id']}")
    assert [rule["tool"] for rule in (await site.get("/policy"))["rules"]] == ["b"]


async def test_a2_settings_of_chats_and_servers_say_who_set_them_and_when(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    admin, conversation = site.token("admin", name="kitchen"), await site.conversation()
    tool = {"server_id": "ledger", "tool_name": "record", "approval": "auto"}
    await site.call("POST", f"/conversations/{conversation}/tools", tool, token=admin)
    await site.call("PATCH", "/servers/ledger", {"approval": "ask"}, token=admin)
    await site.call("PATCH", "/servers/ledger", {"timeout_s": 9})  # another's change of something else
    listed = (await site.get("/permissions"))["permissions"]
    assert {(one["kind"], one["by"]) for one in listed} == {("conversation", "kitchen"), ("server", "kitchen")}
    assert all(one["at"] for one in listed)


async def test_c1_a_person_corrects_what_a_tool_does(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger, tools="*")
    path = "/servers/ledger/tools/record/kind"

    async def outcome(*answer: Scripted) -> str:
        strict_llm.then(call("record", effect_id="a"), *answer)
        chat = await site.post(f"/conversations/{await site.conversation()}/chat", {"content": "Go"})
        await site.post(f"/turns/{chat['turn_id']}/stop")
        return str(chat["outcome"])

    async def shown() -> tuple[str, str]:
        [tool] = [one for one in (await site.get("/servers/ledger/tools"))["tools"] if one["name"] == "record"]
        return tool["kind"], tool["kind_by"]

    assert (await shown(), await outcome()) == (("changes", ""), "awaiting_person")
    assert (await site.call("PUT", path, {"kind": "reads"})).status == 200
    assert (await shown(), await outcome(say("Done."))) == (("reads", "token"), "answered")
    assert (await site.call("PUT", path, {"kind": None})).status == 200
    assert (await shown(), await outcome()) == (("changes", ""), "awaiting_person")
    assert ledger.counts() == {"a": 1}


async def test_d6_a_retry_is_no_decision_about_another_servers_tool(
    site: Site, strict_llm: StrictLLM, ledger: Ledger, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of two servers with one tool the second has the bare name once the first is gone."""
    other = Ledger(tmp_path_factory.mktemp("other"))
    await site.add_ledger(ledger, "--only", "fail")
    conversation = await site.conversation()
    await site.enable(conversation, "fail", approval="auto")
    strict_llm.then(call("fail", message="no"), say("It failed."))
    chat = await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})
    [failed] = (await site.get(f"/turns/{chat['turn_id']}"))["turn"]["calls"]
    await site.call("DELETE", "/servers/ledger")
    await site.add_ledger(other, "--only", "fail", slug="other")
    await site.enable(conversation, "fail", server="other")
    again = await site.post(f"/turns/{chat['turn_id']}/calls/{failed['id']}/retry")
    turn = (await site.get(f"/turns/{again['turn']['id']}?wait=60"))["turn"]
    assert (turn["state"], other.counts()) == ("awaiting_person", {})


async def test_c4_a_deny_that_came_while_a_call_waited_is_not_lifted_by_allow(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record", approval="ask")
    strict_llm.then(call("record", effect_id="a"), say("Then not."))
    waiting = await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})
    [pending] = waiting["pending_calls"]
    decision = f"/turns/{waiting['turn_id']}/calls/{pending['call_id']}/decision"
    await site.call("PUT", "/policy", {"rules": [{"server": "ledger", "tool": "record", "approval": "deny"}]})
    refused = await site.call("POST", decision, {"decision": "allow"})
    assert (refused.status, refused.code, ledger.counts()) == (409, "policy", {})
    await site.post(decision, {"decision": "deny"})
    await site.get(f"/turns/{waiting['turn_id']}?wait=60")
    assert ledger.counts() == {}


async def test_a2_a_server_is_granted_for_always_only_by_who_confirms(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record", approval="ask")
    strict_llm.then(call("record", effect_id="a"), say("Done."))
    waiting = await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})
    decision = f"/turns/{waiting['turn_id']}/calls/{waiting['pending_calls'][0]['call_id']}/decision"
    page = site.browser()
    for _, principal in site.access.sessions.listed():
        principal.confirmed_until = 0
    body = {"decision": "allow", "scope": "always", "covers": "server"}
    assert (await site.call("POST", decision, body, token="", headers=page)).code == "confirm_required"
    fine = await site.call("POST", decision, {**body, "scope": "conversation"}, token="", headers=page)
    assert fine.status == 200
    await site.get(f"/turns/{waiting['turn_id']}?wait=60")
    assert ledger.counts() == {"a": 1}


async def test_a_revoked_grant_or_rule_is_restored_as_it_was_by_who_may_grant_it(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await asking_chat(site)
    first = await asked(site, strict_llm, conversation)
    granted = {"decision": "allow", "scope": "always", "conditions": {"effect_id": "x"}}
    grant = (await site.post(f"{first['path']}/decision", granted))["permission_id"]
    await site.get(f"/turns/{first['turn']}?wait=60")
    rules = [{"tool": "destroy", "approval": "deny"}, {"tool": "fail", "approval": "auto"}]
    deny, auto = (await site.call("PUT", "/policy", {"rules": rules})).body["rules"]
    before = await listed(site)

    approver = site.token("approve", name="approver")
    for id in (grant, deny["id"], auto["id"]):
        assert (await site.call("DELETE", f"/permissions/{id}")).status == 200
    assert (await chat(site, strict_llm, conversation)).status == 202
    for id in (deny["id"], auto["id"]):
        refused = await site.call("POST", f"/permissions/{id}/restore", token=approver)
        assert (refused.status, refused.code) == (403, "scope_required")
    reader = site.token("chat", name="reader")
    assert (await site.call("POST", f"/permissions/{grant}/restore", token=reader)).status == 403
    assert (await site.call("POST", f"/permissions/{grant}/restore", token=approver)).status == 200
    for id in (deny["id"], auto["id"]):
        assert (await site.call("POST", f"/permissions/{id}/restore")).status == 200

    assert without_uses(await listed(site)) == without_uses(before)
    assert (await site.call("POST", f"/permissions/{grant}/restore")).status == 404


async def test_a_grant_of_a_chat_that_is_gone_is_not_restored(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await asking_chat(site)
    pending = await asked(site, strict_llm, conversation)
    body = {"decision": "allow", "scope": "conversation"}
    grant = (await site.post(f"{pending['path']}/decision", body))["permission_id"]
    await site.get(f"/turns/{pending['turn']}?wait=60")
    await site.call("DELETE", f"/permissions/{grant}")
    await site.call("DELETE", f"/conversations/{conversation}")
    assert (await site.call("POST", f"/permissions/{grant}/restore")).status == 404
    assert await listed(site) == []


async def test_what_could_not_be_written_can_be_restored_once_more(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    [rule] = (await site.call("PUT", "/policy", {"rules": [{"tool": "a", "approval": "ask"}]})).body["rules"]
    rows = site.app.toolbox.permissions
    await rows.revoke(rule["id"])

    async def full(rules: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="no space"):
        patched.setattr(rows, "set_rules", full)
        await rows.restore(rule["id"])
    assert await rows.restore(rule["id"])
    assert [one.id for one in rows.rules()] == [rule["id"]]


async def test_a_grant_that_came_too_late_cannot_be_restored(
    site: Site, strict_llm: StrictLLM, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    await site.add_ledger(ledger)
    pending = await asked(site, strict_llm, await asking_chat(site))
    rows, kept = site.app.toolbox.permissions, list[str]()
    grants = rows.grant

    async def granted_while_another_decides(conversation_id: str, grant: Grant) -> GrantKept:
        saved = await grants(conversation_id, grant)
        kept.append(saved.id)
        await site.post(f"{pending['path']}/decision", {"decision": "deny"})
        return saved

    monkeypatch.setattr(rows, "grant", granted_while_another_decides)
    late = await site.post(f"{pending['path']}/decision", {"decision": "allow", "scope": "always"})
    assert late["message"] == "Decided already"
    assert (await site.call("POST", f"/permissions/{kept[0]}/restore")).status == 404
    await site.get(f"/turns/{pending['turn']}?wait=60")


async def calls_under_a_rule(site: Site, llm: StrictLLM, ledger: Ledger, count: int) -> dict[str, Any]:
    """Calls of one chat that a rule let run, and a replay without that rule."""
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record")
    [rule] = (await site.call("PUT", "/policy", {"rules": [{"tool": "record", "approval": "auto"}]})).body["rules"]
    for _ in range(count):
        assert (await chat(site, llm, conversation)).status == 200
    return {"rule": {"approval": "deny", "tool": "destroy"}, "replaces": rule["id"], "last": 1000}


async def test_a_replay_looks_through_each_chat_once_for_text_from_outside(
    site: Site, strict_llm: StrictLLM, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = await calls_under_a_rule(site, strict_llm, ledger, 3)
    conversations, looked_through = site.app.store.conversations, list[str]()
    log = conversations.outside_log

    def outside_log(conversation_id: str) -> Any:
        looked_through.append(conversation_id)
        return log(conversation_id)

    monkeypatch.setattr(conversations, "outside_log", outside_log)
    assert (await site.post("/permissions/replay", body))["matched"] == 3
    assert len(looked_through) == 1


async def test_others_get_their_turn_between_the_calls_of_a_replay(
    site: Site, strict_llm: StrictLLM, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = await calls_under_a_rule(site, strict_llm, ledger, 3)
    loop, turns, judged_in = asyncio.get_running_loop(), list[None](), list[int]()

    def judged_in_turn(*call: Any, **settings: Any) -> Any:
        judged_in.append(len(turns))
        loop.call_soon(turns.append, None)
        return decide(*call, **settings)

    monkeypatch.setattr("windlass.services.slices.SLICE_S", -1)  # each call is a slice
    monkeypatch.setattr("windlass.services.permission_replay.decide", judged_in_turn)
    await site.post("/permissions/replay", body)
    assert judged_in == [0, 1, 2]


async def test_what_a_permission_decided_is_counted_over_a_restart(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as site:
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "record", "echo", approval="auto")
        await site.call("PUT", "/policy", {"rules": [{"tool": "echo", "approval": "deny"}]})
        for _ in range(2):
            await chat(site, strict_llm, conversation)
        await chat(site, strict_llm, conversation, "echo", text="a")
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as site:
        uses = {one["tool"]: one["uses"] for one in await listed(site) if one["last_used_at"]}
    assert uses == {
        "record": {"allowed": 2, "asked": 0, "stopped": 0},
        "echo": {"allowed": 0, "asked": 0, "stopped": 1},
    }


def without_uses(permissions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**one, "uses": None, "last_used_at": None} for one in permissions]
