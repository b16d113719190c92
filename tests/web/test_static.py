"""The page: served from what was built, never from anywhere else."""

from pathlib import Path

import pytest

from tests.web.kit import Site
from windlass.web.auth import Access
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
    sent: list[dict[str, object]] = []

    async def send(message: object) -> None:
        assert isinstance(message, dict)
        sent.append(message)

    async def receive() -> dict[str, object]:
        raise AssertionError

    pairs = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": pairs, "state": {}}
    await Static(Access(built.parent), built)(scope, receive, send)
    start, body = sent
    found = {name.decode(): value.decode() for name, value in start["headers"]}  # type: ignore[attr-defined]
    return int(start["status"]), found, body["body"].decode()  # type: ignore[call-overload,attr-defined]


@pytest.mark.parametrize("path", ["/", "/ui", "/ui/c/conv-1", "/ui/settings/servers", "/ui/../../etc/passwd"])
async def test_every_address_of_the_page_gives_the_page(built: Path, path: str) -> None:
    status, headers, body = await asked(built, path)

    assert status == 200 and headers["content-type"].startswith("text/html")
    assert headers["cache-control"] == "no-store"
    assert "<script" in body and "__CSP_NONCE__" not in body


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


async def test_a_link_may_fill_the_message_box_but_the_key_leaves_the_address(site: Site) -> None:
    key = site.access.new_key()
    reply = await site.call("GET", f"/?key={key}&q=hello%20there", token="")
    assert (reply.status, reply.headers["Location"]) == (303, "/?q=hello+there")
    assert (await site.get("/conversations"))["count"] == 0
