"""The page at 200 %: a window of 1280 by 800 has room for 640 by 400, and everything in it can still be reached."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect

from tests.browser.conftest import OwnApp
from tests.browser.screens import OVERFLOW
from tests.browser.visit import OpenedApp, drawn, new_window
from windlass.testing import call

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PAGES = ("Permissions", "Settings", "Servers", "Models", "Account", "Activity")
ZOOMED = {"width": 640, "height": 400}
# Focused one after the other, with a frame for what follows from it, each must be whole, in the window, under nothing.
UNREACHED = """async (box) => {
    const frame = () => new Promise(requestAnimationFrame);
    const found = [];
    for (const element of box.querySelectorAll("button:enabled, textarea, input, select")) {
        if (!element.checkVisibility()) continue;
        element.focus();
        await frame();
        await frame();
        const { left, right, top, bottom } = element.getBoundingClientRect();
        const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        const inside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
        if (!inside || !element.contains(over)) found.push([element.outerHTML.slice(0, 160), left, top, right, bottom]);
    }
    return found;
}"""


async def test_at_200_percent_a_card_and_the_composer_are_in_view_and_each_button_is_reached(
    own_app: OwnApp, chromium: Browser
) -> None:
    async with own_app({"approval": "ask"}) as opened, zoomed(opened, chromium) as app:
        app.llm.then(call("record", effect_id="e1") + call("destroy", effect_id="e2" * 200))
        await app.send("go")
        card = app.page.locator(".ask-card")
        allow = card.get_by_role("button", name="Allow once")
        await expect(allow).to_be_visible()
        await all_in_reach(app, "the question")
        for button in ("Always allow…", "Edit", "Deny…"):
            await app.decide("Allow Record?", button)
            await expect(allow).to_have_count(0)
            await all_in_reach(app, button)
            await card.focus()
            await app.page.keyboard.press("Escape")
            await expect(allow).to_be_visible()


async def test_at_200_percent_no_page_scrolls_sideways(own_app: OwnApp, chromium: Browser) -> None:
    async with own_app() as opened, zoomed(opened, chromium) as app:
        found: dict[str, Any] = {}
        for name in PAGES:
            await app.go(f"/ui/{name.lower()}")
            await expect(app.page.get_by_role("heading", name=name, exact=True)).to_be_visible()
            await expect(app.page.locator("[aria-busy=true], .skeleton")).to_have_count(0)
            found[name] = await app.page.evaluate(OVERFLOW) + await unreached(app.page.locator("main"))
        assert {name: those for name, those in found.items() if those} == {}


@asynccontextmanager
async def zoomed(app: OpenedApp, chromium: Browser) -> AsyncIterator[OpenedApp]:
    """The same session in a window at 200 %."""
    session = await app.context.storage_state()
    more = {"device_scale_factor": 2, "storage_state": session}
    async with new_window(chromium, app.server.url, ZOOMED, **more) as (context, page, watch):
        await page.goto(app.server.url + "/ui/")
        await drawn(page)
        yield replace(app, context=context, page=page, watch=watch)


async def all_in_reach(app: OpenedApp, what: str) -> None:
    assert await app.page.evaluate(OVERFLOW) == [], what
    assert await unreached(app.page.locator(".ask-card")) == [], what
    assert await unreached(app.page.locator(".composer")) == [], what


async def unreached(box: Locator) -> list[Any]:
    return list(await box.evaluate(UNREACHED))
