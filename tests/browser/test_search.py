"""Seed 000's Extended Search: the button below an answer that was given without the web."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OwnApp
from tests.search.kit import says, site
from windlass.testing import say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
FOUND = '{"results": [{"url": "https://10.0.0.9/prices", "title": "Prices", "content": "Up by 3."}]}'


async def test_the_search_button_asks_the_same_again_with_the_web(own_app: OwnApp) -> None:
    async with site(says(FOUND, kind="application/json")) as engine:
        search = {"backend": "searxng", "searxng_url": engine.url()}
        async with own_app(tables={"web_search": search}) as app:
            app.llm.then(say("From memory."), say("I'll search for that..."), say("They are up by 3 [1]."))
            await app.send("latest stock prices")
            await expect(app.log.get_by_text("From memory.")).to_be_visible()
            assert not engine.requests
            await app.button("Search the web for this").click()
            await expect(app.log.get_by_text("They are up by 3")).to_be_visible()
            await expect(app.log.get_by_role("link", name="Prices")).to_have_attribute(
                "href", "https://10.0.0.9/prices"
            )
            assert [request.query["q"] for request in engine.requests] == ["latest stock prices"]
            assert "Up by 3." in app.llm.requests[-1].results[0]
