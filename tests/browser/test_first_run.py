"""The first run, without a key: starters, sources, the tools picker, a conversation dropped on the page."""

import json
import re

import pytest
from playwright.async_api import expect

from tests.browser.visit import Visit

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

DROPPED = """(text) => {
    const carried = new DataTransfer();
    carried.items.add(new File([text], "talk.json", { type: "application/json" }));
    return carried;
}"""
# The ten seconds in which a deletion can be undone are a person's, and not a busy machine's.
LONGER_UNDO = """() => {
    const really = window.setTimeout;
    window.setTimeout = (act, ms, ...rest) => really(act, ms === 10_000 ? 600_000 : ms, ...rest);
}"""


async def test_starters_fill_the_box_and_send_nothing(demo: Visit) -> None:
    await expect(demo.page.get_by_text("Demo mode.")).to_be_visible()
    await demo.page.get_by_role("button", name="A call that asks first").click()
    await expect(demo.box).to_have_value(re.compile("^/write_note"))
    await expect(demo.box).to_be_focused()
    await demo.page.get_by_role("button", name="Three tools at once").click()
    await expect(demo.box).to_have_value(re.compile("^/get_time"))
    assert (await demo.server.get("/conversations"))["count"] == 0
    await demo.box.press("Enter")
    await expect(demo.ended("Answered")).to_be_visible()
    await expect(demo.log.get_by_text("3 tools")).to_be_visible()


async def test_the_other_starters_show_an_approval_and_sources(demo: Visit) -> None:
    await demo.page.get_by_role("button", name="A call that asks first").click()
    await demo.box.press("Enter")
    await demo.decide("Allow Write a note?", "Allow once")
    await expect(demo.ended("Answered")).to_be_visible()
    await demo.button("New chat").click()
    await demo.page.get_by_role("button", name="An answer with sources").click()
    await demo.box.press("Enter")
    await expect(demo.ended("Answered")).to_be_visible()
    await expect(demo.log.get_by_role("list", name="Sources").get_by_role("listitem").first).to_be_visible()


async def test_the_tools_picker_turns_tools_off_and_makes_them_ask(demo: Visit) -> None:
    await demo.page.get_by_role("button", name=re.compile("^Tools: 7 tools")).click()
    picker = demo.page.get_by_role("dialog", name="Tools of this chat")
    await picker.get_by_role("textbox", name="Search tools").fill("get_time")
    await expect(picker.get_by_role("checkbox", name="Calculator")).to_have_count(0)
    await picker.get_by_role("radiogroup", name="Approval of Time").get_by_role("radio", name="Ask").click()
    await picker.get_by_role("textbox", name="Search tools").fill("")
    await picker.get_by_role("checkbox", name="Calculator").click()
    await expect(picker.get_by_text("6 tools on")).to_be_visible()
    await demo.page.keyboard.press("Escape")
    await expect(picker).to_have_count(0)
    await demo.send("/get_time timezone=UTC\n/calculate expression=1+1")
    await demo.decide("Allow Time?", "Allow once")
    await expect(demo.ended("Answered")).to_be_visible()
    await expect(demo.log.locator(".call")).to_have_count(1)


async def test_a_conversation_is_imported_by_dropping_its_file(demo: Visit) -> None:
    talk = {
        "messages": [{"role": "user", "content": "Who was it?"}, {"role": "assistant", "content": "It was **Ada**."}]
    }
    carried = await demo.page.evaluate_handle(DROPPED, json.dumps(talk))
    await demo.page.dispatch_event("body", "dragover", {"dataTransfer": carried})
    await expect(demo.page.get_by_text("Drop the file to import its chat.")).to_be_visible()
    await demo.page.dispatch_event("body", "drop", {"dataTransfer": carried})
    await demo.opened()
    await expect(demo.log.get_by_text("Who was it?")).to_be_visible()
    await expect(demo.log.locator("strong").get_by_text("Ada")).to_be_visible()
    carried = await demo.page.evaluate_handle(DROPPED, "no JSON")
    await demo.page.dispatch_event("body", "drop", {"dataTransfer": carried})
    await expect(demo.page.get_by_role("alert").get_by_text("talk.json is not a JSON file.")).to_be_visible()


async def test_conversations_are_found_renamed_and_deleted_with_a_way_back(demo: Visit) -> None:
    await demo.send("/calculate expression=6*7")
    await expect(demo.ended("Answered")).to_be_visible()
    menu = demo.page.get_by_role("button", name=re.compile("^Actions for"))
    await menu.click()
    await demo.page.get_by_role("menuitem", name="Rename").click()
    await demo.page.get_by_role("textbox", name="Title").fill("Sums")
    await demo.page.keyboard.press("Enter")
    await expect(demo.page.get_by_role("link", name="Sums")).to_be_visible()
    await expect(demo.page.get_by_role("heading", name="Sums")).to_be_visible()
    await demo.page.keyboard.press("Control+k")
    await expect(demo.page.get_by_role("textbox", name="Search chats")).to_be_focused()
    await demo.page.keyboard.type("calculate")
    await expect(demo.page.get_by_role("link", name="Sums")).to_be_visible()
    await demo.page.get_by_role("textbox", name="Search chats").fill("nothing of the kind")
    await expect(demo.page.get_by_text("Nothing matches")).to_be_visible()
    await demo.page.keyboard.press("Escape")
    await demo.page.evaluate(LONGER_UNDO)
    await menu.click()
    await demo.page.get_by_role("menuitem", name="Delete").click()
    await expect(demo.page.get_by_role("link", name="Sums")).to_have_count(0)
    await demo.button("Undo").click()
    await expect(demo.page.get_by_role("link", name="Sums")).to_be_visible()
