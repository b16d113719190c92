"""What a browser confirms again: the dangerous verbs of the table, and what it takes to confirm."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.web.kit import TOKEN, Reply, Site, open_site
from windlass.api.routes import ROUTES
from windlass.toolbox.permissions import Grant
from windlass.web.attempts import ConfirmCode
from windlass.web.errors import TooMany
from windlass.web.sudo import Sudo

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
ASK = {"approval": "ask", "server": "files", "tool": "write"}
AUTO = {"approval": "auto", "server": "files", "tool": "read"}


def unconfirmed(site: Site) -> dict[str, str]:
    """A page whose ten minutes are over."""
    page = site.browser()
    for _, who in site.access.sessions.listed():
        who.confirmed_until = time.time()
    return page


def asks(reply: Reply) -> bool:
    return reply.status == 403 and reply.code == "confirm_required"


async def put_policy(site: Site, page: dict[str, str] | None, *rules: dict[str, Any]) -> Reply:
    if page is None:
        return await site.call("PUT", "/policy", {"rules": list(rules)})
    return await site.call("PUT", "/policy", {"rules": list(rules)}, token="", headers=page)


async def test_a2_a_page_confirms_again_and_a_token_and_a_fresh_login_do_not(site: Site) -> None:
    body = {"name": "x", "command": "true", "args": []}
    argv = (await site.post("/servers", body))["server"]["argv"]
    dangerous = [("POST", "/servers/x/confirm", {"argv": argv}), ("POST", "/tokens", {"name": "n", "scopes": ["read"]})]
    fresh, late = site.browser(), unconfirmed(site)
    for method, path, sent in [*dangerous, ("POST", "/session/keys", {}), ("POST", "/token/rotate", {})]:
        refused = await site.call(method, path, sent, token="", headers=late)
        assert asks(refused), (path, refused.text)
        assert "windlass token --url" in refused.body["error"]["hint"]
    assert (await site.call("POST", "/servers/x/confirm", {"argv": argv})).status == 200  # its own confirmation
    for one in site.access.sessions.listed():
        one[1].confirmed_until = time.time() + 600
    assert (await site.call("POST", "/session/keys", {}, token="", headers=fresh)).status == 201


async def test_a2_without_a_token_there_is_nothing_to_confirm(tmp_path: Path) -> None:
    async with open_site(tmp_path, auth=False) as site:
        assert (await put_policy(site, {}, AUTO)).status == 200


@pytest.mark.parametrize("with_what", ["token", "key", "code"])
async def test_a2_a_confirmation_holds_for_ten_minutes_of_that_session_alone(site: Site, with_what: str) -> None:
    other, page = site.browser(), unconfirmed(site)
    given = {"token": TOKEN, "key": site.access.new_key(), "code": site.access.code.code}[with_what]
    confirmed = await site.call("POST", "/session/confirm", {with_what: given}, token="", headers=page)
    assert confirmed.status == 200 and confirmed.body["confirmed_until"]
    state = (await site.call("GET", "/session", token="", headers=page)).body
    assert state["confirmed_until"] == confirmed.body["confirmed_until"]
    assert (await put_policy(site, page, AUTO)).status == 200
    assert asks(await put_policy(site, other, AUTO, {**AUTO, "tool": "other"}))
    if with_what == "key":  # spent
        assert (await site.call("POST", "/session", {"key": given}, token="")).status == 401


@pytest.mark.parametrize(
    "body", [{"token": "wrong-token-here"}, {"key": "wrong"}, {"code": "12345"}, {"code": "x" * 20}]
)
async def test_a2_what_does_not_fit_confirms_nothing_and_ends_nothing(site: Site, body: dict[str, str]) -> None:
    page = unconfirmed(site)
    assert (await site.call("POST", "/session/confirm", body, token="", headers=page)).status == 401
    assert asks(await put_policy(site, page, AUTO))
    assert (await site.call("GET", "/servers", token="", headers=page)).status == 200


async def test_a2_another_persons_token_does_not_confirm(site: Site) -> None:
    kitchen, hall = site.token("chat", name="kitchen"), site.token("chat", name="hall")
    page = site.browser(token=kitchen)
    for token, status in ((hall, 401), (kitchen, 200), (TOKEN, 200)):
        assert (await site.call("POST", "/session/confirm", {"token": token}, token="", headers=page)).status == status


async def test_a2_wrong_tokens_of_a_page_are_slowed_here_too(site: Site) -> None:
    page = {**unconfirmed(site), **SAME_ORIGIN}
    statuses = [
        (await site.call("POST", "/session/confirm", {"token": "guess"}, token="", headers=page)).status
        for _ in range(11)
    ]
    assert statuses == [401] * 10 + [429]


def test_a2_five_wrong_codes_make_a_new_one_and_none_counts_for_a_while() -> None:
    code, shown = ConfirmCode(), list[str]()
    code.show = shown.append
    first = code.code
    assert code.fits(f"{first[:4]} {first[4:]}")  # as it is printed
    wrong = "0" * 8 if first != "0" * 8 else "1" * 8
    assert not any(code.fits(wrong) for _ in range(5))
    with pytest.raises(TooMany):
        code.fits(first)
    with pytest.raises(TooMany):
        code.fits(code.code)
    assert shown == [code.code] and code.code != first


async def test_a2_only_what_widens_the_policy_is_confirmed(site: Site) -> None:
    deny, other = {**ASK, "approval": "deny"}, {**ASK, "tool": "move"}
    await put_policy(site, None, ASK, AUTO)
    page = unconfirmed(site)
    for rules in ([ASK, AUTO, other], [ASK, deny, AUTO, other], [ASK, deny, other], [ASK, deny, other]):
        assert (await put_policy(site, page, *rules)).status == 200, rules
    asking_first = {**ASK, "server": "*"}
    for rules in (
        [deny, other],
        [asking_first, ASK, deny, other],
        [],
        [other, ASK, deny],
        [ASK, deny, other, AUTO],
        [{**ASK, "approval": "auto"}, deny],
    ):
        assert asks(await put_policy(site, page, *rules)), rules


async def test_a2_the_address_of_what_holds_a_secret_is_confirmed_and_others_are_not(site: Site) -> None:
    secret = {"headers": {"Authorization": "Bearer x"}}
    for name, more in (("keyed", secret), ("open", {})):
        await site.post("/servers", {"name": name, "url": "https://a.example/mcp", **more})
    provider = (await site.post("/providers", {"name": "p", "base_url": "http://a.example/v1", "api_key": "k"}))[
        "provider"
    ]
    page = unconfirmed(site)

    async def change(path: str, **body: object) -> Reply:
        return await site.call("PATCH", path, body, token="", headers=page)

    assert asks(await change("/servers/keyed", url="https://b.example/mcp"))
    assert asks(await change(f"/providers/{provider['id']}", base_url="http://b.example/v1"))
    assert (await change("/servers/keyed", url="https://a.example/mcp", name="Keyed")).status == 200
    assert (await change("/servers/open", url="https://b.example/mcp")).status == 200
    assert (await change(f"/providers/{provider['id']}", model="m")).status == 200


async def test_f6_to_trust_a_server_or_its_calls_is_confirmed(site: Site) -> None:
    await site.post("/servers", {"name": "far", "url": "https://a.example/mcp"})
    page = unconfirmed(site)
    for body in ({"trusted": True}, {"approval": "auto"}):
        assert asks(await site.call("PATCH", "/servers/far", body, token="", headers=page))
        new = {"name": "new", "url": "https://b.example/mcp", **body}
        assert asks(await site.call("POST", "/servers", new, token="", headers=page))
    for tightened in ({"trusted": False}, {"approval": "ask"}, {"approval": "deny"}):
        assert (await site.call("PATCH", "/servers/far", tightened, token="", headers=page)).status == 200
    for loosened in ({"approval": "ask"}, {"approval": None}, {"slug": "further"}):
        assert asks(await site.call("PATCH", "/servers/far", loosened, token="", headers=page))


async def test_a2_to_take_a_tool_for_one_that_reads_is_confirmed(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    page, path = unconfirmed(site), "/servers/ledger/tools/record/kind"
    for kind in ("reads", None):
        assert asks(await site.call("PUT", path, {"kind": kind}, token="", headers=page))
    for kind in ("sends", "changes"):
        assert (await site.call("PUT", path, {"kind": kind}, token="", headers=page)).status == 200


async def test_a2_a_rule_that_asks_is_revoked_by_an_admin_who_confirms_and_others_by_who_approves(
    site: Site,
) -> None:
    await put_policy(site, None, ASK, AUTO)
    asking, allowing = [one["id"] for one in (await site.get("/permissions"))["permissions"] if one["kind"] == "rule"]
    approver, page = site.token("approve"), unconfirmed(site)
    assert (await site.call("DELETE", f"/permissions/{asking}", token=approver)).code == "scope_required"
    assert asks(await site.call("DELETE", f"/permissions/{asking}", token="", headers=page))
    assert (await site.call("DELETE", f"/permissions/{allowing}", token=approver)).status == 200
    assert (await site.call("DELETE", f"/permissions/{asking}")).status == 200


async def test_what_depends_on_the_body_is_looked_at_for_each_row_that_says_so(site: Site) -> None:
    looked_at = set(Sudo(site.app.services).depends)
    assert looked_at == {route for route in ROUTES if route.sudo == "depends"}


async def rules_of(site: Site) -> list[tuple[str, str]]:
    return [(rule["approval"], rule["tool"]) for rule in (await site.get("/policy"))["rules"]]


async def test_a_rule_that_asks_comes_back_behind_those_that_deny_and_only_when_it_is_confirmed(site: Site) -> None:
    allowing, denying = {**AUTO, "tool": "list"}, {**ASK, "approval": "deny"}
    asking = (await put_policy(site, None, ASK, AUTO)).body["rules"][0]["id"]
    await site.call("DELETE", f"/permissions/{asking}")
    await put_policy(site, None, AUTO, denying, allowing)
    restore = f"/permissions/{asking}/restore"
    assert asks(await site.call("POST", restore, token="", headers=unconfirmed(site)))
    assert (await site.call("POST", restore)).status == 200
    assert await rules_of(site) == [("auto", "read"), ("deny", "write"), ("ask", "write"), ("auto", "list")]


async def test_a_rule_that_denies_comes_back_first_without_a_confirmation(site: Site) -> None:
    denying = (await put_policy(site, None, {**ASK, "approval": "deny"})).body["rules"][0]["id"]
    await site.call("DELETE", f"/permissions/{denying}")
    await put_policy(site, None, ASK)
    restored = await site.call("POST", f"/permissions/{denying}/restore", token="", headers=unconfirmed(site))
    assert restored.status == 200
    assert await rules_of(site) == [("deny", "write"), ("ask", "write")]


async def test_a_server_whose_revoked_grants_can_be_restored_is_moved_only_when_it_is_confirmed(site: Site) -> None:
    server = (await site.post("/servers", {"name": "far", "url": "https://a.example/mcp"}))["server"]["id"]
    granted = Grant("", server=server, covers="tool", tool="write", scope="always")
    grant = (await site.app.toolbox.permissions.grant("", granted)).id
    page = unconfirmed(site)
    assert (await site.call("DELETE", f"/permissions/{grant}", token="", headers=page)).status == 200
    move = {"url": "https://b.example/mcp"}
    assert asks(await site.call("PATCH", "/servers/far", move, token="", headers=page))


async def test_limits_under_which_chats_go_sooner_or_more_is_spent_are_confirmed_and_others_are_not(
    site: Site,
) -> None:
    page = unconfirmed(site)

    async def change(**limits: float | None) -> Reply:
        return await site.call("PATCH", "/limits", {"limits": limits}, token="", headers=page)

    assert asks(await change(keep_days=90))
    assert (await change(rounds=20, day_tokens=1000, turn_tokens=500)).status == 200
    assert (await site.call("PATCH", "/limits", {"limits": {"keep_days": 90}})).status == 200
    for loosened in ({"keep_days": 30}, {"day_tokens": 2000}, {"day_tokens": None}, {"turn_tokens": None, "rounds": 9}):
        assert asks(await change(**loosened)), loosened
    for tightened in ({"keep_days": 120}, {"keep_days": None}, {"day_tokens": 900}, {"turn_tokens": 500}):
        assert (await change(**tightened)).status == 200, tightened
