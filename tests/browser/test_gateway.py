"""A program that calls over MCP and must ask: the person finds its card on the page."""

import asyncio

import pytest
from playwright.async_api import expect

from tests.browser.visit import OpenedApp
from tests.gateway.kit import mcp_client_of, text_of
from tests.kit.ledger_file import Ledger

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_programs_call_is_found_on_activity_and_allowed_there(app: OpenedApp, ledger: Ledger) -> None:
    await app.page.goto(f"{app.server.url}/ui/activity")
    await expect(app.page.get_by_text("Nothing is waiting.")).to_be_visible()
    async with mcp_client_of(f"{app.server.url}/mcp", app.server.token, name="<b>Desk</b>") as client:
        calling = asyncio.ensure_future(client.call_tool("destroy", {"effect_id": "a"}))
        row = app.page.locator(".why").get_by_text("<b>Desk</b> asks: destroy on ledger")
        await expect(row).to_be_visible()
        await app.page.get_by_role("button", name="Show <b>Desk</b> asks: destroy on ledger").click()
        await expect(app.page.get_by_text("Called by <b>Desk</b> 1.2")).to_be_visible()
        await expect(app.page.get_by_role("textbox", name="Message")).to_have_count(0)
        await app.decide("Allow Destroy?", "Allow once")
        assert text_of(await calling) == "recorded a"
    await expect(app.page.get_by_role("link", name="<b>Desk</b> asks")).to_have_count(0)
