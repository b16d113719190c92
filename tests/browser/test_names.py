"""The page under a name of the operator's own, over plain http: browsers send no Sec-Fetch headers there."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.browser.visit import PATIENCE_MS, drawn
from tests.kit.windlass_process import model_settings, windlass
from windlass.testing import StrictLLM, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
NAME = "mybox.test"


async def test_the_page_works_under_an_allowed_name(chromium: Browser, tmp_path: Path) -> None:
    async with (
        StrictLLM([say("Good morning.")]) as llm,
        windlass(tmp_path / "home", "--allow-host", NAME, env=model_settings(llm.base_url)) as server,
    ):
        context = await chromium.new_context()
        context.set_default_timeout(PATIENCE_MS)
        page = await context.new_page()
        await page.goto(server.login_url.replace("127.0.0.1", NAME))
        await drawn(page)
        await page.get_by_role("textbox", name="Message").fill("Hello")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("Good morning.")).to_be_visible()
        await page.reload()
        await expect(page.get_by_text("Good morning.")).to_be_visible()
        await context.close()
