"""The page: served from what was built, never from anywhere else."""

import gzip
from pathlib import Path

import pytest

from tests.web.kit import Site, open_site
from windlass.web.static import Static


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text('<meta nonce="__CSP_NONCE__"><script src="/ui/assets/index.js"></script>')
    (folder / "assets" / "index.js").write_text("let a = 1;")
    (folder / "icon.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


async def asked(built: Path, path: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], str]:
    status, found, body = await fetched(built, path, headers)
    return status, found, body.decode()


async def fetched(built: Path, path: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    sent: list[dict[str, object]] = []

    async def send(message: object) -> None:
        assert isinstance(message, dict)
        sent.append(message)

    async def receive() -> dict[str, object]:
        raise AssertionError

    pairs = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": pairs, "state": {}}
    await Static(built)(scope, receive, send)
    start, body = sent
    found = {name.decode(): value.decode() for name, value in start["headers"]}  # type: ignore[attr-defined]
    return int(start["status"]), found, bytes(body["body"])  # type: ignore[call-overload]


@pytest.mark.parametrize("path", ["/", "/ui", "/ui/c/conv-1", "/ui/settings/servers", "/ui/../../etc/passwd"])
async def test_every_address_of_the_page_gives_the_page(built: Path, path: str) -> None:
    status, headers, body = await asked(built, path)

    assert status == 200 and headers["content-type"].startswith("text/html")
    assert headers["cache-control"] == "no-store"
    assert "<script" in body and "__CSP_NONCE__" not in body


async def test_below_a_proxys_path_the_page_names_its_own_addresses_with_it(site: Site) -> None:
    async with open_site(site.app.config.home / "other", public_url="https://chat.example.org/windlass") as other:
        here, below = [(await one.call("GET", "/ui/c/1")).text for one in (site, other)]
        stripped, whole = [await other.call("GET", path) for path in ("/docs", "/windlass/docs")]

    assert '"/ui/assets/' in here and '<meta name="windlass-base" content="/"' in here
    assert '"/ui/assets/' not in below and '"/windlass/ui/assets/' in below
    assert '<meta name="windlass-base" content="/windlass/"' in below
    assert stripped.text == whole.text and 'src="/windlass/docs/docs.js"' in whole.text


async def test_assets_are_kept_for_long_and_other_files_are_asked_for_again(built: Path) -> None:
    _, asset, body = await asked(built, "/ui/assets/index.js")
    _, icon, _ = await asked(built, "/ui/icon.svg")
    again, _, nothing = await asked(built, "/ui/icon.svg", {"if-none-match": icon["etag"]})

    assert body == "let a = 1;" and "immutable" in asset["cache-control"]
    assert asset["content-type"].startswith("text/javascript")
    assert icon["cache-control"] == "no-cache" and icon["content-type"] == "image/svg+xml"
    assert (again, nothing) == (304, "")


@pytest.mark.parametrize(
    "name", ["none.js", "../../secret.txt", "..%2f..%2fsecret.txt", "/etc/passwd", "", ".", "../index.html", "a\0b"]
)
async def test_what_was_not_built_is_not_there(built: Path, name: str) -> None:
    status, _, body = await asked(built, f"/ui/assets/{name}")

    assert status == 404 and "secret" not in body.replace("secret.txt", "")


async def test_without_a_built_page_the_way_on_is_shown(tmp_path: Path) -> None:
    status, _, body = await asked(tmp_path / "nothing", "/")
    assert status == 200 and "make setup" in body


async def test_a_login_link_only_gives_the_page_which_sends_the_key_itself(site: Site) -> None:
    reply = await site.call("GET", f"/?key={site.access.new_key()}&q=hello%20there", token="")
    assert reply.status == 200 and reply.headers["Content-Type"].startswith("text/html")
    assert "Set-Cookie" not in reply.headers


SCRIPT = b"let a = 1;" * 100
PACKED = gzip.compress(SCRIPT)
BROTLI = b"stands for brotli"  # nothing here unpacks it: what matters is which file is sent


@pytest.fixture
def packed(built: Path) -> Path:
    (built / "assets" / "index.js").write_bytes(SCRIPT)
    (built / "assets" / "index.js.gz").write_bytes(PACKED)
    (built / "assets" / "index.js.br").write_bytes(BROTLI)
    (built / "icon.svg.gz").write_bytes(gzip.compress(b"<svg/>"))
    return built


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("GZIP;Q=1", "gzip"),
        ("x-gzip", "gzip"),
        ("br;q=0.5, gzip;q=0.8", "gzip"),
        ("br;q=0.8,gzip;q=0.8", "br"),
        ("br;q=0, gzip;q=0.1", "gzip"),
        ("br;q=0.0, *;q=0.3", "gzip"),
        ("*", "br"),
        ("gzip;q=0.5, identity", None),
        ("gzip;q=0.5, identity;q=0.4", "gzip"),
        ("br;q=0, gzip;q=0", None),
        ("*;q=0", None),
        ("identity;q=0, zstd", None),  # nothing else to send, and a page that shows beats a 406
        ("gzip;q=much, deflate", None),
        ("deflate", None),
        ("brotli, notgzip", None),
        ("", None),
        (None, None),
    ],
)
async def test_a_file_is_sent_packed_as_the_browser_wants_it(
    packed: Path, accepted: str | None, encoding: str | None
) -> None:
    headers = {} if accepted is None else {"accept-encoding": accepted}
    status, found, body = await fetched(packed, "/ui/assets/index.js", headers)
    assert (status, found.get("content-encoding")) == (200, encoding)
    assert body == {"br": BROTLI, "gzip": PACKED, None: SCRIPT}[encoding]
    assert found["content-length"] == str(len(body))
    assert (found["vary"], found["content-type"]) == ("Accept-Encoding", "text/javascript; charset=utf-8")
    assert "immutable" in found["cache-control"]


async def test_each_form_of_a_file_has_its_own_tag(packed: Path) -> None:
    tags = set()
    for accepted in ("br", "gzip", "identity"):
        _, found, _ = await fetched(packed, "/ui/assets/index.js", {"accept-encoding": accepted})
        asked_again = {"accept-encoding": accepted, "if-none-match": found["etag"]}
        status, again, body = await fetched(packed, "/ui/assets/index.js", asked_again)
        assert (status, body, again["etag"], again["vary"]) == (304, b"", found["etag"], "Accept-Encoding")
        tags.add(found["etag"])
    assert len(tags) == 3
    plain = max(tags, key=lambda tag: -len(tag))
    headers = {"accept-encoding": "gzip", "if-none-match": plain}
    assert (await fetched(packed, "/ui/assets/index.js", headers))[0] == 200


async def test_what_has_one_packed_form_is_sent_in_that_or_plain(packed: Path) -> None:
    _, icon, body = await fetched(packed, "/ui/icon.svg", {"accept-encoding": "br, gzip"})
    assert (icon["content-encoding"], icon["content-type"]) == ("gzip", "image/svg+xml")
    assert gzip.decompress(body) == b"<svg/>" and icon["cache-control"] == "no-cache"
    _, plain, body = await fetched(packed, "/ui/icon.svg", {"accept-encoding": "br"})
    assert body == b"<svg/>" and "content-encoding" not in plain and plain["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("name", ["assets/index.js.gz", "assets/index.js.br", "icon.svg.gz"])
async def test_packed_files_have_no_address_of_their_own(packed: Path, name: str) -> None:
    status, headers, body = await fetched(packed, f"/ui/{name}")
    assert status == 404 or headers["content-type"].startswith("text/html")
    assert not body.startswith(b"\x1f\x8b") and body != BROTLI


async def test_the_page_itself_is_never_packed_since_each_has_a_nonce_of_its_own(packed: Path) -> None:
    (packed / "index.html.gz").write_bytes(gzip.compress(b"old"))
    _, headers, body = await fetched(packed, "/", {"accept-encoding": "gzip, br"})
    assert "content-encoding" not in headers and b"<script" in body
