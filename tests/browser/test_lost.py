"""Answers that are lost on the way, and two windows that do the same: nothing is said twice, nothing is lost."""

from urllib.parse import urlsplit

import pytest
from playwright.async_api import Route, expect

from tests.browser.visit import OpenedApp
from windlass.testing import Gate, say, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_message_whose_answer_was_lost_is_neither_lost_nor_sent_twice(app: OpenedApp) -> None:
    app.llm.then(say("Yes."))

    async def lose(route: Route) -> None:
        await app.server.post(urlsplit(route.request.url).path, route.request.post_data_json)
        await route.abort()

    await app.page.route("**/chat", lose)
    await app.send("hello")
    await expect(app.ended("Answered")).to_be_visible()
    await expect(app.box).to_have_value("")
    await expect(app.page.get_by_role("alert")).to_have_count(0)
    assert [m["content"] for m in await app.messages()] == ["hello", "Yes."]


async def test_a_queued_message_is_sent_once_from_two_windows(app: OpenedApp) -> None:
    gate = Gate()
    app.llm.then(say("One", wait_for(gate), "."), say("Two."))
    await app.send("first")
    await expect(app.log.get_by_text("One")).to_be_visible()
    await app.send("second")
    other = await app.context.new_page()
    await other.goto(app.page.url)
    await expect(other.get_by_text("Queued: “second”")).to_be_visible()
    await expect(other.get_by_role("log").get_by_text("One")).to_be_visible()
    gate.open()
    for page in (app.page, other):
        await expect(page.get_by_role("log").get_by_text("Two.")).to_be_visible()
        await expect(page.get_by_role("alert")).to_have_count(0)
    assert [m["content"] for m in await app.messages()] == ["first", "One.", "second", "Two."]
