"""Addresses for one GET, for what cannot send headers."""

import pytest

from tests.web.kit import Site, open_site


async def linked(site: Site, path: str, **credentials: object) -> str:
    made = await site.call("POST", "/links", {"path": path}, **credentials)  # type: ignore[arg-type]
    assert made.status == 201, made.text
    return str(made.body["url"])


async def test_a1_a_link_gives_an_export_once_and_without_headers(site: Site) -> None:
    conversation = await site.conversation(title="Two of everything")
    page = site.browser()
    url = await linked(site, f"/conversations/{conversation}/export?format=markdown", token="", headers=page)

    once, twice = [await site.call("GET", url, token="") for _ in range(2)]

    assert once.status == 200 and "Two of everything" in once.text
    assert once.headers["Content-Type"].startswith("text/markdown")
    assert "attachment" in once.headers["Content-Disposition"]
    assert twice.status == 404 and "POST /links" in twice.body["error"]["hint"]


async def test_a1_what_a_link_shows_is_shown_in_a_sandbox(site: Site) -> None:
    opened = site.session.get(site.url + await linked(site, "/openapi.json"))
    async with opened as reply:
        assert "sandbox" in reply.headers.getall("Content-Security-Policy")
        assert reply.headers["X-Content-Type-Options"] == "nosniff"


async def test_a1_a_link_asked_for_by_head_or_by_another_site_is_not_used_up(site: Site) -> None:
    url = await linked(site, "/servers")
    assert (await site.call("HEAD", url, token="")).status == 405
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (await site.call("GET", url, token="", headers=foreign)).status == 403
    assert (await site.call("GET", url, token="")).status == 200


async def test_a1_a_link_ends_with_its_session_and_with_its_minute(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    page = site.browser()
    ended = await linked(site, "/servers", token="", headers=page)
    await site.call("DELETE", "/session", token="", headers=page)
    monkeypatch.setattr("windlass.web.links.LINK_S", 0)
    late = await linked(site, "/servers")
    for url in (ended, late):
        assert (await site.call("GET", url, token="")).status == 404


async def test_a1_a_link_leads_where_its_maker_may_go(site: Site) -> None:
    reader = site.token("read")
    assert (await site.call("GET", await linked(site, "/servers", token=reader), token="")).status == 200
    refused = await site.call("POST", "/links", {"path": "/tokens"}, token=reader)
    assert (refused.status, refused.code) == (422, "bad_input")  # not even for an admin
    metrics = await site.call("POST", "/links", {"path": "/metrics"}, token=reader)
    assert (metrics.status, metrics.code) == (403, "scope_required")


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "//evil.example/",
        "https://evil.example/",
        "/links",
        "/l/x",
        "/session",
        "/ui/",
        "",
        "/turns/x/events",
    ],
)
async def test_a_link_to_what_one_get_does_not_answer_is_refused(site: Site, path: str) -> None:
    assert (await site.call("POST", "/links", {"path": path})).status == 422


async def test_the_links_that_are_open_are_bounded(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.web.links.MOST_LINKS", 3)
    urls = [await linked(site, "/servers") for _ in range(5)]
    statuses = [(await site.call("GET", url, token="")).status for url in urls]
    assert statuses == [404, 404, 200, 200, 200]


async def test_a_link_below_a_base_path_has_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with open_site(tmp_path_factory.mktemp("base"), public_url="https://chat.example.org/windlass") as site:
        url = await linked(site, "/servers")
        assert url.startswith("/windlass/l/")
        assert (await site.call("GET", url, token="")).status == 200
