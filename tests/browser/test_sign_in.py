"""A remote server that wants a sign-in, from its form on the page to its answers; then everything is interrupted at
once, and the next question is answered without a click."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import OwnApp
from tests.browser.test_names import opened, signs_in_by_link
from tests.browser.visit import OpenedApp, drawn
from tests.kit.authorized_server import Authority, authorized_server
from tests.kit.ledger_file import Ledger
from tests.kit.ports import own_port
from tests.kit.proxies import needs_nginx, nginx
from windlass.testing import call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def adds(app: OpenedApp, url: str, page: str = "") -> None:
    await app.page.goto(f"{page or app.server.url}/ui/servers")
    await drawn(app.page)
    await app.button("Add server").click()
    form = app.page.get_by_role("region", name="Add a server")
    await form.get_by_label("Name").fill("Guarded")
    await form.get_by_text("HTTP", exact=True).click()
    await form.get_by_label("Address").fill(url)
    await form.get_by_role("button", name="Trust, approval and limits").click()
    await form.get_by_label("On in new chats").fill("*")
    await form.get_by_label("Approval").select_option("auto")
    await form.get_by_role("button", name="Add server").click()
    await app.page.get_by_role("button", name="Start Guarded").click()


async def picks_from_the_gallery(app: OpenedApp, url: str) -> None:
    """A hosted server that asks for a sign-in. None of them can be reached here: its draft is sent to ours instead."""
    await app.go("/ui/servers")
    await app.page.get_by_label("Search known servers").fill("linear issues")
    await app.page.get_by_role("button", name="Linear").click()
    await app.page.get_by_role("region", name="Add Linear").get_by_role("button", name="Add as a draft").click()
    await expect(app.page.get_by_role("region", name="Linear, draft")).to_be_visible()
    ours = {"name": "Guarded", "slug": "guarded", "url": url, "tools": "*", "approval": "auto"}
    await app.server.call("PATCH", "/servers/linear", ours)
    await app.page.get_by_role("region", name="Guarded, draft").get_by_role("button", name="Start").click()


def forget_the_other_site(app: OpenedApp, url: str) -> None:
    """The authorization server is asked by its own window, and by nothing else."""
    origin = url.removesuffix("mcp")
    app.watch.outside[:] = [asked for asked in app.watch.outside if not asked.startswith(f"{origin}authorize?")]


async def signs_in(app: OpenedApp, url: str) -> None:
    card = app.page.get_by_role("region", name="Guarded, needs sign-in")
    await card.get_by_role("button", name="Sign in").click()
    await expect(card.get_by_text("127.0.0.1 asks you to sign in")).to_be_visible()
    async with app.context.expect_page() as opening:
        await card.get_by_role("link", name="Open 127.0.0.1").click()
    window = await opening.value
    await expect(window.get_by_text("Guarded is connected.")).to_be_visible()
    assert await window.evaluate("window.opener") is None
    await window.close()
    forget_the_other_site(app, url)
    row = app.page.get_by_role("row", name="Guarded")
    await expect(row.get_by_text("Running")).to_be_visible()
    await row.get_by_role("button", name="Guarded", exact=True).click()
    await expect(app.page.get_by_text("Signed in. Renewed by itself.")).to_be_visible()


async def test_a_known_server_is_signed_in_to_and_outlives_every_interruption_at_once(own_app: OwnApp) -> None:
    authority = Authority()
    async with own_app() as app, AsyncExitStack() as first:
        site = await first.enter_async_context(authorized_server(authority))
        port = int(site.url.split(":")[2].split("/")[0])
        await picks_from_the_gallery(app, site.url)
        await signs_in(app, site.url)
        await app.go("/ui/")
        app.llm.then(call("keep", text="one"), say("Kept one."))
        await app.send("keep one")
        await expect(app.log.get_by_text("Kept one.")).to_be_visible()
        assert site.calls == ["one"]

        await app.server.kill()
        await first.aclose()
        authority.expire_all()
        await app.server.start()
        await app.server.until("/servers/guarded", lambda found: found["server"]["status"] == "failed")
        async with authorized_server(authority, port) as back:
            app.llm.then(call("keep", text="two"), say("Kept two."))
            await app.send("keep two")
            await expect(app.log.get_by_text("Kept two.")).to_be_visible()
            assert back.calls == ["two"] and back.requests["GET /authorize"] == 0
            await app.server.stop()
    assert authority.redemptions == 1


async def test_a_refusal_is_named_and_a_turn_that_waits_signs_in_where_it_stands(own_app: OwnApp) -> None:
    authority = Authority()
    async with own_app() as app, authorized_server(authority) as site:
        await adds(app, site.url)
        card = app.page.get_by_role("region", name="Guarded, needs sign-in")
        authority.refuses = True
        await card.get_by_role("button", name="Sign in").click()
        async with app.context.expect_page() as opening:
            await card.get_by_role("link", name="Open 127.0.0.1").click()
        refusal = "127.0.0.1 refused: access_denied. Nothing was saved."
        await expect((await opening.value).get_by_text(refusal)).to_be_visible()
        await expect(card.get_by_role("alert")).to_have_text(refusal)
        authority.refuses = False
        await card.get_by_role("button", name="Try again").click()
        async with app.context.expect_page() as opening:
            await card.get_by_role("link", name="Open 127.0.0.1").click()
        await expect((await opening.value).get_by_text("Guarded is connected.")).to_be_visible()
        await app.page.bring_to_front()
        await app.server.running("guarded")

        authority.revoke_all()
        await app.go("/ui/")
        app.llm.then(call("keep", text="x"), say("Kept."))
        await app.send("keep x")
        await expect(app.page.get_by_text("guarded needs you to sign in.").first).to_be_visible()
        assert site.calls == []
        await app.log.get_by_role("button", name="Sign in").click()
        steps = app.log.get_by_role("list", name="Signing in to Guarded")
        async with app.context.expect_page() as opening:
            await steps.get_by_role("link", name="Open 127.0.0.1").click()
        await expect((await opening.value).get_by_text("Guarded is connected.")).to_be_visible()
        await app.page.bring_to_front()
        await expect(app.log.get_by_text("Kept.")).to_be_visible()
        assert site.calls == ["x"]
        forget_the_other_site(app, site.url)


@needs_nginx
async def test_a_sign_in_comes_back_below_the_path_of_a_proxy(
    chromium: Browser, tmp_path: Path, ledger: Ledger
) -> None:
    upstream, port = own_port(), own_port()
    url = f"https://chat.test:{port}/tools/windlass"
    async with (
        authorized_server() as site,
        nginx(tmp_path / "nginx", port, upstream, tls=True, at="/tools/windlass/", path="/"),
        opened(chromium, tmp_path / "home", ledger, url, upstream, {"public_url": url}) as app,
    ):
        await signs_in_by_link(app, url)
        await adds(app, site.url, url)
        await signs_in(app, site.url)
        assert site.authority.redirects == [f"{url}/oauth/callback"]
