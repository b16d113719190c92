"""`/` and `@` in the message box, and what a server has besides tools on its page."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OwnApp
from tests.kit.ledger_file import Ledger
from windlass.testing import say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

HELD: dict[str, Any] = {
    "instructions": "Read <b>doc://a</b> first.",
    "resources": [
        {"uri": "doc://a", "name": "Harbour times", "text": "It opens at nine. <script>alert(1)</script>"},
        {"uri": "doc://picture", "name": "Chart", "blob": "AAEC", "mimeType": "application/zip"},
    ],
    "templates": [{"uriTemplate": "doc://{name}", "name": "Any page"}],
    "prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True}], "text": "Greet {who} kindly."}],
    "completions": {"who": ["Ada", "Alan"]},
}


async def test_a_prompt_is_filled_in_and_a_resource_goes_along(own_app: OwnApp, ledger: Ledger) -> None:
    async with own_app(options=("--library", ledger.library(**HELD))) as app:
        await app.go("/ui/")
        await app.box.press_sequentially("/gre")
        await expect(app.page.get_by_role("option", name="greet ledger")).to_be_visible()
        await app.box.press("Enter")
        form = app.page.get_by_role("group", name="Arguments of greet")
        await expect(form.get_by_role("button", name="Insert")).to_be_disabled()
        await form.get_by_label("who").fill("Al")
        await expect(form.locator("datalist option")).to_have_attribute("value", "Alan")
        await form.get_by_label("who").fill("Ada")
        await form.get_by_label("who").press("Enter")
        await expect(app.box).to_have_value("Greet Ada kindly. ")
        await app.box.press_sequentially("@harb")
        await app.page.get_by_role("option", name="Harbour times doc://a ledger").click()
        tray = app.page.get_by_role("list", name="Attached")
        await expect(tray.get_by_role("listitem")).to_have_count(1)
        await app.page.reload()
        await expect(tray.get_by_role("listitem")).to_have_count(1)
        app.llm.then(say("At nine."))
        await app.box.press("Enter")
        await expect(app.log.get_by_text("At nine.")).to_be_visible()
        asked = app.llm.requests[0].messages[-1]["content"]
        assert asked.startswith("Greet Ada kindly.") and "It opens at nine." in asked
        await app.log.get_by_role("button", name="from ledger").click()
        await expect(app.log.get_by_text("<script>alert(1)</script>")).to_be_visible()
        await expect(tray).to_have_count(0)
        app.watch.is_clean()


async def test_what_cannot_be_attached_comes_back_with_the_words(own_app: OwnApp, ledger: Ledger) -> None:
    async with own_app(options=("--library", ledger.library(**HELD))) as app:
        await app.go("/ui/")
        await app.box.press_sequentially("What is this? @chart")
        await app.page.get_by_role("option", name="Chart doc://picture ledger").click()
        await app.box.press("Enter")
        await expect(app.page.get_by_text("It is not text (application/zip).")).to_be_visible()
        await expect(app.box).to_have_value("What is this? ")
        await expect(app.page.get_by_role("list", name="Attached").get_by_role("listitem")).to_have_count(1)


async def test_a_server_page_has_tabs_previews_and_the_instructions(own_app: OwnApp, ledger: Ledger) -> None:
    async with own_app(options=("--library", ledger.library(**HELD))) as app:
        await app.go("/ui/servers")
        await app.page.get_by_role("row", name="ledger").get_by_role("button", name="ledger", exact=True).click()
        await expect(app.page.get_by_label("Text of the instructions")).to_have_text("Read <b>doc://a</b> first.")
        await app.page.get_by_role("tab", name="Prompts").click()
        await app.page.get_by_role("button", name="greet").click()
        await app.page.get_by_label("who").fill("Bob")
        await app.page.get_by_role("button", name="Try it").click()
        await expect(app.page.get_by_text("Greet Bob kindly.")).to_be_visible()
        await app.page.get_by_role("tab", name="Resources").click()
        await app.page.get_by_role("button", name="Harbour times").click()
        await expect(app.page.get_by_text("It opens at nine.")).to_be_visible()
        await app.page.get_by_role("button", name="Attach to a new chat").click()
        await expect(app.page.get_by_role("list", name="Attached").get_by_text("ledger")).to_be_visible()
        app.watch.is_clean()
