"""What the search in the sidebar finds: an excerpt of what was said, and the chat opened where it was said."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.visit import OpenedApp
from windlass.testing import call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
LONG = "\n\n".join(f"Paragraph {n} of something else." for n in range(60))
# The words that are marked and in view.
MARKED = """() => [...CSS.highlights.get("hit")].filter((range) => {
    const { top, bottom } = range.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
}).map(String)"""


async def test_a_hit_shows_plain_words_and_opens_the_chat_where_they_stand(app: OpenedApp) -> None:
    app.llm.then(
        call("echo", text="a persimmon from the shelf"),
        say(f"A **quince** is `ready`.\n\n{LONG}"),
        say(LONG),
        say(f"{LONG}\n\nThe *Tamarillo* comes last."),
    )
    for text in ("Which fruit?", "And then?", "And last?"):
        await app.send(text)
        await expect(app.ended("Answered").nth(("Which fruit?", "And then?", "And last?").index(text))).to_be_visible()

    search = app.page.get_by_role("textbox", name=re.compile("^Search"))
    for words, excerpt in (
        ("quince", "A quince is ready. Paragraph 0"),
        ("persimmon", "a persimmon from the shelf"),
        ("tamarillo", "The Tamarillo comes last."),
    ):
        await app.page.get_by_label("Messages").evaluate("(box) => box.scrollTo(0, box.scrollHeight)")
        await search.fill(words)
        found = app.page.get_by_role("link", name=re.compile(re.escape(excerpt)))
        assert "<" not in await found.inner_text(), "nothing of what wraps a result for the model"
        await expect(found.locator("mark")).to_have_text(re.compile(words, re.I))
        await found.click()
        await expect(app.log.locator(".hit")).to_contain_text(re.compile(words, re.I))
        assert words in [one.lower() for one in await app.page.evaluate(MARKED)]


async def test_opening_a_chat_and_a_turn_in_it_ask_for_the_servers_once(app: OpenedApp) -> None:
    app.llm.then(say("Well."), call("echo", text="a"), say("Well again."))
    await app.send("Hello")
    await expect(app.ended("Answered")).to_be_visible()
    app.watch.asked.clear()
    await app.page.reload()
    await expect(app.ended("Answered")).to_be_visible()
    await app.send("Again")
    await expect(app.ended("Answered")).to_have_count(2)
    assert [url for url in app.watch.asked if url.endswith("/servers")] == [f"{app.server.url}/servers"]
