"""Somebody's first quarter of an hour: the one-time link is all that they are ever asked for, and what a browser gives
away to other ports of the host is of no use there."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from playwright.async_api import Browser, Request, Response, expect

from tests.browser.visit import OpenedApp, drawn, new_window
from tests.kit.ledger_file import Ledger
from tests.kit.ports import own_port
from tests.kit.windlass_process import model_settings, windlass
from tests.proof.figures import note
from windlass.api.routes import ROUTES
from windlass.testing import StrictLLM, call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a1_a2_a5_a_newcomer_types_no_token_and_the_cookie_alone_opens_nothing(
    chromium: Browser, tmp_path: Path, ledger: Ledger
) -> None:
    async with StrictLLM() as llm, windlass(tmp_path / "home", env=model_settings(llm.base_url)) as server:
        async with new_window(chromium, server.url) as (context, page, watch):
            refused: list[str] = []
            sent: list[str] = []

            def note_refused(answer: Response) -> None:
                if answer.status == 401:
                    refused.append(answer.url)

            def note_sent(request: Request) -> None:
                sent.append(f"{request.headers.get('authorization', '')} {request.post_data or ''}")

            context.on("response", note_refused)
            context.on("request", note_sent)
            app = OpenedApp(server, context, page, watch, llm, ledger)
            await page.goto(server.login_url)
            await drawn(page)
            await adds_a_server(app)
            await allows_always(app)
            await opens_a_second_tab(app)
            await saves_an_export(app)
            await sees_the_picture(app)
            assert refused == [], "a request was refused"
            assert [text for text in sent if server.token in text] == [], "the token was sent"
            await is_useless_elsewhere(app)


async def adds_a_server(app: OpenedApp) -> None:
    command, *args = app.ledger.argv()
    await app.go("/ui/servers")
    await app.page.locator("header").get_by_role("button", name="Add server").click()
    form = app.page.get_by_role("region", name="Add a server")
    await form.get_by_label("Name").fill("shelf")
    await form.get_by_label("Command").fill(command)
    await form.get_by_label("Arguments").fill("\n".join(args))
    await form.get_by_role("button", name="Trust, approval and limits").click()
    await form.get_by_label("On in new chats").fill("*")
    await form.get_by_role("button", name="Add as a draft").click()
    card = app.page.get_by_role("region", name="shelf, draft")
    await card.get_by_label("Enter the command to confirm and start").fill(" ".join([command, *args]))
    await card.get_by_role("button", name="Confirm and start").click()
    await expect(app.page.get_by_role("row", name="shelf").get_by_text("Running")).to_be_visible()


async def allows_always(app: OpenedApp) -> None:
    app.llm.then(call("odd", kind="image"), say("A picture."))
    await app.go("/ui/")
    await app.send("Draw")
    await app.decide("Allow Odd?", "Always allow…")
    await app.decide("Always allow Odd?", "Save grant and allow")
    await expect(app.log.get_by_text("A picture.", exact=True)).to_be_visible()
    await expect(app.log.get_by_role("link", name="always allowed")).to_be_visible()


async def opens_a_second_tab(app: OpenedApp) -> None:
    other = await app.context.new_page()
    await other.goto(app.page.url)
    await expect(other.get_by_role("log").get_by_text("A picture.", exact=True)).to_be_visible()
    await other.close()


async def saves_an_export(app: OpenedApp) -> None:
    async with app.page.expect_download() as saving:
        await app.button("Export").click()
        await app.page.get_by_role("menuitem", name="Export as Markdown").click()
    saved = await saving.value
    assert saved.suggested_filename == "Draw.md"
    assert "A picture." in Path(await saved.path()).read_text()


async def sees_the_picture(app: OpenedApp) -> None:
    picture = app.log.get_by_role("img", name="Image from Odd, no description")
    await picture.scroll_into_view_if_needed()
    await expect(picture).to_be_visible()
    assert await picture.evaluate("image => image.complete && image.naturalWidth === 1")


async def is_useless_elsewhere(app: OpenedApp) -> None:
    """Another program of this machine lures the browser to its own port, and sends on what it was given, with what our
    own page would say of itself."""
    async with another_service() as (url, given):
        lured = await app.context.new_page()
        await lured.goto(url)
        await lured.close()
    app.watch.outside.clear()
    cookie = given[0]
    assert "windlass" in cookie, "browsers send cookies to every port; else this shows nothing"
    half = await app.page.evaluate("() => localStorage.getItem('windlass.session')")
    tries: list[tuple[str, str, object]] = [
        ("POST", "/servers", {"name": "planted", "command": "/bin/true"}),
        ("POST", f"/conversations/{app.conversation_id}/chat", {"content": "go"}),
        ("POST", "/tokens", {"name": "mine", "scopes": ["admin"]}),
        ("POST", "/links", {"path": "/servers"}),
    ]
    tries += [(route.method, path_in(app, route.path), {}) for route in ROUTES if not route.public]
    forged = {"Cookie": cookie, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Origin": app.server.url}
    async with aiohttp.ClientSession() as thief:
        through = []
        for method, path, body in tries:
            async with thief.request(method, app.server.url + path, json=body, headers=forged) as answer:
                if answer.status not in (401, 403):
                    through.append((method, path, answer.status))
        note("cookies", count=len(tries), through=len(through))
        assert through == []
        both = {**forged, "x-windlass-session": half}
        async with thief.get(app.server.url + "/servers", headers=both) as answer:
            assert answer.status == 200, "with the page's half the same request is served"
    servers = (await app.server.get("/servers"))["servers"]
    assert [one["name"] for one in servers] == ["shelf"]


def path_in(app: OpenedApp, path: str) -> str:
    """Of what is really there, where it is a chat."""
    return re.sub(r"\{[^}]+\}", "x", path.replace("{conversation_id}", app.conversation_id))


@asynccontextmanager
async def another_service() -> AsyncIterator[tuple[str, list[str]]]:
    """Its address, and the cookies that it was given."""
    given: list[str] = []

    async def lure(request: web.Request) -> web.Response:
        given.append(request.headers.get("Cookie", ""))
        return web.Response(text="Hello.")

    app = web.Application()
    app.router.add_get("/{path:.*}", lure)
    runner = web.AppRunner(app)
    await runner.setup()
    port = own_port()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield f"http://127.0.0.1:{port}/", given
    finally:
        await runner.cleanup()
