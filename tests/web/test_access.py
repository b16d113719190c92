"""Who may come in: a table of every route against every kind of stranger, made from the route table itself."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Commands
from tests.web.kit import TOKEN, Site, open_site
from windlass.api.route import Route
from windlass.api.routes import ROUTES
from windlass.core.errors import BadInput, Conflict, Unavailable
from windlass.web.auth import Access, Credentials
from windlass.web.errors import TooMany, Unauthorized
from windlass.web.session_store import NewSession

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


def path_of(route: Route[..., Any]) -> str:
    return re.sub(r"{\w+}", "x", route.path)


def headers_of(site: Site, stranger: str) -> tuple[str, dict[str, str], int]:
    """The token it sends, its headers, and the status it must get."""
    mine = site.browser()
    cookie, half = mine["Cookie"], {"X-Windlass-Session": mine["X-Windlass-Session"]}
    match stranger:
        case "no token":
            return "", {}, 401
        case "bad token":
            return "not-the-token", {}, 401
        case "cookie alone":
            return "", {"Cookie": cookie, **SAME_ORIGIN}, 401
        case "half alone":
            return "", {**half, **SAME_ORIGIN}, 401
        case "halves of two sessions":
            return "", {"Cookie": cookie, "X-Windlass-Session": site.browser()["X-Windlass-Session"]}, 401
        case "cookie of another port":
            return "", {"Cookie": cookie.replace(str(site.port), "1"), **half, **SAME_ORIGIN}, 401
        case "cross-site origin":
            return TOKEN, {"Origin": "https://evil.example"}, 403
        case "cross-site fetch":
            return TOKEN, {"Sec-Fetch-Site": "cross-site"}, 403
        case "rebinding host":
            return TOKEN, {"Host": f"evil.example:{site.port}"}, 403
    raise AssertionError(stranger)


STRANGERS = [
    "no token",
    "bad token",
    "cookie alone",
    "half alone",
    "halves of two sessions",
    "cookie of another port",
    "cross-site origin",
    "cross-site fetch",
    "rebinding host",
]
PUBLIC = {
    *{("GET", "/health"), ("GET", "/session"), ("POST", "/session")},
    *{("GET", "/l/{secret}"), ("GET", "/oauth/callback")},  # a secret in the address says whose they are
}


@pytest.mark.parametrize("stranger", STRANGERS)
async def test_every_route_refuses_strangers(site: Site, stranger: str) -> None:
    token, headers, wanted = headers_of(site, stranger)
    wrong = []
    for route in ROUTES:
        body: object = None if route.method == "GET" else {}
        reply = await site.call(route.method, path_of(route), body, headers=headers, token=token)
        open_to_all = wanted == 401 and (route.method, route.path) in PUBLIC
        if (reply.status == wanted) is open_to_all:
            wrong.append((route.method, route.path, reply.status))
    assert wrong == []


def test_only_health_the_session_and_what_a_secret_in_the_address_names_are_public() -> None:
    assert {(route.method, route.path) for route in ROUTES if route.public} == PUBLIC


async def test_every_route_that_answers_is_in_the_table(site: Site) -> None:
    """A route added elsewhere would escape the table above."""
    described = {
        (method.upper(), path)
        for path, methods in (await site.get("/openapi.json"))["paths"].items()
        for method in methods
    }
    assert described == {(route.method, route.path) for route in ROUTES}


async def test_a1_the_one_time_key_becomes_a_session_and_is_then_void(site: Site) -> None:
    key = (await site.post("/session/keys"))["url"].rpartition("=")[2]

    first = await site.call("POST", "/session", {"key": key}, token="", headers=SAME_ORIGIN)
    again = await site.call("POST", "/session", {"key": key}, token="", headers=SAME_ORIGIN)

    cookie = first.headers["Set-Cookie"]
    assert cookie.startswith(f"windlass_{site.port}=") and "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert TOKEN not in cookie and first.body["half"] not in cookie
    assert (first.body["name"], first.body["scopes"]) == ("token", ["admin"]) and first.body["expires_at"]
    assert again.status == 401 and "Set-Cookie" not in again.headers
    headers = {"Cookie": cookie.partition(";")[0], "X-Windlass-Session": first.body["half"]}
    assert (await site.call("GET", "/conversations", token="", headers=headers)).status == 200
    assert (await site.call("DELETE", "/session", token="", headers=headers)).status == 200
    assert (await site.call("GET", "/conversations", token="", headers=headers)).status == 401


async def test_a1_a_cookie_that_another_port_was_sent_opens_nothing(site: Site) -> None:
    """It can forge every header, but not read the half: that lies in the storage of our origin."""
    stolen = {"Cookie": site.browser()["Cookie"], "Origin": site.url, **SAME_ORIGIN}
    for extra in ({}, {"X-Windlass-Session": ""}, {"X-Windlass-Session": "x" * 43}):
        body = {"name": "x", "command": "touch", "args": ["/tmp/x"]}
        assert (await site.call("POST", "/servers", body, token="", headers={**stolen, **extra})).status == 401
        assert not (await site.call("GET", "/session", token="", headers={**stolen, **extra})).body["signed_in"]


async def test_a1_a_browser_that_says_nothing_of_the_site_is_served_with_both_halves(site: Site) -> None:
    """Over plain http under another name than this machine's it sends no Sec-Fetch headers; several cookies of other
    services come along."""
    mine = site.browser()
    many = {**mine, "Cookie": f"a=1; windlass_1=other; {mine['Cookie']}; b=2"}
    assert (await site.call("POST", "/conversations", {}, token="", headers=many)).status == 201


async def test_a1_signing_in_again_ends_the_former_session_of_that_browser(site: Site) -> None:
    first, other = site.browser(), site.browser()
    await site.call("POST", "/session", {"token": TOKEN}, token="", headers=first)
    assert (await site.call("GET", "/servers", token="", headers=first)).status == 401
    assert (await site.call("GET", "/servers", token="", headers=other)).status == 200


async def test_a5_who_is_signed_in_is_told_without_a_refusal(site: Site) -> None:
    nobody = await site.call("GET", "/session", token="")
    page = await site.call("GET", "/session", token="", headers=site.browser())
    program = await site.call("GET", "/session")
    wrong = await site.call("GET", "/session", token="not-the-token-at-all")

    for reply in (nobody, wrong):
        assert (reply.status, reply.body["signed_in"], reply.body["auth"]) == (200, False, True)
        assert reply.body["name"] is None and reply.body["scopes"] == []
    assert page.body["signed_in"] and page.body["confirmed_until"] > page.headers["Date"][:0]
    assert (page.body["name"], page.body["scopes"]) == ("token", ["admin"])
    assert program.body["signed_in"] and program.body["expires_at"] is None


async def test_a5_a_server_without_a_token_says_so(tmp_path: Path) -> None:
    async with open_site(tmp_path, auth=False) as site:
        reply = await site.call("GET", "/session", token="")
        assert (reply.body["signed_in"], reply.body["auth"]) == (True, False)


@pytest.mark.parametrize("body", [{}, {"token": TOKEN, "key": "x"}, {"token": ""}, {"half": "x"}])
async def test_a_login_names_either_a_token_or_a_key(site: Site, body: dict[str, str]) -> None:
    assert (await site.call("POST", "/session", body, token="")).status == 422


async def test_the_token_logs_in_and_failed_tries_are_slowed(site: Site) -> None:
    good = await site.call("POST", "/session", {"token": TOKEN}, token="")
    bad = [await site.call("POST", "/session", {"token": "guess"}, token="", headers=SAME_ORIGIN) for _ in range(11)]

    assert good.status == 200 and "Set-Cookie" in good.headers
    assert [reply.status for reply in bad] == [401] * 10 + [429]
    assert bad[-1].headers["Retry-After"] == "60"


@pytest.mark.parametrize("site_of_link", ["cross-site", "same-site", "none", ""], ids=lambda text: text or "no header")
async def test_a4_links_elsewhere_with_a_bad_key_do_not_lock_the_owner_out(site: Site, site_of_link: str) -> None:
    """Another server on this machine is "same-site"; a browser on plain http sends nothing to a name of the network."""
    link = {"Sec-Fetch-Site": site_of_link} if site_of_link else {}
    link |= {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    for path in ["/?key=bad", "//?key=bad", "/?key=%F0%9F%94%91"] * 10:
        opened = await site.call("GET", path, token="", headers=link)
        assert opened.status == 200 and "Set-Cookie" not in opened.headers
        failed = await site.call("POST", "/session", {"key": "bad"}, token="", headers=SAME_ORIGIN)
        assert (failed.status, failed.code) == (401, "unauthorized")  # which is what the page then sends
    assert (await site.call("POST", "/session", {"token": TOKEN}, token="", headers=SAME_ORIGIN)).status == 200


async def test_a4_a_program_that_guesses_does_not_lock_the_owner_out(site: Site) -> None:
    for _ in range(20):
        assert (await site.call("POST", "/session", {"token": "guess"}, token="")).status == 401
    assert (await site.call("POST", "/session", {"token": TOKEN}, token="", headers=SAME_ORIGIN)).status == 200


async def test_a4_failures_of_our_own_page_still_lock_and_a_login_link_still_opens(site: Site) -> None:
    plain_http = {"Origin": site.url}  # all that a browser sends under a name of the network
    for _ in range(5):
        for headers in (SAME_ORIGIN, plain_http):
            await site.call("POST", "/session", {"token": "guess"}, token="", headers=headers)
    assert (await site.call("POST", "/session", {"token": TOKEN}, token="", headers=SAME_ORIGIN)).status == 429
    key = site.access.new_key()
    assert (await site.call("POST", "/session", {"key": key}, token="", headers=SAME_ORIGIN)).status == 200


def test_a4_a_short_token_is_refused_wherever_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="WINDLASS_TOKEN"):
        Access(tmp_path / "new", token="1")
    (tmp_path / "token").write_text("fifteen-letters\n")
    with pytest.raises(Unavailable, match="too short") as refused:
        Access(tmp_path)
    assert str(tmp_path / "token") in refused.value.message and "Delete it" in refused.value.hint
    Access(tmp_path, open_to_all=True)
    (tmp_path / "token").write_text("sixteen-letters.\n")
    assert Access(tmp_path).token == "sixteen-letters."


async def test_without_auth_requests_pass_but_foreign_ones_do_not(tmp_path: Path) -> None:
    async with open_site(tmp_path, auth=False) as site:
        assert (await site.call("POST", "/conversations", {}, token="")).status == 201
        foreign = {"Origin": "https://evil.example"}
        assert (await site.call("POST", "/conversations", {}, token="", headers=foreign)).status == 403
        rebound = {"Host": f"evil.example:{site.port}"}
        assert (await site.call("GET", "/conversations", token="", headers=rebound)).status == 403
        form = {"Content-Type": "text/plain"}
        assert (await site.call("POST", "/conversations", {}, token="", headers=form)).status == 415


def test_the_token_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    first, second = Access(tmp_path), Access(tmp_path)

    assert first.token == second.token and len(first.token) >= 43
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


def test_sessions_survive_a_restart_and_end_with_the_token(tmp_path: Path) -> None:
    access = Access(tmp_path)
    session = access.log_in(key=access.new_key())
    mine = both_halves(session)

    Access(tmp_path).admit(mine)
    old = access.token
    access.rotate()

    kept = (tmp_path / "sessions").read_text()
    assert session.cookie not in kept and session.half not in kept
    for credentials in (mine, Credentials(bearer=old)):
        with pytest.raises(Unauthorized):
            access.admit(credentials)
        with pytest.raises(Unauthorized):
            Access(tmp_path).admit(credentials)
    access.admit(Credentials(bearer=access.token))


def test_a_key_whose_session_could_not_be_kept_is_not_spent(tmp_path: Path) -> None:
    access = Access(tmp_path)
    key = access.new_key()
    with unwritable(tmp_path, "sessions"), pytest.raises(OSError):
        access.log_in(key=key)
    access.admit(both_halves(access.log_in(key=key)))


def test_a_session_whose_end_could_not_be_kept_ends_the_next_time(tmp_path: Path) -> None:
    access = Access(tmp_path)
    session = access.log_in(key=access.new_key())
    with unwritable(tmp_path, "sessions"), pytest.raises(OSError):
        access.log_out(session.principal)
    access.log_out(session.principal)
    for app in (access, Access(tmp_path)):
        with pytest.raises(Unauthorized):
            app.admit(both_halves(session))


@pytest.mark.parametrize("file", ["token", "sessions"])
def test_a_token_that_could_not_be_changed_is_the_old_one(tmp_path: Path, file: str) -> None:
    access = Access(tmp_path)
    old, session = access.token, access.log_in(key=access.new_key())
    with unwritable(tmp_path, file), pytest.raises(OSError):
        access.rotate()
    for app in (access, Access(tmp_path)):
        app.admit(Credentials(bearer=old))
    assert access.token == old
    access.rotate()
    with pytest.raises(Unauthorized):
        Access(tmp_path).admit(both_halves(session))


@contextmanager
def unwritable(folder: Path, name: str) -> Iterator[None]:
    """Something is in the way of the file, as a full disk would be."""
    in_the_way = folder / f".{name}.{os.getpid()}"
    in_the_way.mkdir()
    yield
    in_the_way.rmdir()


def test_a_token_from_the_settings_is_not_rotated_here(tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="WINDLASS_TOKEN"):
        Access(tmp_path, token="a-token-of-my-own").rotate()


def test_no_credentials_are_no_failed_try(tmp_path: Path) -> None:
    access = Access(tmp_path)
    for _ in range(2000):
        with pytest.raises(Unauthorized):
            access.admit(Credentials(address="1.2.3.4"))
    access.admit(Credentials(bearer=access.token, address="1.2.3.4"))


def test_a_flood_of_wrong_tokens_is_stopped_for_its_address_only(tmp_path: Path) -> None:
    access = Access(tmp_path)
    for _ in range(1000):
        with pytest.raises(Unauthorized):
            access.admit(Credentials(bearer="guess", address="1.2.3.4"))
    with pytest.raises(TooMany):
        access.admit(Credentials(bearer="guess", address="1.2.3.4"))
    access.admit(Credentials(bearer=access.token, address="5.6.7.8"))


@pytest.mark.parametrize("content", [bytes(43), b"\xff\xfe\xfd", b"half a\ntoken"], ids=["zeros", "not text", "lines"])
def test_a_torn_token_is_named_with_the_next_step_and_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(Unavailable) as torn:
        Access(tmp_path)
    assert str(file) in torn.value.message and torn.value.code == "file_damaged"
    assert "Delete" in torn.value.hint and file.read_bytes() == content
    done = Commands(tmp_path)("token")
    assert done.code == 1 and str(file) in done.err and "defect" not in done.err
    file.unlink()
    assert len(Access(tmp_path).token) > 40


@pytest.mark.parametrize("content", [b'{"a": 1', b"", bytes(9), b"\xff\xfe", b"[]"])
def test_torn_sessions_end_and_the_token_still_works(tmp_path: Path, content: bytes) -> None:
    token = Access(tmp_path).token
    (tmp_path / "sessions").write_bytes(content)
    access = Access(tmp_path)
    assert access.token == token
    access.admit(Credentials(bearer=token))
    access.admit(both_halves(access.log_in(token=token)))


def test_a1_a_session_of_the_first_edition_is_void_and_stops_nothing(tmp_path: Path) -> None:
    token = Access(tmp_path).token
    old = hashlib.sha256(b"a-cookie").hexdigest()
    (tmp_path / "sessions").write_text(json.dumps({old: 4_000_000_000.5}))
    access = Access(tmp_path)
    for half in ("", "a-cookie"):
        with pytest.raises(Unauthorized):
            access.admit(Credentials(cookie="a-cookie", half=half))
    access.admit(both_halves(access.log_in(token=token)))


def test_a3_another_token_in_the_settings_ends_the_sessions_of_the_former_one(tmp_path: Path) -> None:
    session = Access(tmp_path, token="the-former-token-here").log_in(token="the-former-token-here")
    Access(tmp_path, token="the-former-token-here").admit(both_halves(session))
    with pytest.raises(Unauthorized):
        Access(tmp_path, token="another-token-is-here").admit(both_halves(session))


def both_halves(session: NewSession) -> Credentials:
    return Credentials(cookie=session.cookie, half=session.half)


async def test_a1_the_cookie_and_the_login_link_follow_what_the_browser_used(tmp_path: Path) -> None:
    behind: dict[str, Any] = {"public_url": "https://chat.example.org/windlass", "trusted_proxies": ["127.0.0.1"]}
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "chat.example.org", "X-Forwarded-For": "1.2.3.4"}
    async with open_site(tmp_path, **behind) as site:
        inside = await site.call("POST", "/session", {"token": TOKEN}, token="", headers={"Origin": site.url})
        outside = await site.call("POST", "/session", {"token": TOKEN}, token="", headers=forwarded)
        link = await site.call("POST", "/session/keys", headers=forwarded)
    assert "Secure" not in inside.headers["Set-Cookie"]
    assert "; Secure" in outside.headers["Set-Cookie"] and "Path=/windlass;" in outside.headers["Set-Cookie"]
    assert link.body["url"].startswith("https://chat.example.org/windlass/?key=")
