"""What each scope may do: every route of the table against every kind of token."""

import re
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.web.kit import Reply, Site
from windlass.api.route import Route
from windlass.api.routes import ROUTES
from windlass.testing import StrictLLM, say

SETTINGS = {"servers", "providers", "personas", "policy", "search", "access"}
SCOPES = ["ops", "read", "chat", "approve", "admin"]
ALLOWS = {  # written out here again: the code's own table must not be its only witness
    "ops": {"any", "ops"},
    "read": {"any", "read"},
    "chat": {"any", "read", "chat"},
    "approve": {"any", "read", "approve"},
    "admin": {"any", "ops", "read", "chat", "approve", "admin"},
}
APPROVE = {"turns.decide", "turns.resolve", "turns.answer", "turns.retry_call"}
READS_FOR_CHATS = {"servers.read_resource", "servers.fill_prompt", "servers.complete"}  # as a chat's model may
CHANGES_NOTHING = {"permissions.test", "permissions.replay", "permissions.coverage"}  # a question with a body


def name_of(route: Route[..., Any]) -> str:
    return f"{route.group}.{route.name}"


async def sent(site: Site, route: Route[..., Any], token: str) -> Reply:
    path = re.sub(r"{\w+}", "x", route.path)
    if path == "/events":
        path += "?conversation_id=x"  # without one the stream never ends
    return await site.call(route.method, path, None if route.method == "GET" else {}, token=token)


def refused(reply: Reply) -> bool:
    return reply.status == 403 and "scope_required" in reply.text


@pytest.mark.parametrize("scope", SCOPES)
async def test_a2_every_route_admits_exactly_the_scopes_of_the_table(site: Site, scope: str) -> None:
    token = site.token(scope)
    wrong = []
    for route in ROUTES:
        if route.public or name_of(route) == "access.rotate":  # settings hold the token of the tests
            continue
        if refused(await sent(site, route, token)) is (route.scope in ALLOWS[scope]):
            wrong.append((scope, route))
    assert wrong == []


def test_a2_what_the_table_says_of_each_route() -> None:
    """The rules behind the column, so that a new row does not slip in looser than its kin."""
    for route in ROUTES:
        name = name_of(route)
        if route.scope == "ops":
            assert route.path in {"/metrics", "/ready"}
        elif route.scope == "any":
            assert route.group == "access"
        elif name in READS_FOR_CHATS:
            assert route.scope == "chat", name
        elif (
            route.group in {"servers", "providers", "personas", "policy", "search", "access"} and route.method != "GET"
        ):
            assert route.scope == "admin", name
        elif route.scope == "read":
            assert route.method == "GET" or name in CHANGES_NOTHING, name
        elif route.scope == "approve":
            assert name in APPROVE or route.group == "permissions", name
    assert {name_of(route) for route in ROUTES if route.scope == "ops"} == {"system.metrics", "system.ready"}
    assert {"/tokens", "/sessions"} <= {
        route.path for route in ROUTES if route.scope == "admin" and route.method == "GET"
    }
    assert APPROVE == {name_of(route) for route in ROUTES if route.scope == "approve" and route.group == "turns"}


async def test_a2_a_refusal_names_the_scope_and_how_to_get_it(site: Site) -> None:
    reply = await site.call("PUT", "/policy", {"rules": []}, token=site.token("chat", "approve", name="phone"))
    assert (reply.status, reply.code, reply.body["error"]["detail"]) == (403, "scope_required", {"scope": "admin"})
    assert "`admin`" in reply.body["error"]["message"] and "phone" in reply.body["error"]["message"]
    assert "windlass token new NAME --scope admin" in reply.body["error"]["hint"]
    completion = await site.call("POST", "/v1/chat/completions", {}, token=site.token("read"))
    assert (completion.status, completion.code) == (403, "scope_required")  # in OpenAI's form


async def test_a2_a_chat_token_chats_but_does_not_say_what_runs_unasked(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    chat, both = site.token("chat"), site.token("chat", "approve")
    strict_llm.then(say("Good morning."))
    made = await site.call("POST", "/conversations", {}, token=chat)
    tools = f"/conversations/{made.body['conversation']['id']}/tools"
    tool: dict[str, object] = {"server_id": "ledger", "tool_name": "destroy"}

    assert (await site.call("POST", tools, tool, token=chat)).status == 200
    for approval in ("auto", "ask", "deny"):
        assert refused(await site.call("POST", tools, {**tool, "approval": approval}, token=chat))
    assert (await site.call("POST", tools, {**tool, "approval": "ask"}, token=both)).status == 200
    by_hand = {"name": "echo", "arguments": {"text": "x"}}
    assert refused(await site.call("POST", "/servers/ledger/tools/call", by_hand, token=both))
    answered = await site.call("POST", tools.replace("/tools", "/chat"), {"content": "Hello"}, token=chat)
    assert answered.body["outcome"] == "answered"


async def test_a2_a_session_has_the_name_and_the_scopes_of_its_token(site: Site) -> None:
    page = site.browser(token=site.token("chat", name="kitchen"))
    state = (await site.call("GET", "/session", token="", headers=page)).body
    assert (state["name"], state["scopes"]) == ("kitchen", ["chat"])
    assert (await site.call("POST", "/conversations", {}, token="", headers=page)).status == 201
    assert refused(await site.call("GET", "/tokens", token="", headers=page))
