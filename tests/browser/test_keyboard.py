"""The main flow without a mouse."""

import pytest
from playwright.async_api import Locator, expect

from tests.browser.visit import OpenedApp, Visit
from windlass.testing import call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def tab_to(visit: Visit, wanted: Locator, most: int = 60) -> None:
    """Press Tab until it has the focus."""
    for _ in range(most):
        await visit.page.keyboard.press("Tab")
        if await wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"{most} tabs do not lead to {wanted}")


async def test_the_main_flow_needs_no_mouse(app: OpenedApp) -> None:
    keys = app.page.keyboard
    app.llm.then(call("destroy", effect_id="e1"), say("It is gone."))
    await tab_to(app, app.page.get_by_role("link", name="Skip to the message box"), 1)
    await keys.press("Enter")
    await expect(app.box).to_be_focused()
    await keys.type("Destroy it")
    await keys.press("Shift+Enter")
    await keys.type("now")
    await keys.press("Enter")
    card = app.card("Allow Destroy?")
    await expect(card).to_be_visible()
    await keys.press("Alt+w")
    await expect(card).to_be_focused()
    await keys.press("Enter")
    assert not app.ledger.counts()
    await app.past_the_guard()
    await tab_to(app, card.get_by_role("button", name="Allow once"))
    await keys.press("Enter")
    await expect(app.log.get_by_text("It is gone.")).to_be_visible()
    await expect(app.ended("Answered")).to_be_visible()
    assert app.llm.requests[0].user_text == "Destroy it\nnow"
    await keys.press("Alt+ArrowUp")
    await expect(app.log.get_by_role("article")).to_be_focused()
    await tab_to(app, app.call("Destroy").get_by_role("button", name="Destroy"))
    await keys.press("Space")
    await expect(app.log.get_by_role("tab", name="Result")).to_be_visible()
    await keys.press("Alt+i")
    inspector = app.page.get_by_label("Turn inspector")
    await expect(inspector.get_by_role("tab", name="Prompt sent")).to_be_visible()
    await keys.press("Escape")
    await expect(inspector.get_by_role("tab", name="Prompt sent")).to_have_count(0)
    await keys.press("Control+k")
    await expect(app.page.get_by_role("textbox", name="Search chats")).to_be_focused()
    await keys.type("destroy")
    await expect(app.page.get_by_role("link", name="Destroy it")).to_be_visible()
    await keys.press("ArrowDown")
    await expect(app.page.get_by_role("link", name="Destroy it")).to_be_focused()


async def test_a_drawer_holds_the_focus_and_gives_it_back(app: OpenedApp) -> None:
    await app.page.set_viewport_size({"width": 800, "height": 800})
    opener = app.button("Open the sidebar")
    await opener.focus()
    await app.page.keyboard.press("Enter")
    drawer = app.page.get_by_role("dialog", name="Chats")
    await expect(drawer).to_be_visible()
    for _ in range(12):
        await app.page.keyboard.press("Tab")
        assert await drawer.evaluate("element => element.contains(document.activeElement)")
    await app.page.keyboard.press("Escape")
    await expect(drawer).to_have_count(0)
    await expect(opener).to_be_focused()
