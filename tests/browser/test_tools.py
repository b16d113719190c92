"""Tool calls as they run: side by side, with progress, stopped, at the limit."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OwnHouse
from tests.browser.visit import House
from windlass.testing import call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

TRUSTED = {"trusted": True}


async def test_calls_of_one_reply_are_a_group_that_folds_and_leaves_failures_open(house: House) -> None:
    gate = house.ledger.gate()
    house.llm.then(
        call("read_slow", effect_id="a", gate=gate)
        + call("read_slow", effect_id="b", gate=gate)
        + call("fail", message="no such shelf"),
        say("Done."),
    )
    await house.send("go")
    group = house.log.get_by_role("group", name="3 tools")
    await expect(group.get_by_text("2 running")).to_be_visible()
    await expect(group.get_by_text("1 failed")).to_be_visible()
    await expect(group.get_by_role("button", name="Stop this call")).to_have_count(2)
    house.ledger.open()
    await expect(house.ended("Answered")).to_be_visible()
    await expect(group.get_by_text("2 done")).to_be_visible()
    await expect(group.get_by_text("no such shelf", exact=True)).to_be_visible()
    assert house.ledger.most_at_once() >= 2


async def test_progress_is_shown_as_it_is_reported(house: House) -> None:
    house.llm.then(call("progress", effect_id="a", steps=3, gate=house.ledger.gate("step")), say("Done."))
    await house.send("go")
    await house.ledger.seen("started", "a")
    house.ledger.open("step.1")
    await expect(house.log.get_by_text("step 1 of 3")).to_be_visible()
    await expect(house.log.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "1")
    for step in ("step.2", "step.3"):
        house.ledger.open(step)
    await expect(house.ended("Answered")).to_be_visible()


async def test_the_stop_button_ends_a_turn_in_the_middle_of_a_tool(own_house: OwnHouse) -> None:
    async with own_house(TRUSTED) as house:
        house.llm.then(call("read_slow", effect_id="a", gate=house.ledger.gate()), say("Never mind."))
        await house.send("go")
        await house.ledger.seen("started", "a")
        await expect(house.ended("Running 1 tool")).to_be_visible()
        await house.button("Stop the turn (Escape)").click()
        await expect(house.log.get_by_text("1 call was running and was told to stop.")).to_be_visible()
        await expect(house.call("Read slow").get_by_text("Stopped by you")).to_be_visible()
        await house.ledger.seen("cancelled", "a")
        await house.log.get_by_role("button", name="Continue").click()
        await expect(house.log.get_by_text("Never mind.")).to_be_visible()


async def test_stopping_one_call_leaves_the_other_running(house: House) -> None:
    gate = house.ledger.gate()
    house.llm.then(
        call("record_slow", effect_id="a", gate=gate) + call("read_slow", effect_id="b", gate=gate),
        say("One of two."),
    )
    await house.send("go")
    await house.ledger.seen("started", "a")
    await house.ledger.seen("started", "b")
    await house.call("Record slow").get_by_role("button", name="Stop this call").click()
    await expect(house.call("Record slow").get_by_text("Outcome unknown")).to_be_visible()
    await expect(house.call("Read slow").get_by_role("button", name="Stop this call")).to_be_visible()
    house.ledger.open()
    await expect(house.log.get_by_text("One of two.")).to_be_visible()


async def test_a_turn_at_its_limit_says_so_and_goes_on_when_told(own_house: OwnHouse) -> None:
    async with own_house(tables={"limits": {"rounds": 2}}) as house:
        house.llm.then(call("echo", text="1"), call("echo", text="2"), say("So far."), say("All of it."))
        await house.send("go")
        await expect(house.log.get_by_text("Stopped at 2 rounds.")).to_be_visible()
        await expect(house.log.get_by_text("So far.", exact=True)).to_be_visible()
        await house.log.get_by_role("button", name="Continue, 2 more").click()
        await expect(house.log.get_by_text("All of it.")).to_be_visible()
        await expect(house.ended("Answered")).to_be_visible()


async def test_a_call_opens_to_its_result_and_a_failed_one_can_be_run_again(house: House) -> None:
    house.llm.then(
        call("echo", text="what was said") + call("fail", message="broken"), say("Done."), say("Done again.")
    )
    await house.send("go")
    await expect(house.ended("Answered")).to_be_visible()
    await house.log.get_by_role("button", name="1 done").click()
    await house.call("Echo").get_by_role("button", name="Echo").click()
    await expect(house.log.get_by_label("Result", exact=True).get_by_text("what was said")).to_be_visible()
    await house.call("Echo").get_by_role("tab", name="Arguments").click()
    await expect(house.call("Echo").get_by_role("definition").get_by_text("what was said")).to_be_visible()
    await expect(house.call("Echo").get_by_role("button", name="Retry this call")).to_have_count(0)
    await house.call("Fail").get_by_role("button", name="Retry this call").click()
    await expect(house.log.get_by_text("Done again.")).to_be_visible()


async def test_a_server_asks_the_person_in_the_middle_of_a_call(house: House) -> None:
    house.llm.then(call("ask", effect_id="a"), say("Thanks."))
    await house.send("go")
    card = house.card("Ask asks you for details")
    await expect(card.get_by_text("Who are you, and how many?")).to_be_visible()
    await expect(card.get_by_role("button", name="Send answers")).to_be_disabled()
    await card.get_by_label("Your name").fill("Ada")
    await card.get_by_label("A number").fill("7")
    await house.decide("Ask asks you for details", "Send answers")
    await expect(house.log.get_by_text("Thanks.")).to_be_visible()
    assert (await house.messages())[2]["content"] == "Ada wants 7"
