"""Who may use `/mcp`, and under which names."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from mcp import Client

from tests.gateway.kit import mcp_client, text_of
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S, until_found
from tests.web.kit import TOKEN, Reply, Site, open_site

ACCEPT = {"Accept": "application/json, text/event-stream"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}


async def hello(site: Site, path: str = "/mcp", token: str = TOKEN, **headers: str) -> Reply:
    return await site.call("POST", path, HELLO, token=token, headers={**ACCEPT, **headers})


async def test_without_a_token_nothing_is_told(site: Site) -> None:
    for token in ("", "wrong-token-wrong-token"):
        reply = await hello(site, token=token)
        assert (reply.status, reply.headers.get("WWW-Authenticate")) == (401, "Bearer"), reply


@pytest.mark.parametrize("scope", ["read", "ops", "approve"])
async def test_a_token_without_the_scope_chat_neither_lists_nor_calls(site: Site, scope: str) -> None:
    token = site.token(scope)
    for method in ("POST", "GET", "DELETE"):
        reply = await site.call(method, "/mcp", HELLO if method == "POST" else None, token=token, headers=ACCEPT)
        assert (reply.status, reply.code) == (403, "scope_required")


async def test_pages_of_elsewhere_are_refused(site: Site) -> None:
    assert (await hello(site, Host="rebound.example")).status in (400, 403, 421)
    assert (await hello(site, Origin="https://evil.example")).status == 403
    assert (await hello(site, Origin="null")).status == 403
    assert (await hello(site, Origin=site.url)).status == 200


async def test_a_session_belongs_to_the_token_that_began_it(site: Site) -> None:
    session = (await hello(site)).headers["mcp-session-id"]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    other = await site.call(
        "POST", "/mcp", listing, token=site.token("chat"), headers={**ACCEPT, "Mcp-Session-Id": session}
    )
    assert other.status == 404


async def test_a_revoked_token_ends_what_it_listens_to(site: Site) -> None:
    token, secret = site.access.tokens.make("desktop", ["chat"], None)
    session = (await hello(site, token=secret)).headers["mcp-session-id"]
    headers = {"Authorization": f"Bearer {secret}", "Accept": "text/event-stream", "Mcp-Session-Id": session}
    async with site.session.get(f"{site.url}/mcp", headers=headers) as stream, asyncio.timeout(PATIENCE_S):
        assert stream.status == 200
        assert (await site.call("DELETE", f"/tokens/{token.id}")).status == 200
        try:
            await stream.content.read()
        except aiohttp.ClientPayloadError:
            pass
    assert (await hello(site, token=secret)).status == 401


async def lists(site: Site, session: str, token: str = TOKEN) -> int:
    """The status of a request in this session."""
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    reply = await site.call("POST", "/mcp", listing, token=token, headers={**ACCEPT, "Mcp-Session-Id": session})
    return reply.status


async def began(site: Site, token: str = TOKEN) -> str:
    return (await hello(site, token=token)).headers["mcp-session-id"]


async def test_a_token_with_too_many_sessions_loses_its_own_oldest_and_no_other(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.gateway.sessions.MOST_OF_TOKEN", 3)
    other, greedy = await began(site), site.token("chat")
    first, second, third = [await began(site, greedy) for _ in range(3)]
    assert await lists(site, first, greedy) == 200, "used last"
    fourth = await began(site, greedy)
    assert [await lists(site, one, greedy) for one in (first, second, third, fourth)] == [200, 404, 200, 200]
    assert await lists(site, other) == 200


async def test_many_handshakes_at_once_leave_no_more_sessions_than_one_by_one(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.gateway.sessions.MOST_OF_TOKEN", 3)
    replies = await asyncio.gather(*(hello(site) for _ in range(12)))
    begun = [reply.headers["mcp-session-id"] for reply in replies if reply.status == 200]
    assert sum([await lists(site, one) == 200 for one in begun]) <= 3
    assert {reply.status for reply in replies} <= {200, 503}
    assert (await hello(site)).status == 200


async def test_a_session_that_its_program_ended_leaves_its_room(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.gateway.sessions.MOST_OF_TOKEN", 2)
    kept = await began(site)
    for _ in range(3):
        over = {"Mcp-Session-Id": await began(site)}
        assert (await site.call("DELETE", "/mcp", headers=over)).status == 200
    assert await lists(site, kept) == 200


async def test_a_session_that_listens_is_not_idle(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.gateway.sessions.MOST_OF_TOKEN", 2)
    listens, idle = await began(site), await began(site)
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/event-stream"}
    async with site.session.get(f"{site.url}/mcp", headers={**headers, "Mcp-Session-Id": listens}) as stream:
        assert stream.status == 200
        new = await began(site)
        assert [await lists(site, one) for one in (listens, idle, new)] == [200, 404, 200]
        async with site.session.get(f"{site.url}/mcp", headers={**headers, "Mcp-Session-Id": new}):
            refused = await hello(site)
            assert (refused.status, refused.code) == (503, "too_many_sessions")
            assert (await hello(site, token=site.token("chat"))).status == 200


async def test_the_sessions_of_a_revoked_token_end(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.gateway.protocol.MOST_SESSIONS", 2)
    token, secret = site.access.tokens.make("desktop", ["chat"], None)
    for _ in range(2):
        await began(site, secret)
    assert (await hello(site)).status == 503
    assert (await site.call("DELETE", f"/tokens/{token.id}")).status == 200

    async def admitted() -> bool:
        return (await hello(site)).status == 200

    await until_found(admitted, "room for a session")


async def test_the_path_of_a_public_address_may_be_left_on(tmp_path: Path, ledger: Ledger) -> None:
    async with open_site(tmp_path / "home", public_url="https://chat.example.org/windlass") as site:
        await site.add_ledger(ledger, tools="*", approval="auto")
        for path in ("/windlass/mcp", "/windlass/mcp/ledger", "/mcp", "/mcp/"):
            async with mcp_client(site, path=path) as client:
                assert text_of(await client.call_tool("echo", {"text": path})) == path
        named = await hello(site, Host="chat.example.org", Origin="https://chat.example.org")
        assert named.status == 200


async def test_what_is_too_large_or_no_message_is_refused(site: Site) -> None:
    async def post(raw: bytes) -> Any:
        return await site.call("POST", "/mcp", raw=raw, headers=ACCEPT)

    assert (await post(b'{"x": "' + b"a" * (5 << 20) + b'"}')).status == 413
    assert (await post(b"not json")).status == 400
    assert (await post(json.dumps([HELLO]).encode())).status == 400
    assert (await site.call("PUT", "/mcp", HELLO)).status == 405


async def test_garbage_is_refused_and_breaks_nothing(site: Site) -> None:
    bodies = [b"", b"[]", b"null", b"\xff\xfe", b"[" * 5000, b'{"id":' + b"9" * 5000 + b"}"]
    heads = [{"Mcp-Protocol-Version": version} for version in ("2025-11-25", "2026-07-28", "never", "\u00e9")]
    heads += [{}, {"Mcp-Session-Id": "made-up"}, {"Mcp-Session-Id": "\u00e9"}]
    for body in bodies:
        for head in heads:
            reply = await site.call("POST", "/mcp", raw=body, headers={**ACCEPT, **head})
            assert 400 <= reply.status < 500, (body[:20], head, reply)
    assert (await hello(site)).status == 200


async def test_without_tokens_a_program_on_this_machine_needs_none(tmp_path: Path, ledger: Ledger) -> None:
    async with open_site(tmp_path / "home", auth=False) as site:
        await site.add_ledger(ledger, tools="*", approval="auto")
        async with mcp_client(site, token="") as client:
            assert isinstance(client, Client)
            assert text_of(await client.call_tool("echo", {"text": "hi"})) == "hi"
