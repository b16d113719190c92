"""Named tokens and the list of sessions: made, shown, used, revoked."""

import stat
import time
from pathlib import Path
from typing import Any

import pytest

from tests.web.kit import TOKEN, Site, open_site
from windlass.core.errors import Unavailable
from windlass.web.auth import Access, Credentials
from windlass.web.browsers import browser_name
from windlass.web.errors import Unauthorized


async def test_a2_the_secret_of_a_token_is_shown_once_and_not_kept(site: Site) -> None:
    made = await site.post("/tokens", {"name": "phone", "scopes": ["chat", "approve", "chat"]})
    secret = made["secret"]
    listed = await site.call("GET", "/tokens")

    assert secret.startswith("wl_") and secret not in listed.text
    home = site.app.config.home
    assert not [file for file in home.rglob("*") if file.is_file() and secret.encode() in file.read_bytes()]
    assert stat.S_IMODE((home / "tokens").stat().st_mode) == 0o600
    first, phone = listed.body["tokens"]
    assert (first["name"], first["scopes"], first["from_config"]) == ("token", ["admin"], True)
    assert (phone["name"], phone["scopes"], phone["last_used_at"]) == ("phone", ["approve", "chat"], None)
    assert (await site.call("GET", "/conversations", token=secret)).status == 200
    assert (await site.get("/tokens"))["tokens"][1]["last_used_at"].endswith(":00.000Z")  # to the minute


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "phone", "scopes": ["chat"]}, 409),
        ({"name": "PHONE", "scopes": ["chat"]}, 409),
        ({"name": "token", "scopes": ["chat"]}, 409),
        ({"name": "person", "scopes": ["chat"]}, 409),
        ({"name": "two\nlines", "scopes": ["chat"]}, 422),
        ({"name": " ", "scopes": ["chat"]}, 422),
        ({"name": "x" * 61, "scopes": ["chat"]}, 422),
        ({"name": "none", "scopes": []}, 422),
        ({"name": "odd", "scopes": ["root"]}, 422),
        ({"name": "past", "scopes": ["read"], "expires_at": "2020-01-01T00:00:00Z"}, 422),
        ({"name": "never", "scopes": ["read"], "expires_at": "tomorrow"}, 422),
    ],
)
async def test_a_token_that_would_confuse_is_not_made(site: Site, body: dict[str, Any], status: int) -> None:
    site.token("read", name="phone")
    assert (await site.call("POST", "/tokens", body)).status == status
    assert (await site.get("/tokens"))["count"] == 2


async def test_a2_a_revoked_token_ends_with_its_sessions_and_login_links_and_no_others(site: Site) -> None:
    phone, laptop = site.token("admin", name="phone"), site.token("admin", name="laptop")
    pages = {name: site.browser(token=token) for name, token in (("phone", phone), ("laptop", laptop), ("main", TOKEN))}
    link = (await site.call("POST", "/session/keys", token=phone)).body["url"].rpartition("=")[2]
    (phone_id,) = [one["id"] for one in (await site.get("/tokens"))["tokens"] if one["name"] == "phone"]

    assert (await site.call("DELETE", f"/tokens/{phone_id}")).status == 200

    statuses = [(await site.call("GET", "/servers", token="", headers=page)).status for page in pages.values()]
    assert statuses == [401, 200, 200]
    assert (await site.call("GET", "/servers", token=phone)).status == 401
    assert (await site.call("POST", "/session", {"key": link}, token="")).status == 401
    assert (await site.call("DELETE", f"/tokens/{phone_id}")).status == 404
    assert (await site.call("DELETE", "/tokens/token")).status == 409


async def test_a2_sessions_are_listed_with_their_browser_and_ended_one_by_one(site: Site) -> None:
    agent = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
    body = {"token": site.token("admin", name="laptop")}
    signed_in = await site.call("POST", "/session", body, token="", headers=agent)
    here = {
        "Cookie": signed_in.headers["Set-Cookie"].partition(";")[0],
        "X-Windlass-Session": signed_in.body["half"],
    }
    other = site.browser()
    listed = (await site.call("GET", "/sessions", token="", headers=here)).body["sessions"]

    assert [(one["name"], one["current"]) for one in listed] == [("laptop", True), ("token", False)]
    assert listed[0]["browser"] == "Firefox on Linux"
    assert (await site.call("DELETE", f"/sessions/{listed[1]['id']}", token="", headers=here)).status == 200
    assert (await site.call("GET", "/servers", token="", headers=other)).status == 401
    assert (await site.call("GET", "/servers", token="", headers=here)).status == 200
    assert (await site.call("DELETE", f"/sessions/{listed[1]['id']}")).status == 404


def test_a2_tokens_survive_a_restart_and_end_when_their_time_is_over(tmp_path: Path) -> None:
    access = Access(tmp_path)
    lasting = access.tokens.make("lasting", ["read"], None)[1]
    short = access.tokens.make("short", ["read"], time.time() + 3600)[1]
    again = Access(tmp_path)
    assert again.admit(Credentials(bearer=lasting)).name == "lasting"
    session = again.log_in(token=short)
    assert session.principal.expires_at <= time.time() + 3600
    over = again.admit(Credentials(bearer=short))
    over.expires_at = time.time()
    with pytest.raises(Unauthorized):
        again.admit(Credentials(bearer=short))


def test_the_last_use_is_written_later_and_not_with_the_request(tmp_path: Path) -> None:
    access = Access(tmp_path)
    secret = access.tokens.make("phone", ["read"], None)[1]
    before = (tmp_path / "tokens").read_bytes()
    access.admit(Credentials(bearer=secret)).last_used_at = 1_000_000_000.0
    assert (tmp_path / "tokens").read_bytes() == before
    access.tokens.save_used()
    ((_, kept),) = Access(tmp_path).tokens.listed()
    assert kept.last_used_at == 1_000_000_000.0


@pytest.mark.parametrize("content", [b"", b"[{", b"{}", b'[{"id": 1}]', b"\xff"])
def test_a_torn_list_of_tokens_is_named_with_the_next_step_and_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(content)
    with pytest.raises(Unavailable) as torn:
        Access(tmp_path)
    assert str(file) in torn.value.message and torn.value.code == "file_damaged" and f"mv {file}" in torn.value.hint
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 14_0) Version/17.0 Safari/605.1.15", "Safari on macOS"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) CriOS/130.0 Mobile Safari/604.1", "Chrome on iPhone"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("odd\x1b[31m" + "x" * 200, "odd [31m" + "x" * 52),
        ("", "Unknown browser"),
    ],
)
def test_a_browser_has_a_name_its_owner_knows(agent: str, name: str) -> None:
    assert browser_name(agent) == name


async def test_without_auth_there_are_no_sessions_to_list(tmp_path: Path) -> None:
    async with open_site(tmp_path, auth=False) as site:
        assert (await site.call("GET", "/sessions", token="")).body["count"] == 0


def test_a_session_does_not_outlive_its_token_over_a_restart(tmp_path: Path) -> None:
    access = Access(tmp_path)
    session = access.log_in(token=access.tokens.make("phone", ["read"], None)[1])
    mine = Credentials(cookie=session.cookie, half=session.half)
    assert Access(tmp_path).admit(mine).name == "phone"
    (tmp_path / "tokens").unlink()
    with pytest.raises(Unauthorized):
        Access(tmp_path).admit(mine)
