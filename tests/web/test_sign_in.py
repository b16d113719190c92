"""The address that a browser comes back to: one answer for each `state`, nothing without one, nothing of others' words
as markup, and no way to have codes sent elsewhere."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import pytest_asyncio

from tests.kit.authorized_server import AuthorizedServer, authorized_server, final_address
from tests.web.kit import Reply, Site, open_site
from windlass.config import ServerSettings
from windlass.servers import SignInCredentials
from windlass.services.sign_ins import VaultCredentials

CROSS_SITE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest_asyncio.fixture
async def remote(site: Site) -> AsyncIterator[AuthorizedServer]:
    async with authorized_server() as found:
        await site.post("/servers", {"name": "Guarded", "slug": "guarded", "url": found.url})
        assert (await site.post("/servers/guarded/start"))["server"]["status"] == "needs_sign_in"
        yield found
        await site.post("/servers/guarded/stop")


async def begun(site: Site) -> str:
    return str((await site.post("/servers/guarded/login", {}))["authorize_url"])


async def comes_back(site: Site, **fields: str) -> Reply:
    """As a browser does: from another site, and with neither token nor cookie."""
    return await site.call("GET", f"/oauth/callback?{urlencode(fields)}", token="", headers=CROSS_SITE)


def state_in(address: str) -> str:
    return parse_qs(urlsplit(address).query)["state"][0]


async def status(site: Site) -> str:
    return str((await site.get("/servers/guarded"))["server"]["status"])


async def test_an_answer_is_taken_once(site: Site, remote: AuthorizedServer) -> None:
    back = await final_address(await begun(site))
    assert back.startswith(f"{site.url}/oauth/callback?")
    fields = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
    first, second = await comes_back(site, **fields), await comes_back(site, **fields)
    assert (first.status, second.status) == (200, 404)
    assert "Signed in to Guarded" in first.text and "This sign-in is over" in second.text
    assert "default-src 'none'" in first.headers["Content-Security-Policy"]
    assert await status(site) == "running" and remote.requests["POST /token"] == 1


async def test_a_guessed_state_and_none_at_all_change_nothing(site: Site, remote: AuthorizedServer) -> None:
    await begun(site)
    for fields in ({"state": "guessed", "code": "x"}, {"code": "x"}, {"state": "", "code": "x"}):
        assert (await comes_back(site, **fields)).status == 404
    assert await status(site) == "needs_sign_in" and remote.requests["POST /token"] == 0


async def test_a_second_try_ends_the_first(site: Site, remote: AuthorizedServer) -> None:
    first, second = await begun(site), await begun(site)
    assert (await comes_back(site, state=state_in(first), code="x")).status == 404
    fields = {name: values[0] for name, values in parse_qs(urlsplit(await final_address(second)).query).items()}
    assert (await comes_back(site, **fields)).status == 200


async def test_a_cancelled_try_takes_no_answer(site: Site, remote: AuthorizedServer) -> None:
    address = await begun(site)
    assert (await site.get("/servers/guarded"))["server"]["sign_in"] == {"host": "127.0.0.1", "error": ""}
    gone = await site.call("DELETE", "/servers/guarded/login")
    assert gone.status == 200
    assert (await comes_back(site, state=state_in(address), code="x")).status == 404
    assert (await site.get("/servers/guarded"))["server"]["sign_in"] is None


async def test_a_refusal_is_shown_as_text(site: Site, remote: AuthorizedServer) -> None:
    address = await begun(site)
    described = "<script>alert(1)</script>\x1b[31m"
    page = await comes_back(site, state=state_in(address), error="access_denied", error_description=described)
    assert "<script" not in page.text and "&lt;script&gt;" in page.text
    shown = (await site.get("/servers/guarded"))["server"]["sign_in"]
    assert shown["host"] == "127.0.0.1"
    assert shown["error"].startswith("127.0.0.1 refused: access_denied (") and "\x1b" not in shown["error"]
    assert shown["error"].endswith("Nothing was saved.")


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/callback", "http://evil.example/", "http://me@127.0.0.1:1/", "//evil.example/", "x"],
)
async def test_codes_are_sent_to_this_machine_alone(site: Site, remote: AuthorizedServer, elsewhere: str) -> None:
    refused = await site.call("POST", "/servers/guarded/login", {"redirect_uri": elsewhere})
    assert refused.status == 422 and remote.requests["POST /register"] == 0


async def test_a_sign_in_that_ends_beyond_all_calendars_hides_no_server(site: Site, remote: AuthorizedServer) -> None:
    """As a version that believed every number may have kept it."""
    id = (await site.get("/servers/guarded"))["server"]["id"]
    VaultCredentials(site.app.vault).put(id, SignInCredentials(remote.url, "access", expires_at=1e20))
    assert [one["slug"] for one in (await site.get("/servers"))["servers"]] == ["guarded"]


async def test_tokens_end_with_the_server_in_the_settings(tmp_path: Path) -> None:
    """And not before: one that is stopped, or another, keeps its own."""
    settings = {slug: ServerSettings(url="http://127.0.0.1:9/mcp") for slug in ("gone", "kept")}
    async with open_site(tmp_path / "home", durability="normal", servers=settings) as site:
        store = VaultCredentials(site.app.vault)
        added = await site.post("/servers", {"name": "Added", "slug": "added", "url": "http://127.0.0.1:9/mcp"})
        for id in ("server-gone", "server-kept", added["server"]["id"]):
            store.put(id, SignInCredentials("http://127.0.0.1:9/mcp", f"access-of-{id}", f"refresh-of-{id}"))
        await site.post("/servers/kept/stop")
    del settings["gone"]
    async with open_site(tmp_path / "home", durability="normal", servers=settings) as site:
        found = VaultCredentials(site.app.vault)
        assert found.get("server-gone") is None and "gone" not in str(site.app.vault.items())
        assert found.get("server-kept") and found.get(added["server"]["id"])
