"""Saying something and seeing the answer come; reloading, a second tab, a draft."""

import asyncio

import pytest
from playwright.async_api import Route, expect

from tests.browser.visit import OpenedApp, Visit
from windlass.testing import Gate, call, say, think, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_the_answer_is_shown_while_it_is_written(app: OpenedApp) -> None:
    gate = Gate()
    app.llm.then(think("Let me see.") + say("The first half, ", wait_for(gate), "and the **second** half."))
    await app.send("Hello,\nyou there")
    await expect(app.log.get_by_text("The first half,")).to_be_visible()
    await expect(app.log.get_by_text("second")).to_have_count(0)
    await expect(app.log.locator("footer")).to_have_count(0)
    await expect(app.box).to_have_value("")
    gate.open()
    await expect(app.log.locator("strong").get_by_text("second")).to_be_visible()
    await expect(app.ended("Answered")).to_be_visible()
    await expect(app.log.get_by_text("Thought for")).to_be_visible()
    said = app.log.get_by_text("Hello,")
    assert await said.inner_text() == "Hello,\nyou there"


async def test_a_reload_in_mid_stream_loses_nothing_and_shows_nothing_twice(app: OpenedApp) -> None:
    gate, late = Gate(), Gate()
    app.llm.then(
        call("echo", text="seen"), say("The first half, ", wait_for(gate), "the second, ", wait_for(late), "the end.")
    )
    await app.send("Hello")
    await expect(app.log.get_by_text("The first half,")).to_be_visible()
    await app.page.reload()
    await expect(app.log.get_by_text("The first half,")).to_have_count(1)
    gate.open()
    await expect(app.log.get_by_text("The first half, the second,")).to_be_visible()
    await app.page.reload()
    late.open()
    await expect(app.log.get_by_text("The first half, the second, the end.")).to_have_count(1)
    await expect(app.ended("Answered")).to_be_visible()
    await expect(app.log.locator("article")).to_have_count(1)
    await expect(app.call("Echo")).to_have_count(1)
    assert [message["role"] for message in await app.messages()] == ["user", "assistant", "tool", "assistant"]


async def test_two_tabs_show_the_same_and_a_decision_in_one_is_seen_in_the_other(app: OpenedApp) -> None:
    gate = Gate()
    app.llm.then(call("destroy", effect_id="e1"), say("It is ", wait_for(gate), "gone."))
    await app.send("Hello")
    await app.opened()
    other = await app.context.new_page()
    await other.goto(app.page.url)
    await expect(other.get_by_role("group", name="Allow Destroy?")).to_be_visible()
    await app.decide("Allow Destroy?", "Allow once")
    await expect(other.get_by_role("group", name="Allow Destroy?")).to_have_count(0)
    await expect(other.get_by_text("Decided in another window: allowed once.")).to_be_visible()
    for page in (app.page, other):
        await expect(page.get_by_text("allowed once", exact=True)).to_be_visible()
        await expect(page.get_by_role("log").get_by_text("It is")).to_be_visible()
    gate.open()
    for page in (app.page, other):
        await expect(page.get_by_role("log").get_by_text("It is gone.")).to_have_count(1)
    assert app.ledger.counts() == {"e1": 1}


async def test_a_draft_is_kept_over_a_reload_and_is_gone_once_sent(app: OpenedApp) -> None:
    app.llm.then(say("Yes."), say("Again."))
    await app.box.fill("half a thought")
    await app.page.reload()
    await expect(app.box).to_have_value("half a thought")
    await app.box.press("Enter")
    await expect(app.ended("Answered")).to_be_visible()
    await expect(app.box).to_have_value("")
    await app.box.fill("and another")
    await app.page.reload()
    await expect(app.box).to_have_value("and another")
    await app.box.press("Enter")
    await expect(app.ended("Answered")).to_have_count(2)
    await app.page.reload()
    await expect(app.ended("Answered")).to_have_count(2)
    await expect(app.box).to_have_value("")
    await app.go("/")
    await expect(app.box).to_have_value("")


async def test_a_message_sent_before_the_conversation_is_shown_follows_its_last_turn(app: OpenedApp) -> None:
    app.llm.then(say("Yes."), say("Again."))
    await app.send("first")
    await expect(app.ended("Answered")).to_be_visible()
    shown = asyncio.Event()

    async def hold(route: Route) -> None:
        await shown.wait()
        await route.continue_()

    await app.page.route("**/events", hold)
    await app.page.reload()
    async with app.page.expect_response("**/chat"):
        await app.send("second")
    shown.set()
    await expect(app.ended("Answered")).to_have_count(2)
    assert [m["content"] for m in await app.messages()] == ["first", "Yes.", "second", "Again."]


async def test_a_question_in_the_address_fills_the_box_and_is_never_sent(demo: Visit) -> None:
    await demo.go("/?q=/write_note%20title=a%20text=b")
    await expect(demo.box).to_have_value("/write_note title=a text=b")
    assert "q=" not in demo.page.url
    await demo.page.reload()
    await expect(demo.box).to_have_value("/write_note title=a text=b")
    found = await demo.server.get("/conversations")
    assert found["count"] == 0


async def test_messages_sent_during_a_turn_follow_it_one_by_one(app: OpenedApp) -> None:
    gate = Gate()
    app.llm.then(say("One ", wait_for(gate), "done."), say("Two done."), say("Three done."))
    await app.send("first")
    await expect(app.log.get_by_text("One")).to_be_visible()
    for text in ("second", "third"):
        await app.send(text)
        await expect(app.page.get_by_text(f"Queued: “{text}”")).to_be_visible()
    gate.open()
    await expect(app.log.get_by_text("Three done.")).to_be_visible()
    await expect(app.ended("Answered")).to_have_count(3)
    contents = [message["content"] for message in await app.messages()]
    assert contents == ["first", "One done.", "second", "Two done.", "third", "Three done."]


async def test_what_was_said_before_a_stop_stays_to_be_read(app: OpenedApp) -> None:
    gate = Gate()
    app.llm.then(say("Roses are red, violets are ", wait_for(gate), "blue."))
    await app.send("a poem")
    words = app.log.get_by_text("Roses are red, violets are")
    await expect(words).to_be_visible()
    await app.button("Stop the turn (Esc twice)").click()
    await expect(app.log.get_by_text("Stopped.", exact=True)).to_be_visible()
    await expect(words).to_be_visible()
    gate.open()
    await app.page.reload()
    await expect(words).to_be_visible()
