"""What a request says about the browser behind it: with and without proxies, honest and forged."""

from typing import Any

import pytest

from windlass.web.origin import BrowserOrigin, Reach, browser_origin, origin_of, reach_of, without_base

PUBLIC = "https://chat.example.org/windlass"
PROXY, OTHER, CLIENT = "10.0.0.1", "10.0.7.7", "203.0.113.9"
FORGED = {
    "X-Forwarded-For": "198.51.100.1",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Prefix": "/evil",
}


def seen(headers: dict[str, str], reach: Reach, peer: str = PROXY, host: str = "box:8420") -> BrowserOrigin:
    return origin_of(scope(headers, peer, host), reach)


def scope(headers: dict[str, str], peer: str = PROXY, host: str = "box:8420") -> dict[str, Any]:
    pairs = {"Host": host, **headers}.items()
    return {
        "type": "http",
        "scheme": "http",
        "client": (peer, 5000),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs],
    }


def test_without_settings_the_connection_itself_counts() -> None:
    assert seen({}, Reach(), CLIENT) == BrowserOrigin("http", "box:8420", "", CLIENT)


@pytest.mark.parametrize("reach", [Reach(), reach_of("", ["10.0.0.0/24"]), reach_of(PUBLIC, [PROXY, "::1"])])
def test_forged_headers_from_elsewhere_change_nothing(reach: Reach) -> None:
    assert seen(FORGED, reach, CLIENT) == seen({}, reach, CLIENT)
    assert seen(FORGED, reach, OTHER) == seen({}, reach, OTHER)


def test_a_trusted_proxy_tells_scheme_host_prefix_and_address() -> None:
    sent = {
        "X-Forwarded-For": CLIENT,
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "Chat.Example.org",
        "X-Forwarded-Prefix": "/tools/",
    }
    found = seen(sent, reach_of("", [PROXY]))
    assert found == BrowserOrigin("https", "chat.example.org", "/tools", CLIENT, forwarded=True)
    assert found.url == "https://chat.example.org/tools"
    assert (found.cookie_path, found.is_secure) == ("/tools", True)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (CLIENT, CLIENT),
        (f"127.0.0.1, {CLIENT}", CLIENT),  # the client wrote the first one itself
        (f"127.0.0.1, {CLIENT}, {OTHER}", CLIENT),  # two proxies of ours
        (f"{CLIENT}, 198.51.100.7", "198.51.100.7"),  # a proxy of somebody else's
        (f"{CLIENT}:4711", CLIENT),
        (f"[2001:db8::5]:4711,{OTHER}", "2001:db8::5"),
        ("2001:db8::5", "2001:db8::5"),
        (f"::ffff:{CLIENT}", CLIENT),
        (f"{OTHER}, {PROXY}", OTHER),  # one of the proxies asks itself
        ("", PROXY),
        ("unknown", PROXY),
        (f"{CLIENT}, unknown", PROXY),
        (f"{CLIENT}, 999.1.1.1, {OTHER}", OTHER),
        (f"{CLIENT}, <script>", PROXY),
        (", ".join([CLIENT] + ["10.0.1.1"] * 5000), "10.0.1.1"),
    ],
)
def test_the_nearest_address_that_is_no_proxy_is_the_client(given: str, address: str) -> None:
    assert seen({"X-Forwarded-For": given}, reach_of("", ["10.0.0.0/16"])).address == address


def test_several_lines_of_one_header_are_read_in_their_order() -> None:
    made = scope({})
    made["headers"] += [(b"x-forwarded-for", b"198.51.100.1"), (b"x-forwarded-for", CLIENT.encode())]
    assert origin_of(made, reach_of("", [PROXY])).address == CLIENT


@pytest.mark.parametrize(
    ("hops", "proto", "scheme"),
    [
        (CLIENT, "https, http", "http"),  # one proxy: what stands left of its own value the client wrote
        (f"{CLIENT}, {OTHER}", "https, http", "https"),  # two: the outer one saw https
        (f"{CLIENT}, {OTHER}", "https", "https"),
        (CLIENT, "HTTPS", "https"),
        (CLIENT, "ftp", "http"),
        (CLIENT, "", "http"),
    ],
)
def test_the_outermost_proxy_of_ours_knows_the_scheme(hops: str, proto: str, scheme: str) -> None:
    headers = {"X-Forwarded-For": hops, "X-Forwarded-Proto": proto}
    assert seen(headers, reach_of("", ["10.0.0.0/16"])).scheme == scheme


@pytest.mark.parametrize("prefix", ["//evil.example", '/a"><script>', "/a b", "a", "/a/../b c", "/%2e", "/a;Domain=x"])
def test_a_prefix_that_no_address_has_is_ignored(prefix: str) -> None:
    assert seen({"X-Forwarded-Prefix": prefix}, reach_of(PUBLIC, [PROXY])).base == "/windlass"


@pytest.mark.parametrize("host", ["", "a b", "evil.example/x", "user@box", "box:port", "<b>"])
def test_a_forwarded_host_that_is_no_name_is_ignored(host: str) -> None:
    assert seen({"X-Forwarded-Host": host}, reach_of("", [PROXY])).host == "box:8420"


def test_under_its_public_name_the_public_scheme_counts_without_any_header() -> None:
    assert seen({}, reach_of(PUBLIC), CLIENT, "chat.example.org").url == PUBLIC


def test_the_public_origin_counts_although_the_proxy_sends_its_own_name_of_us() -> None:
    found = seen({"Origin": "https://chat.example.org"}, reach_of(PUBLIC), "127.0.0.1", "127.0.0.1:8420")
    assert found.url == PUBLIC


def test_another_origin_does_not_change_the_host() -> None:
    found = seen({"Origin": "https://evil.example"}, reach_of(PUBLIC), "127.0.0.1", "127.0.0.1:8420")
    assert (found.scheme, found.host) == ("http", "127.0.0.1:8420")


def test_the_browsers_own_origin_tells_the_scheme_where_an_inner_proxy_is_wrong() -> None:
    headers = {"Origin": "https://mybox.local", "X-Forwarded-Proto": "http"}
    assert seen(headers, reach_of("", [PROXY]), host="mybox.local").scheme == "https"
    assert seen({"Origin": "https://mybox.local"}, Reach(), host="mybox.local").is_secure


def test_plain_http_under_the_public_name_is_not_called_https_by_a_proxy_that_knows() -> None:
    headers = {"X-Forwarded-Proto": "http"}
    assert seen(headers, reach_of(PUBLIC, [PROXY]), host="chat.example.org").scheme == "http"


def test_an_ipv4_proxy_on_a_socket_for_both_kinds_is_recognized() -> None:
    found = seen({"X-Forwarded-For": CLIENT}, reach_of("", [PROXY]), f"::ffff:{PROXY}")
    assert found.address == CLIENT


def test_a_request_that_passed_no_guard_has_an_origin_too() -> None:
    assert browser_origin(scope({}, CLIENT)).address == CLIENT


@pytest.mark.parametrize(
    ("path", "below"),
    [
        ("/windlass", "/"),
        ("/windlass/", "/"),
        ("/windlass/ui/c/1", "/ui/c/1"),
        ("/windlass/windlass", "/windlass"),
        ("/windlassen", "/windlassen"),
        ("/ui/windlass", "/ui/windlass"),
        ("/", "/"),
    ],
)
def test_the_base_path_is_taken_off_once(path: str, below: str) -> None:
    assert without_base(path, ["", "/windlass"]) == below
