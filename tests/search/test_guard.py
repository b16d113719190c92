"""No form of address reaches a private machine. Each form is also tried by a client without the guard, which does
dial it: so none of these tests passes for want of an attack."""

# ruff: noqa: RUF001 - letters that look like others are the attack

import asyncio
import gzip
import socket
import threading
from collections.abc import Callable

import pytest
from aiohttp import web

from tests.kit.ports import refusing_port
from tests.search.kit import Names, fetch_without_a_guard, says, site, watch_dialling
from windlass.core.errors import ToolError
from windlass.search.guard import FetchCaps, FetchGuard

LOOPBACK = """
    127.0.0.1 127.0.0.2 127.255.255.254 127.1 127.0.1 2130706433 017700000001 0x7f000001 0x7f.0.0.1 0x7F.1
    0177.0.0.1 0177.1 127.0.0.0x1 0x7f.0.1 00000177.0.0.1 0000000127.0.0.1 0 0.0.0.0 00 0x0 0.0 0.0.0 ①②⑦.⓪.⓪.①
    127。0。0。1 １２７.0.0.1 127．0．0．1 localhost LOCALHOST localhost. ⓛocalhost anything.localhost
    ｌｏｃａｌｈｏｓｔ [::1] [::] [0:0:0:0:0:0:0:1] [0000::0001] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001]
    [0:0:0:0:0:ffff:127.0.0.1] [::127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1]
    [64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:7f00:1::1] [2001:0:7f00:1::] [2001::f5ff:fffe]
    [2a00:1450::5efe:7f00:1] [2a00:1450::200:5efe:7f00:1]
""".split()
PRIVATE = """
    10.0.0.1 10.1 167772161 0x0a000001 012.0.0.1 172.16.0.1 172.31.255.254 192.168.0.1 192.168.257 3232235777
    0300.0250.1.1 100.64.0.1 100.127.255.254 169.254.1.1 198.18.0.1 192.0.0.8 192.0.2.1 192.88.99.1 198.51.100.1
    203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 [fe80::1] [fc00::1] [fd12:3456::1] [fec0::1]
    [ff02::1] [2001:db8::1] [3fff::1] [100::1] [5f00::1] [::ffff:10.0.0.1] [::ffff:c0a8:1] [64:ff9b::a00:1]
    [2002:a00:1::] [2001:2::1] [2001:10::1]
""".split()
METADATA = """
    169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 [::ffff:169.254.169.254]
    [64:ff9b::a9fe:a9fe] [fd00:ec2::254] 168.63.129.16 100.100.100.200 192.0.0.192
""".split()
ODD = """
    file:///etc/passwd ftp://public.test/ gopher://public.test/ dict://public.test/ data:text/html,x
    javascript:alert(1) //public.test/ public.test http:// http:///path http:public.test http://public.test:22/
    http://public.test:25/ http://public.test:0/ http://public.test:99999/ http://public.test:x/
    http://user@public.test/ http://user:pw@public.test/ http://@public.test/ http://public.test%00.evil.test/
    http://127%2e0.0.1/ http://public.test%2f@127.0.0.1/ http://[::1 http://[fe80::1%25eth0]/
    http://[fe80::1%eth0]/ http://[127.0.0.1]/ http://[v1.fe80]/ http://[v1.fe80::1]/ http://-a.test/
    http://a..test/ http://.test/ http://134744072/ http://8.8.8/ http://010.8.8.8/ http://127.0.0.1./
    http://8.8.8.8../ http://public.test../ http://single/ http://１２７.１/
""".split()
NAMES = {
    "localhost": [["127.0.0.1", "::1"]],
    "anything.localhost": [["127.0.0.1"]],
    "private.test": [["10.0.0.1"]],
    "mixed.test": [["93.184.215.14", "127.0.0.1"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
    "nat64.test": [["64:ff9b::7f00:1"]],
    "link.test": [["fe80::1"]],
    "shared.test": [["100.64.0.1"]],
    "metadata.google.internal": [["169.254.169.254"]],
    "127.0.0.1.nip.test": [["127.0.0.1"]],
    "xn--lcalhost-f5a.test": [["127.0.0.1"]],
    "intranet": [["10.0.0.2"]],
    "wpad": [["10.0.0.3"]],
    "printer.local": [["192.168.1.9"]],
    "pages.test": [["127.0.0.1"]],
    "public.test": [["93.184.215.14"]],
}
BY_NAME = [name for name in NAMES if name not in ("localhost", "anything.localhost", "pages.test", "public.test")]
HOSTS = [*LOOPBACK, *PRIVATE, *METADATA, *BY_NAME, "private.test.", "PRIVATE.test"]
DRESSES: dict[str, Callable[[str, int], str]] = {
    "plain": lambda host, port: f"http://{host}:{port}/",
    "user": lambda host, port: f"http://public.test@{host}:{port}/",
    "user and password": lambda host, port: f"http://public.test:80@{host}:{port}/x#@public.test",
}
FORMS = [(host, "plain") for host in HOSTS] + [(host, dress) for host in LOOPBACK[:6] for dress in list(DRESSES)[1:]]


def test_the_table_of_forms_is_long_enough() -> None:
    assert len(FORMS) >= 120
    assert len(set(FORMS)) == len(FORMS)


@pytest.mark.parametrize(("host", "dress"), FORMS)
async def test_no_form_of_a_private_address_is_dialled(host: str, dress: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dialled = watch_dialling(monkeypatch)
    async with site(says("the canary")) as canary:
        url = DRESSES[dress](host, canary.port)
        with pytest.raises(ToolError) as refused:
            await FetchGuard(resolve=Names(NAMES).resolve).fetch(url)
        assert refused.value.code == "blocked_address"
        assert not dialled.addresses and not canary.requests

        await fetch_without_a_guard(url, Names(NAMES))
        assert dialled.addresses


@pytest.mark.parametrize(("host", "dress"), FORMS)
async def test_no_redirect_leads_to_a_private_address(host: str, dress: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dialled = watch_dialling(monkeypatch)
    async with site(says("the canary")) as canary:
        away = says(status=302, Location=DRESSES[dress](host, canary.port))
        async with site(away) as start:
            with pytest.raises(ToolError):
                await guard(start.port).fetch(start.url("pages.test"))
            assert len(start.requests) == 1
            assert not dialled.besides(start.port) and not canary.requests

            await fetch_without_a_guard(start.url("pages.test"), Names(NAMES))
            assert dialled.besides(start.port)


@pytest.mark.parametrize(
    "url",
    [
        *ODD,
        "",
        "http://public.test\\@127.0.0.1/",
        "http://public.test/a b",
        "http://public.test/\r\nX: y",
        "http://\tpublic.test/",
        "http://lo\u00adcalhost/",
        f"http://{'a' * 64}.test/",
        f"http://{'a.' * 130}test/",
        f"http://public.test/{'a' * 5000}",
    ],
)
async def test_an_odd_address_is_refused_before_anything_is_asked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dialled = watch_dialling(monkeypatch)
    names = Names(NAMES)
    with pytest.raises(ToolError) as refused:
        await FetchGuard(resolve=names.resolve).fetch(url)
    assert refused.value.code == "blocked_address"
    assert not names.asked and not dialled.addresses


@pytest.mark.parametrize(
    ("url", "dials"),
    [
        ("http://public.test/", ("93.184.215.14", 80)),
        ("https://public.test/", ("93.184.215.14", 443)),
        ("HTTP://PUBLIC.TEST:8080/", ("93.184.215.14", 8080)),
        ("http://public.test./", ("93.184.215.14", 80)),
        ("http://8.8.8.8/", ("8.8.8.8", 80)),
        ("http://[2606:4700::1111]/", ("2606:4700::1111", 80)),
        ("http://[64:ff9b::8.8.8.8]/", ("64:ff9b::808:808", 80)),
    ],
)
async def test_a_public_address_is_dialled(url: str, dials: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    dialled = watch_dialling(monkeypatch)
    with pytest.raises(ToolError) as failed:
        await FetchGuard(resolve=Names(NAMES).resolve).fetch(url)
    assert failed.value.code == "fetch_failed"
    assert dialled.addresses == [dials]


async def test_a_name_that_changes_after_the_check_is_dialled_as_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    dialled = watch_dialling(monkeypatch)
    names = Names({"rebinding.test": [["93.184.215.14"], ["127.0.0.1"]]})
    async with site(says("the canary")) as canary:
        url = canary.url("rebinding.test")
        with pytest.raises(ToolError):
            await FetchGuard(resolve=names.resolve).fetch(url)
        assert names.asked == ["rebinding.test"]
        assert dialled.addresses == [("93.184.215.14", canary.port)]

        await fetch_without_a_guard(url, names)
        assert canary.requests


async def test_a_name_that_changes_between_two_hops_is_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names({"pages.test": [["127.0.0.1"]], "rebinding.test": [["93.184.215.14"], ["127.0.0.1"]]})
    dialled = watch_dialling(monkeypatch)
    async with site(says("the canary")) as canary:
        url = canary.url("rebinding.test")
        for code in ("fetch_failed", "blocked_address"):
            with pytest.raises(ToolError) as failed:
                await FetchGuard(resolve=names.resolve).fetch(url)
            assert failed.value.code == code
        assert dialled.addresses == [("93.184.215.14", canary.port)] and not canary.requests


async def test_an_allowed_host_may_be_private_but_never_a_metadata_service() -> None:
    names = Names({"wiki.corp": [["127.0.0.1"], ["169.254.169.254"]]})
    async with site(says("<title>Ours</title>in-house")) as wiki:
        own = FetchGuard(frozenset({"Wiki.corp"}), names.resolve)
        page = await own.fetch(wiki.url("wiki.corp", "/start"))
        assert (page.title, page.text) == ("Ours", "in-house")
        with pytest.raises(ToolError, match="metadata"):
            await own.fetch(wiki.url("wiki.corp", "/start"))


async def test_an_allowed_host_with_a_port_is_allowed_on_that_port_only() -> None:
    async with site(says("ours")) as ours, site(says("the canary")) as canary:
        own = FetchGuard(frozenset({f"127.0.0.1:{ours.port}"}))
        assert (await own.fetch(ours.url())).text == "ours"
        with pytest.raises(ToolError, match="public internet"):
            await own.fetch(canary.url())
        assert not canary.requests


async def test_redirects_are_followed_and_the_last_address_is_the_pages() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/end":
            return web.Response(text="there", content_type="text/plain")
        raise web.HTTPFound({"/": "/a?x=ä", "/a": f"http://pages.test:{request.url.port}/end"}[request.path])

    async with site(answer) as start:
        page = await guard(start.port).fetch(start.url("pages.test"))
        assert (page.text, page.url) == ("there", start.url("pages.test", "/end"))


@pytest.mark.parametrize("location", ["", "http://[", "javascript:x"])
async def test_a_redirect_to_nowhere_is_an_error(location: str) -> None:
    headers = {"Location": location} if location else {}
    async with site(says(status=301, **headers)) as start:
        with pytest.raises(ToolError):
            await guard(start.port).fetch(start.url("pages.test"))
        assert len(start.requests) == 1


async def test_endless_redirects_end() -> None:
    async with site(says(status=302, Location="/again")) as start:
        with pytest.raises(ToolError, match="too often"):
            await guard(start.port).fetch(start.url("pages.test"))
        assert len(start.requests) == FetchCaps().redirects + 1


async def test_the_host_is_named_and_nothing_of_ours_is_sent_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    answer = says("x", kind="text/plain", Set_Cookie="a=b", Location="/two")
    async with site(answer) as start:
        fetch = guard(start.port).fetch
        await fetch(start.url("pages.test"))
        await fetch(start.url("pages.test"))
        assert len(start.requests) == 2
        for request in start.requests:
            assert request.headers["Host"] == f"pages.test:{start.port}"
            assert not {"Cookie", "Authorization", "Referer"} & set(request.headers)


async def test_tls_is_asked_for_the_name_and_not_the_address() -> None:
    hello = bytearray()

    def read_hello() -> int:
        listening = socket.create_server(("127.0.0.1", 0))
        listening.settimeout(20)

        def serve() -> None:
            with listening, listening.accept()[0] as peer:
                hello.extend(peer.recv(4096))

        threading.Thread(target=serve, daemon=True).start()
        return int(listening.getsockname()[1])

    port = read_hello()
    with pytest.raises(ToolError):
        await guard(port).fetch(f"https://pages.test:{port}/")
    assert b"pages.test" in hello


@pytest.mark.parametrize("kind", ["application/pdf", "image/png", "text/css", "application/octet-stream", "video/mp4"])
async def test_what_is_not_text_is_not_read(kind: str) -> None:
    async with site(says("x", kind=kind)) as start:
        with pytest.raises(ToolError, match=kind):
            await guard(start.port).fetch(start.url("pages.test"))


@pytest.mark.parametrize("status", [204, 304, 403, 404, 500])
async def test_only_an_ok_page_is_read(status: int) -> None:
    async with site(says("" if status < 400 else "x", status=status)) as start:
        with pytest.raises(ToolError, match=str(status)):
            await guard(start.port).fetch(start.url("pages.test"))


async def test_a_large_page_is_cut() -> None:
    async with site(says("a" * 300_000, kind="text/plain")) as start:
        page = await guard(start.port, FetchCaps(wire_bytes=100_000)).fetch(start.url("pages.test"))
        assert 100_000 <= len(page.text) < 300_000


async def test_a_packed_page_is_unpacked_but_not_without_end() -> None:
    packed = gzip.compress(b"word " * 20_000_000, 9)

    async def answer(request: web.Request) -> web.Response:
        headers = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
        return web.Response(body=packed if request.path == "/bomb" else gzip.compress(b"small"), headers=headers)

    async with site(answer) as start:
        own = guard(start.port, FetchCaps(page_bytes=50_000))
        assert (await own.fetch(start.url("pages.test"))).text == "small"
        bomb = await own.fetch(start.url("pages.test", "/bomb"))
        assert 49_000 < len(bomb.text) <= 50_000


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip", "zstd"])
async def test_a_damaged_or_unknown_content_encoding_is_an_error(encoding: str) -> None:
    problem = "its compressed body is damaged" if encoding == "gzip" else f"encoding, {encoding}, is not supported"
    async with site(says("not compressed at all", Content_Encoding=encoding)) as start:
        with pytest.raises(ToolError, match=problem):
            await guard(start.port).fetch(start.url("pages.test"))


async def test_a_page_that_never_ends_is_given_up() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        await asyncio.Event().wait()
        return response

    async with site(answer) as start:
        with pytest.raises(ToolError, match="too long"):
            await guard(start.port, FetchCaps(seconds=0.2)).fetch(start.url("pages.test"))


async def test_a_host_that_does_not_answer_or_exist_is_an_error() -> None:
    with refusing_port() as port, pytest.raises(ToolError) as failed:
        await guard(port).fetch(f"http://pages.test:{port}/")
    assert failed.value.code == "fetch_failed"
    with pytest.raises(ToolError) as failed:
        await FetchGuard(resolve=Names({"empty.test": [[]]}).resolve).fetch("http://empty.test/")
    assert failed.value.code == "fetch_failed"
    with pytest.raises(ToolError) as failed:
        await FetchGuard(resolve=Names({}).resolve).fetch("http://unknown.test/")
    assert failed.value.code == "fetch_failed"


def guard(port: int, caps: FetchCaps | None = None) -> FetchGuard:
    return FetchGuard(frozenset({f"pages.test:{port}"}), Names(NAMES).resolve, caps or FetchCaps())
