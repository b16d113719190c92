"""What the guard lets in, by Host, Origin, Sec-Fetch and content type, and what it adds to every response."""

import re
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.kit.windlass_process import WindlassProcess, windlass
from tests.web.kit import Site
from windlass.api.routes import ROUTES
from windlass.web.guard import RequestGuard, page_policy
from windlass.web.origin import reach_of

PORT = 8420
OURS = f"127.0.0.1:{PORT}"

HOSTS = {
    f"127.0.0.1:{PORT}": True,
    f"localhost:{PORT}": True,
    f"LOCALHOST:{PORT}": True,
    f"LocalHost:{PORT}": True,
    f"[::1]:{PORT}": True,
    f"10.0.0.5:{PORT}": True,  # the address the connection came in on
    "box.example:8420": True,  # allowed by name, with its port
    f"lan.example:{PORT}": True,  # allowed by name, without one
    "lan.example": True,
    "lan.example:1": True,  # whatever port a port map or a tunnel has
    "lan.example:": False,
    "lan.example:x": False,
    "lan.example:1:1": False,
    "[fe80::5]:9000": True,
    "[fe80::5]": True,
    "fe80::5": False,
    "box.example": False,
    "": False,
    "null": False,
    "localhost": False,
    "127.0.0.1": False,
    "127.0.0.1:80": False,
    "localhost:8421": False,
    f"localhost.evil.example:{PORT}": False,
    f"127.0.0.1.nip.io:{PORT}": False,
    f"evil.example:{PORT}": False,
    f"localhost.:{PORT}": False,
    f"127.0.0.1.:{PORT}": False,
    f"127.1:{PORT}": False,
    f"2130706433:{PORT}": False,
    f"0x7f000001:{PORT}": False,
    f"0.0.0.0:{PORT}": False,
    f"[::]:{PORT}": False,
    f"[::ffff:127.0.0.1]:{PORT}": False,
    f"[0:0:0:0:0:0:0:1]:{PORT}": False,
    f"127.0.0.1:{PORT}.evil.example": False,
    f"127.0.0.1:{PORT}@evil.example": False,
    f"evil.example@127.0.0.1:{PORT}": False,
    f"evil.example,127.0.0.1:{PORT}": False,
    f" 127.0.0.1:{PORT}": False,
    f"127.0.0.1:{PORT} ": False,
    f"127.0.0.1:{PORT}/": False,
    f"http://127.0.0.1:{PORT}": False,
    f"10.0.0.6:{PORT}": False,
    "box.example:1": False,
    f"xn--lcalhost-54a:{PORT}": False,
}
ORIGINS = {
    f"http://{OURS}": True,
    f"https://{OURS}": True,
    f"HTTP://{OURS}": True,
    "null": False,
    "": False,
    "https://evil.example": False,
    "http://127.0.0.1": False,
    "http://127.0.0.1:3000": False,
    f"http://localhost:{PORT}": False,
    f"http://{OURS}.evil.example": False,
    f"http://evil.example@{OURS}": False,
    f"http://{OURS}/": False,
    f"http://{OURS}, https://evil.example": False,
    f"file://{OURS}": False,
    f"chrome-extension://{OURS}": False,
    "http://[::1": False,
}


async def inside(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def passes(
    headers: dict[str, str],
    method: str = "GET",
    path: str = "/conversations",
    *,
    peer: str = "",
    server: str = "10.0.0.5",
    app: ASGIApp | None = None,
    **settings: Any,
) -> int:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("the guard reads no body")

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "server": (server, PORT),
        "client": (peer, 5000),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()],
    }
    names = ["box.example:8420", "lan.example", "[fe80::5]", "0.0.0.0", "::"]
    await RequestGuard(app or inside, names, **settings)(scope, receive, send)
    return int(sent[0]["status"])


@pytest.mark.parametrize(("host", "ours"), HOSTS.items())
async def test_only_our_own_names_are_answered(host: str, ours: bool) -> None:
    assert await passes({"Host": host}) == (204 if ours else 403)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(("origin", "ours"), ORIGINS.items())
async def test_only_our_own_origin_is_answered_whatever_the_method(method: str, origin: str, ours: bool) -> None:
    assert await passes({"Host": OURS, "Origin": origin}, method) == (204 if ours else 403)


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
@pytest.mark.parametrize("port", ["", ":80", ":3000", ":18420"])
async def test_where_a_token_is_needed_any_port_of_this_machine_is_answered(name: str, port: str) -> None:
    assert await passes({"Host": name + port}) == 403
    assert await passes({"Host": name + port}, any_port=True) == 204


@pytest.mark.parametrize("host", [host for host, ours in HOSTS.items() if not ours and "localhost" not in host[:9]])
async def test_a_token_opens_no_other_names(host: str) -> None:
    ours = host.partition(":")[0] == "127.0.0.1" and host.partition(":")[2] in {"", "80"}
    assert await passes({"Host": host}, any_port=True) == (204 if ours else 403)


PUBLIC = reach_of("https://chat.example.org/windlass", ["10.0.0.1"])


@pytest.mark.parametrize("path", ["/conversations", "/windlass/conversations", "/windlass/conversations/"])
async def test_the_public_name_is_answered_with_and_without_its_path(path: str) -> None:
    asked: list[str] = []

    async def note(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(scope["path"])
        await inside(scope, receive, send)

    headers = {"Host": "chat.example.org", "Origin": "https://chat.example.org"}
    assert await passes(headers, "POST", path, app=note, reach=PUBLIC) == 204
    assert asked == ["/conversations"]


async def test_behind_a_proxy_that_sends_its_own_name_of_us_the_public_origin_is_ours() -> None:
    assert await passes({"Host": OURS, "Origin": "https://chat.example.org"}, "POST", reach=PUBLIC) == 204
    assert await passes({"Host": OURS, "Origin": "https://chat.example.org:444"}, "POST", reach=PUBLIC) == 403
    assert await passes({"Host": OURS, "Origin": "https://evil.example"}, "POST", reach=PUBLIC) == 403


async def test_a_forwarded_name_counts_from_a_trusted_proxy_alone() -> None:
    headers = {"Host": OURS, "X-Forwarded-Host": "lan.example:9", "Origin": "http://lan.example:9"}
    assert await passes(headers, "POST", peer="10.0.0.1", reach=PUBLIC) == 204
    assert await passes(headers, "POST", peer="10.0.0.2", reach=PUBLIC) == 403


async def test_neither_name_may_be_foreign_where_a_proxy_forwards_one() -> None:
    """Else a page whose own name leads here could call itself localhost by that header."""
    rebound = {"Host": f"evil.example:{PORT}", "X-Forwarded-Host": OURS}
    forwarded = {"Host": OURS, "X-Forwarded-Host": "evil.example"}
    for headers in (rebound, forwarded):
        assert await passes(headers, peer="10.0.0.1", reach=PUBLIC) == 403


async def test_an_ipv4_address_is_answered_on_a_socket_for_both_kinds() -> None:
    assert await passes({"Host": f"10.0.0.5:{PORT}"}, server="::ffff:10.0.0.5") == 204


async def test_a_host_header_that_comes_twice_is_refused() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    host = (b"host", OURS.encode())
    scope = {"type": "http", "method": "GET", "path": "/", "server": ("127.0.0.1", PORT), "headers": [host, host]}
    await RequestGuard(inside)(scope, receive, send)
    assert sent[0]["status"] == 403


@pytest.mark.parametrize(
    ("site", "mode", "dest", "path", "status"),
    [
        ("none", "navigate", "document", "/conversations", 204),
        ("same-origin", "cors", "empty", "/conversations", 204),
        ("same-site", "cors", "empty", "/conversations", 403),
        ("cross-site", "no-cors", "image", "/conversations", 403),
        ("cross-site", "no-cors", "script", "/ui/assets/index.js", 403),
        ("cross-site", "navigate", "document", "/conversations", 403),
        ("cross-site", "navigate", "iframe", "/", 403),
        ("cross-site", "navigate", "document", "/", 204),
        ("cross-site", "navigate", "document", "/ui/c/conv-1", 204),
        ("cross-site", "navigate", "document", "/oauth/callback", 204),
        ("cross-site", "navigate", "iframe", "/oauth/callback", 403),
        ("cross-site", "no-cors", "image", "/oauth/callback", 403),
    ],
)
async def test_another_site_may_open_the_page_and_nothing_else(
    site: str, mode: str, dest: str, path: str, status: int
) -> None:
    headers = {"Host": OURS, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    assert await passes(headers, path=path) == status


@pytest.mark.parametrize(
    ("kind", "length", "status"),
    [
        ("application/json", "2", 204),
        ("application/json; charset=utf-8", "2", 204),
        ("Application/JSON", "2", 204),
        ("text/plain", "2", 415),
        ("text/plain;application/json", "2", 415),
        ("application/x-www-form-urlencoded", "0", 415),
        ("multipart/form-data; boundary=x", "2", 415),
        ("application/octet-stream", "2", 415),
        ("application/octet-stream", "0", 204),
        (None, "2", 415),
        (None, "0", 204),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_writes_take_json_only(method: str, kind: str | None, length: str, status: int) -> None:
    headers = {"Host": OURS, "Content-Length": length} | ({"Content-Type": kind} if kind else {})
    assert await passes(headers, method) == status


def test_the_page_may_play_what_a_tool_gave_and_nothing_from_elsewhere() -> None:
    assert "media-src 'self' data: blob:;" in page_policy("once").decode()


def test_no_text_becomes_markup_on_the_page() -> None:
    assert page_policy("once").decode().endswith("require-trusted-types-for 'script'; trusted-types default")


async def test_every_response_carries_the_safety_headers(site: Site) -> None:
    for path in ("/", "/health", "/docs", "/nowhere", "/conversations", "/openapi.json", "/ui/assets/none.js"):
        headers = (await site.call("GET", path)).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'") and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http:" not in policy and "*" not in policy
        assert not [name for name in headers if name.lower().startswith("access-control-")]


async def test_each_page_has_a_nonce_of_its_own(site: Site) -> None:
    pages = [await site.call("GET", "/") for _ in range(2)]
    nonces = [page.headers["Content-Security-Policy"].partition("'nonce-")[2].partition("'")[0] for page in pages]

    assert nonces[0] != nonces[1] and all(len(nonce) >= 20 for nonce in nonces)
    assert "__CSP_NONCE__" not in pages[0].text


async def test_no_method_is_answered_to_a_preflight(site: Site) -> None:
    for path in {route.path for route in ROUTES}:
        headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        assert (await site.call("OPTIONS", path, headers=headers, token="")).status == 403


@pytest.mark.parametrize("name", ["mybox.local:9000", "chat.example.org", "192.168.1.5:8420", "[fd00::5]:8420"])
async def test_the_advice_for_an_unknown_name_works_as_it_is_written(tmp_path: Path, name: str) -> None:
    async with windlass(tmp_path / "home", verb="demo") as server:
        refused = await server.call("GET", "/health", None, Host=name)
    error = refused.body["error"]
    assert (refused.status, error["code"]) == (403, "bad_host")
    command = re.search(r"`windlass serve (--allow-host) (\S+)`", error["hint"])
    setting = re.search(r'`(allow_hosts = \["[^"]+"\])` under `(\[server\])` in windlass.toml', error["hint"])
    assert command and setting
    async with windlass(tmp_path / "home", *command.groups()) as server:
        await _the_page_works_at(server, name)
    (tmp_path / "home" / "windlass.toml").write_text(f"{setting[2]}\n{setting[1]}\n")
    async with windlass(tmp_path / "home") as server:
        await _the_page_works_at(server, name)


async def test_the_advice_for_a_page_behind_a_proxy_works_as_it_is_written(tmp_path: Path) -> None:
    """A proxy that sends its own name of the server, or drops the port: the page opens and signing in is refused."""
    home, origin = tmp_path / "home", "https://chat.example.org:8443"
    from_page = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    async with windlass(home, "--allow-host", "chat.example.org", verb="demo") as server:
        token = {"token": server.token}
        inner = await server.call("POST", "/session", token, **from_page)
        portless = await server.call("POST", "/session", token, **from_page, Host="chat.example.org")
        foreign = await server.call("POST", "/session", token, Origin="https://evil.example")
    assert {inner.status, portless.status, foreign.status} == {403}
    assert "evil" not in foreign.body["error"]["hint"]
    setting = re.search(
        r'Set `(public_url = "[^"]+")` under `(\[server\])` in windlass.toml', inner.body["error"]["hint"]
    )
    assert setting and setting[0] in portless.body["error"]["hint"]
    (home / "windlass.toml").write_text(f"{setting[2]}\n{setting[1]}\n")
    async with windlass(home, verb="demo") as server:
        for host in ({}, {"Host": "chat.example.org:8443"}, {"Host": "chat.example.org"}):
            signed_in = await server.call("POST", "/session", token, **from_page, **host)
            assert signed_in.status == 200 and "; Secure" in signed_in.headers["Set-Cookie"]


@pytest.mark.parametrize("verb", ["serve", "demo"])
async def test_names_of_the_file_and_of_the_command_line_are_all_answered(tmp_path: Path, verb: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "windlass.toml").write_text('[server]\nallow_hosts = ["mybox.local", "other.local:1"]\n')
    flags = ("--allow-host", "third.local", "--allow-host", "fourth.local:4")
    async with windlass(home, *flags, verb=verb) as server:
        names = ["mybox.local", "mybox.local:9", "other.local:1", "other.local:2", "third.local:3", "fourth.local:4"]
        answered = [(await server.call("GET", "/health", None, Host=name)).status for name in names]
    assert answered == [200, 200, 200, 403, 200, 200]


@pytest.mark.parametrize("host", ["0.0.0.0:8420", "[::]:8420", "no name", "<b>"])
async def test_no_advice_is_given_that_could_not_work(tmp_path: Path, host: str) -> None:
    async with windlass(tmp_path / "home", verb="demo") as server:
        refused = await server.call("GET", "/health", None, Host=host)
    assert refused.status == 403 and "allow" not in refused.body["error"]["hint"]


async def _the_page_works_at(server: WindlassProcess, name: str) -> None:
    """As a browser asks: the login, then a read and a write with the session, over http or a tunnel's https."""
    key = server.login_url.partition("?key=")[2]
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def ask(method: str, path: str, body: object = None, **headers: str) -> aiohttp.ClientResponse:
            sent = {"Host": name, **headers}
            async with session.request(method, server.url + path, json=body, headers=sent) as answer:
                await answer.read()
                return answer

        login = await ask("POST", "/session", {"key": key}, Origin=f"http://{name}")
        cookie = {"Cookie": login.headers["Set-Cookie"].partition(";")[0]}
        plain = {**cookie, "X-Windlass-Session": (await login.json())["half"]}
        secure = {**plain, "Sec-Fetch-Site": "same-origin"}  # browsers send it over https, and not over http
        for own, scheme in ((secure, "https"), (plain, "http")):
            assert (await ask("GET", "/ui/", **own)).status == 200
            assert (await ask("GET", "/conversations", **own)).status == 200
            assert (await ask("POST", "/conversations", **own, Origin=f"{scheme}://{name}")).status == 201
            assert (await ask("POST", "/conversations", **own, Origin="https://evil.example")).status == 403
        assert (await ask("POST", "/conversations", **cookie)).status == 401
        assert (await ask("GET", "/conversations", **plain, **{"Sec-Fetch-Site": "same-site"})).status == 403
