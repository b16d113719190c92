"""Who did what: every route that changes something for others leaves an entry, and none of them holds a secret."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.kit.authorized_server import authorized_server
from tests.kit.ledger_file import Ledger
from tests.web.kit import Site
from windlass.api.routes import ROUTES
from windlass.core.events import CallJudged, ModelReplied, ToolStarted, TurnClaimed, TurnStarted
from windlass.core.messages import ToolCall
from windlass.store import AuditRow
from windlass.store.audit import KEEP_S
from windlass.testing import StrictLLM, call, say

NAME = "kitchen"
CANARY = "canary-7Qz9-secret"
# the end of a sign-in has no actor: a browser comes from another site; its beginning is written down
CHANGES_NOTHING = {"providers.check", "providers.test", "search.test", "servers.finish_login"}
OF_OTHER_SCOPES = {  # who came in, what is gone for good, what runs unasked
    *("access.log_in", "access.log_out", "access.confirm"),
    *("conversations.delete", "messages.delete", "tools.enable"),
}
RULE = {"approval": "ask", "server": "ledger", "tool": "destroy", "arguments": {"path": CANARY}}
Step = Callable[["Story"], Awaitable[object]]


@dataclass
class Story:
    """One admin's day, in which each route is used once, with a secret in every field that may hold one."""

    site: Site
    llm: StrictLLM
    ledger: Ledger
    token: str
    page: dict[str, str] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)

    async def send(self, method: str, path: str, body: object = None, *, page: bool = False) -> Any:
        headers, token = (self.page, "") if page else ({}, self.token)
        reply = await self.site.call(method, path, body, token=token, headers=headers)
        assert reply.status < 300, (method, path, reply.text)
        return reply.body

    async def chat(self, tool: str, **arguments: object) -> str:
        """The path of the call that a person is asked about, or that has ended."""
        conversation = (await self.site.post("/conversations"))["conversation"]["id"]
        await self.site.enable(conversation, tool, **({"approval": "ask"} if tool == "record" else {}))
        self.llm.then(call(tool, **arguments), say("Done."))
        turn = (await self.site.post(f"/conversations/{conversation}/chat", {"content": CANARY}))["turn_id"]
        calls = (await self.site.get(f"/turns/{turn}"))["turn"]["calls"]
        return f"/turns/{turn}/calls/{calls[0]['id']}"

    async def settle(self, path: str, verb: str, body: object = None) -> None:
        """And wait for the turn, whose next reply must not be taken for another's."""
        turn = (await self.send("POST", f"{path}/{verb}", body))["turn"]["id"]
        await self.site.get(f"/turns/{turn}?wait=60")

    async def add_server(self) -> None:
        command, *args = self.ledger.argv()
        env = {"API_KEY": CANARY, "PLACE": CANARY}
        new = {"name": "Ledger", "slug": "ledger", "command": command, "args": args, "env": env}
        self.known["server"] = (await self.send("POST", "/servers", new))["server"]

    async def confirm_server(self) -> None:
        await self.send("POST", "/servers/ledger/confirm", {"argv": self.known["server"]["argv"]})

    async def accept_tool(self) -> None:
        tools = (await self.site.get("/servers/ledger/tools"))["tools"]
        path = f"/servers/ledger/tools/{tools[0]['name']}/accept"
        await self.send("POST", path, {"hash": tools[0]["hash"]})

    async def correct_kind(self) -> None:
        await self.send("PUT", "/servers/ledger/tools/record/kind", {"kind": "changes"})

    async def log_in_to_server(self) -> None:
        async with authorized_server() as remote:
            await self.site.post("/servers", {"name": "Guarded", "slug": "guarded", "url": remote.url})
            await self.send("POST", "/servers/guarded/login", {})

    async def add_provider(self) -> None:
        new = {"name": "Far", "base_url": "http://a.example/v1", "api_key": CANARY}
        self.known["provider"] = (await self.send("POST", "/providers", new))["provider"]["id"]

    async def add_persona(self) -> None:
        new = {"name": "Cook", "system_prompt": CANARY}
        self.known["persona"] = (await self.send("POST", "/personas", new))["persona"]["id"]

    async def revoke_permission(self) -> None:
        [rule] = [one for one in (await self.site.get("/permissions"))["permissions"] if one["kind"] == "rule"]
        self.known["revoked"] = rule["id"]
        await self.send("DELETE", f"/permissions/{self.known['revoked']}")

    async def restore_permission(self) -> None:
        await self.send("POST", f"/permissions/{self.known['revoked']}/restore")

    async def decide(self) -> None:
        body = {"decision": "allow", "scope": "always", "reason": CANARY}
        await self.settle(await self.chat("record", effect_id=CANARY), "decision", body)

    async def resolve(self) -> None:
        """Of a call that a restart cut off."""
        store = self.site.app.store
        started = store.conversations.log((await self.chat("echo", text="x")).split("/")[2])[0].event
        assert isinstance(started, TurnStarted)
        turn = await store.logs.create((await self.site.post("/conversations"))["conversation"]["id"], started)
        asked = ModelReplied("", (ToolCall("call-1", "echo", "{}"),), finish="tool_calls")
        judged = CallJudged("call-1", "auto", server=self.known["server"]["id"])
        await store.logs.append(turn.turn_id, [asked, judged, ToolStarted("call-1"), TurnClaimed("another", 2)])
        self.llm.then(say("Left it."))
        await self.settle(f"/turns/{turn.turn_id}/calls/call-1", "resolve", {"as": "skip"})

    async def retry_call(self) -> None:
        path = await self.chat("fail", message=CANARY)
        self.llm.then(say("Failed again."))
        await self.settle(path, "retry")

    async def answer(self) -> None:
        body = {"action": "accept", "content": {"name": CANARY, "number": 3}}
        await self.settle(await self.chat("ask"), "input", body)

    async def sign_in(self) -> None:
        body = {"token": self.token}
        reply = await self.site.call("POST", "/session", body, token="")
        cookie = reply.headers["Set-Cookie"].partition(";")[0]
        self.page = {"Cookie": cookie, "X-Windlass-Session": reply.body["half"]}

    async def end_session(self) -> None:
        self.site.browser(token=self.token)
        sessions = (await self.site.get("/sessions"))["sessions"]
        await self.send("DELETE", f"/sessions/{sessions[-1]['id']}")

    async def new_token(self) -> None:
        made = await self.send("POST", "/tokens", {"name": "phone", "scopes": ["chat", "approve"]})
        self.known["token"] = made["token"]["id"]

    async def rotate(self) -> None:
        self.site.access.fixed = False  # else settings hold the token of the tests
        await self.send("POST", "/token/rotate")

    async def delete_message(self) -> None:
        conversation = (await self.site.post("/conversations"))["conversation"]["id"]
        path = f"/conversations/{conversation}/messages"
        message = (await self.site.post(path, {"role": "user", "content": CANARY}))["message"]["id"]
        await self.send("DELETE", f"{path}/{message}")

    async def delete_conversation(self) -> None:
        conversation = (await self.site.post("/conversations", {"title": CANARY}))["conversation"]["id"]
        await self.send("DELETE", f"/conversations/{conversation}")

    async def enable_tool(self) -> None:
        conversation = (await self.site.post("/conversations"))["conversation"]["id"]
        body = {"server_id": "ledger", "tool_name": "echo", "approval": "auto"}
        await self.send("POST", f"/conversations/{conversation}/tools", body)


def sends(method: str, path: str, body: object = None, *, page: bool = False) -> Step:
    return lambda story: story.send(method, path.format(**story.known), body, page=page)


STEPS: dict[str, tuple[Step, str, str]] = {  # the route's name: what is done, and what the entry must say
    "access.log_in": (Story.sign_in, "session.sign_in", "token"),
    "access.confirm": (
        lambda story: story.send("POST", "/session/confirm", {"token": story.token}, page=True),
        *("session.confirm", "token"),
    ),
    "access.log_out": (sends("DELETE", "/session", page=True), "session.sign_out", ""),
    "servers.add": (Story.add_server, "server.add", "ledger name=Ledger"),
    "servers.confirm": (Story.confirm_server, "server.confirm", "ledger argv"),
    "servers.start": (sends("POST", "/servers/ledger/start"), "server.start", "ledger"),
    "servers.change": (
        sends("PATCH", "/servers/ledger", {"trusted": True, "timeout_s": 20}),
        *("server.change", "ledger trusted=True, timeout_s"),
    ),
    "servers.call_tool": (
        sends("POST", "/servers/ledger/tools/call", {"name": "echo", "arguments": {"text": CANARY}}),
        *("tool.call", "ledger name=echo, arguments"),
    ),
    "servers.accept_tool": (Story.accept_tool, "tool.accept", "ledger "),
    "servers.correct_kind": (Story.correct_kind, "tool.kind", "ledger record, kind=changes"),
    "servers.import_": (
        sends("POST", "/servers/import", {"mcpServers": {"far": {"command": "x", "env": {"A_KEY": CANARY}}}}),
        *("server.import", "far"),
    ),
    "gallery.add": (
        sends("POST", "/gallery/tavily/add", {"values": {"key": CANARY}}),
        *("server.add", "tavily"),
    ),
    "tools.enable": (Story.enable_tool, "permission.set", "server_id=ledger, tool_name=echo, approval=auto"),
    "turns.decide": (Story.decide, "call.allow", "ledger.record, grant-"),
    "turns.answer": (Story.answer, "call.answer", "ledger.ask, action=accept"),
    "turns.retry_call": (Story.retry_call, "call.retry", "ledger.fail"),
    "providers.add": (Story.add_provider, "provider.add", "name=Far, base_url, api_key"),
    "providers.change": (
        sends("PATCH", "/providers/{provider}", {"api_key": CANARY + "-2"}),
        *("provider.change", "Far, api_key"),
    ),
    "providers.delete": (sends("DELETE", "/providers/{provider}"), "provider.delete", "Far"),
    "system.change_limits": (
        sends("PATCH", "/limits", {"limits": {"rounds": 9}}),
        *("limits.change", "limits=rounds"),
    ),
    "personas.add": (Story.add_persona, "persona.add", "name=Cook, system_prompt"),
    "personas.change": (
        sends("PATCH", "/personas/{persona}", {"system_prompt": CANARY + "!"}),
        *("persona.change", "system_prompt"),
    ),
    "personas.delete": (sends("DELETE", "/personas/{persona}"), "persona.delete", "persona-"),
    "policy.put": (sends("PUT", "/policy", {"rules": [RULE]}), "rules.replace", "1 rules; ask ledger.destroy"),
    "permissions.delete": (Story.revoke_permission, "permission.revoke", "ask ledger.destroy"),
    "permissions.restore": (Story.restore_permission, "permission.restore", "ask ledger.destroy"),
    "conversations.delete": (Story.delete_conversation, "conversation.delete", "conv-"),
    "messages.delete": (Story.delete_message, "message.delete", ""),
    "access.new_key": (sends("POST", "/session/keys"), "session.new_link", ""),
    "access.end_session": (Story.end_session, "session.end", f" {NAME}"),
    "access.new_token": (Story.new_token, "token.add", "name=phone, scopes=chat approve"),
    "access.revoke": (sends("DELETE", "/tokens/{token}"), "token.revoke", " phone"),
    "turns.resolve": (Story.resolve, "call.resolve", "ledger.echo, as=skip"),
    "servers.stop": (sends("POST", "/servers/ledger/stop"), "server.stop", "ledger"),
    "servers.login": (Story.log_in_to_server, "server.login", "guarded"),
    "servers.cancel_login": (sends("DELETE", "/servers/guarded/login"), "server.login_cancel", "guarded"),
    "servers.logout": (sends("POST", "/servers/guarded/logout"), "server.logout", "guarded"),
    "servers.delete": (sends("DELETE", "/servers/ledger"), "server.delete", "ledger"),
    "access.rotate": (Story.rotate, "token.rotate", ""),
}


def test_a2_every_changing_route_of_the_table_is_in_the_story() -> None:
    changing = {
        f"{route.group}.{route.name}"
        for route in ROUTES
        if route.method != "GET" and route.scope in ("approve", "admin")
    }
    assert set(STEPS) == changing - CHANGES_NOTHING | OF_OTHER_SCOPES
    assert {f"{route.group}.{route.name}" for route in ROUTES if route.audit} == set(STEPS)


async def test_a2_each_change_leaves_an_entry_with_a_name_and_without_secrets(
    site: Site, strict_llm: StrictLLM, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "windlass")
    story = Story(site, strict_llm, ledger, site.token("admin", name=NAME))
    for name, (step, wanted, summary) in STEPS.items():
        before = newest(site)
        await step(story)
        row = newest(site)
        assert row.number > before.number, f"{name} left no entry"
        assert (f"{row.kind}.{row.action}", row.by) == (wanted, NAME), name
        assert summary in f"{row.target} {row.summary}", (name, row)
    assert f"{NAME}: allow call" in caplog.text
    assert CANARY not in caplog.text + str(site.app.store.audit.page(1000))


def newest(site: Site) -> AuditRow:
    return next(iter(site.app.store.audit.page(1)), AuditRow(0, "", "", "", "", ""))


async def asked(site: Site, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await site.get(f"/audit{query}"))["entries"]
    return found


async def rows(site: Site, *times: float) -> None:
    for number, at in enumerate(times, 1):
        await site.app.store.audit.add(AuditRow(at, "phone", "server", "start", f"s{number}", ""))


async def test_a2_the_audit_is_read_by_an_admin_alone_newest_first_and_by_pages(site: Site) -> None:
    for scope in ("read", "chat", "approve", "ops"):
        assert (await site.call("GET", "/audit", token=site.token(scope))).code == "scope_required"
    await rows(site, *range(1_000_000, 1_000_007))
    pages: list[list[str]] = []
    page: dict[str, Any] = {"next_cursor": ""}
    while page["next_cursor"] is not None:
        page = await site.get(f"/audit?limit=3&cursor={page['next_cursor']}")
        pages.append([entry["target"] for entry in page["entries"]])
    assert pages == [["s7", "s6", "s5"], ["s4", "s3", "s2"], ["s1"]]
    [first, *_] = await asked(site)
    assert first == {
        **{"id": "7", "at": "1970-01-12T13:46:46.000Z", "by": "phone", "kind": "server", "action": "start"},
        **{"target": "s7", "summary": ""},
    }


async def test_a2_the_audit_is_asked_for_a_time_and_refuses_what_is_none(site: Site) -> None:
    await rows(site, *(86_400 * day for day in range(1, 6)))  # 2 to 6 January 1970
    assert [one["target"] for one in await asked(site, "?from=1970-01-03&to=1970-01-05T00:00:00Z")] == ["s3", "s2"]
    assert [one["target"] for one in await asked(site, "?from=1970-01-05T02:00:00%2B02:00")] == ["s5", "s4"]
    assert [one["target"] for one in await asked(site, "?to=1970-01-02T00:00:01")] == ["s1"]
    for query in ("from=yesterday", "to=1970-13-01", "from=" + "9" * 50, "cursor=x", "cursor=-1", "limit=0"):
        reply = await site.call("GET", f"/audit?{query}")
        assert reply.status == 422 and query.partition("=")[0] in reply.text, query


async def test_a2_a_decision_that_came_too_late_leaves_no_entry(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    story = Story(site, strict_llm, ledger, site.token("approve", name=NAME))
    await site.add_ledger(ledger)
    path = f"{await story.chat('record', effect_id='x')}/decision"
    await story.send("POST", path, {"decision": "deny"})
    await story.send("POST", path, {"decision": "allow"})
    [entry] = [one for one in await asked(site) if one["kind"] == "call"]
    assert (entry["by"], entry["action"], entry["summary"]) == (NAME, "deny", "ledger.record")


async def test_a2_what_is_refused_leaves_no_entry(site: Site) -> None:
    for path, status in (("/servers/nothing/start", 404), ("/session", 401), ("/servers", 422)):
        assert (await site.call("POST", path, {"token": "x" * 20} if path == "/session" else {})).status == status
    assert await asked(site) == []


async def test_a2_entries_go_after_a_year_and_when_they_are_too_many(site: Site) -> None:
    now = 2_000_000_000.0
    audit = site.app.store.audit
    await rows(site, now - KEEP_S - 1, now - KEEP_S + 1, now, now)
    await audit.drop_old(now)
    assert [row.target for row in audit.page(9)] == ["s4", "s3", "s2"]
    await audit.drop_old(now, most=2)
    assert [row.target for row in audit.page(9)] == ["s4", "s3"]
    await rows(site, now)
    assert audit.page(1)[0].number == 5  # a page's cursor never meets a number twice
