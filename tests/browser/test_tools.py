"""Tool calls as they run: side by side, with progress, stopped, at the limit."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OwnApp
from tests.browser.visit import OpenedApp
from windlass.testing import call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

TRUSTED = {"trusted": True}


async def test_calls_of_one_reply_are_a_group_that_folds_out_of_view_but_for_failures(app: OpenedApp) -> None:
    gate = app.ledger.gate()
    app.llm.then(
        call("read_slow", effect_id="a", gate=gate)
        + call("read_slow", effect_id="b", gate=gate)
        + call("fail", message="no such shelf"),
        say("Done."),
    )
    await app.send("go")
    group = app.log.get_by_role("group", name="3 tools")
    await expect(group.get_by_text("2 running")).to_be_visible()
    await expect(group.get_by_text("1 failed")).to_be_visible()
    await expect(group.get_by_role("button", name="Stop this call")).to_have_count(2)
    app.ledger.open()
    await expect(app.ended("Answered")).to_be_visible()
    await expect(app.call("Read slow")).to_have_count(2)  # nothing folds in view
    await app.page.reload()
    await expect(group.get_by_text("2 done")).to_be_visible()
    await expect(app.call("Read slow")).to_have_count(0)
    await expect(group.get_by_text("no such shelf", exact=True)).to_be_visible()
    assert app.ledger.most_at_once() >= 2


async def test_progress_is_shown_as_it_is_reported(app: OpenedApp) -> None:
    app.llm.then(call("progress", effect_id="a", steps=3, gate=app.ledger.gate("step")), say("Done."))
    await app.send("go")
    await app.ledger.seen("started", "a")
    app.ledger.open("step.1")
    await expect(app.log.get_by_text("step 1 of 3")).to_be_visible()
    await expect(app.log.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "1")
    for step in ("step.2", "step.3"):
        app.ledger.open(step)
    await expect(app.ended("Answered")).to_be_visible()


async def test_the_stop_button_ends_a_turn_in_the_middle_of_a_tool(own_app: OwnApp) -> None:
    async with own_app(TRUSTED) as app:
        app.llm.then(call("read_slow", effect_id="a", gate=app.ledger.gate()), say("Never mind."))
        await app.send("go")
        await app.ledger.seen("started", "a")
        await expect(app.call("Read slow").get_by_role("button", name="Stop this call")).to_be_visible()
        await app.button("Stop the turn (Esc twice)").click()
        await expect(app.log.get_by_text("1 call was running and was told to stop.")).to_be_visible()
        await expect(app.call("Read slow").get_by_text("Stopped by you")).to_be_visible()
        await app.ledger.seen("cancelled", "a")
        await app.log.get_by_role("button", name="Continue").click()
        await expect(app.log.get_by_text("Never mind.")).to_be_visible()


async def test_stopping_one_call_leaves_the_other_running(app: OpenedApp) -> None:
    gate = app.ledger.gate()
    app.llm.then(
        call("record_slow", effect_id="a", gate=gate) + call("read_slow", effect_id="b", gate=gate),
        say("One of two."),
    )
    await app.send("go")
    await app.ledger.seen("started", "a")
    await app.ledger.seen("started", "b")
    await app.call("Record slow").get_by_role("button", name="Stop this call").click()
    await expect(app.call("Record slow").get_by_text("Stopped by you; it may have happened")).to_be_visible()
    await expect(app.call("Read slow").get_by_role("button", name="Stop this call")).to_be_visible()
    app.ledger.open()
    await expect(app.log.get_by_text("One of two.")).to_be_visible()


async def test_a_turn_at_its_limit_says_so_and_goes_on_when_told(own_app: OwnApp) -> None:
    async with own_app(tables={"limits": {"rounds": 2}}) as app:
        app.llm.then(call("echo", text="1"), call("echo", text="2"), say("So far."), say("All of it."))
        await app.send("go")
        await expect(app.log.get_by_text("Stopped at 2 rounds.")).to_be_visible()
        await expect(app.log.get_by_text("So far.", exact=True)).to_be_visible()
        await app.log.get_by_role("button", name="Continue, 2 more").click()
        await expect(app.log.get_by_text("All of it.")).to_be_visible()
        await expect(app.ended("Answered")).to_be_visible()


async def test_a_call_opens_to_its_result_and_a_failed_one_can_be_run_again(app: OpenedApp) -> None:
    app.llm.then(call("echo", text="what was said") + call("fail", message="broken"), say("Done."), say("Done again."))
    await app.send("go")
    await expect(app.ended("Answered")).to_be_visible()
    await app.page.reload()
    await app.log.get_by_role("button", name="1 done").click()
    await app.call("Echo").get_by_role("button", name="Echo").click()
    await expect(app.log.get_by_label("Result", exact=True).get_by_text("what was said")).to_be_visible()
    await app.call("Echo").get_by_role("tab", name="Arguments").click()
    await expect(app.call("Echo").get_by_role("definition").get_by_text("what was said")).to_be_visible()
    await expect(app.call("Echo").get_by_role("button", name="Retry this call")).to_have_count(0)
    await app.call("Fail").get_by_role("button", name="Fail").click()
    await app.call("Fail").get_by_role("button", name="Retry this call").click()
    await expect(app.log.get_by_text("Done again.")).to_be_visible()


async def test_d3_d5_a_server_asks_the_person_in_the_middle_of_a_call(app: OpenedApp) -> None:
    app.llm.then(call("ask", effect_id="a"), say("Thanks."))
    await app.send("go")
    card = app.card("Ask asks you for details")
    await expect(card.get_by_text("Who are you, and how many?")).to_be_visible()
    await expect(card.get_by_text("Required")).to_have_count(0)
    await card.get_by_label("Your name").fill("Ada")
    await app.page.keyboard.press("Escape")
    await expect(card).to_be_focused()
    await app.decide("Ask asks you for details", "Send answers")
    await expect(card.get_by_text("Required")).to_have_count(1)
    await expect(card.get_by_label("Your name")).to_have_value("Ada")
    await card.get_by_label("A number").fill("7")
    await app.decide("Ask asks you for details", "Send answers")
    await expect(app.log.get_by_text("Thanks.")).to_be_visible()
    assert (await app.messages())[2]["content"] == "Ada wants 7"


async def test_d5_a_question_in_another_chat_is_counted_at_its_row_and_in_the_title(app: OpenedApp) -> None:
    app.llm.then(call("ask", effect_id="a"))
    await app.send("go")
    await expect(app.card("Ask asks you for details")).to_be_visible()
    await expect(app.page).to_have_title("(1) go · Windlass")
    await app.button("New chat").click()
    await expect(app.page).to_have_title("(1) Windlass")
    await app.page.reload()
    await expect(app.page).to_have_title("(1) Windlass")
    await expect(app.page.get_by_role("link", name="Has a question")).to_be_visible()
