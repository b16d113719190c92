"""Calls that wait for a person: allowed, changed, denied, stopped, in doubt."""

import json

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OwnApp
from tests.browser.visit import PHONE, WIDE, OpenedApp
from windlass.testing import call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ASKS = {"approval": "ask"}
# A key in the moment in which a card appears: no press from here is that early.
PRESS_AT_ONCE = """([question, key]) => new MutationObserver((_, watcher) => {
    const card = [...document.querySelectorAll(".ask-card")].find(({ textContent }) => textContent.includes(question));
    if (!card) return;
    watcher.disconnect();
    card.focus();
    card.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    card.dataset.pressed = key;
}).observe(document.body, { childList: true, subtree: true })"""
HEIGHTS = "(card) => [...card.querySelectorAll('.btn, .ask-line')].map((button) => button.offsetHeight)"


async def test_a_call_waits_for_a_person_over_a_reload_and_runs_when_allowed(own_app: OwnApp) -> None:
    async with own_app(ASKS) as app:
        app.llm.then(call("record", effect_id="e1"), say("Recorded."))
        await app.send("go")
        await expect(app.card("Allow Record?")).to_be_visible()
        assert not app.ledger.counts()
        await app.page.reload()
        card = app.card("Allow Record?")
        await expect(card.get_by_text("e1")).to_be_visible()
        await expect(card.get_by_text("Why it asks")).to_be_visible()
        await expect(app.page).to_have_title("(1) go · Windlass")
        await expect(app.page.get_by_role("link", name="1 needs approval")).to_be_visible()
        await app.decide("Allow Record?", "Allow once")
        await expect(app.log.get_by_text("Recorded.")).to_be_visible()
        await expect(app.log.get_by_text("allowed once")).to_be_visible()
        await expect(app.page).to_have_title("go · Windlass")
        assert app.ledger.counts() == {"e1": 1}


async def test_allowing_for_the_chat_asks_no_more_in_it(own_app: OwnApp) -> None:
    async with own_app(ASKS) as app:
        app.llm.then(call("record", effect_id="e1"), call("record", effect_id="e2"), say("Twice."))
        await app.send("go")
        await app.decide("Allow Record?", "Allow in this chat")
        await expect(app.log.get_by_text("Twice.")).to_be_visible()
        assert app.ledger.counts() == {"e1": 1, "e2": 1}


async def test_d3_a_denial_and_its_reason_outlive_escape_and_reach_the_model(own_app: OwnApp) -> None:
    async with own_app(ASKS) as app:
        app.llm.then(call("record", effect_id="e1"), say("As you wish."))
        await app.send("go")
        await app.decide("Allow Record?", "Deny…")
        card = app.card("Deny Record?")
        await card.get_by_label("Reason for the model").fill("not on a Sunday")
        await app.page.keyboard.press("Escape")
        await app.decide("Allow Record?", "Deny…")
        await expect(card.get_by_label("Reason for the model")).to_have_value("not on a Sunday")
        await app.decide("Deny Record?", "Deny this call")
        await expect(app.log.get_by_text("As you wish.")).to_be_visible()
        await expect(app.call("Record").get_by_text("Denied by you")).to_be_visible()
        assert "not on a Sunday" in app.llm.requests[-1].results[-1]
        assert not app.ledger.counts()


async def test_d3_changed_arguments_outlive_escape_and_are_what_is_sent(own_app: OwnApp) -> None:
    async with own_app(ASKS) as app:
        app.llm.then(call("record", effect_id="e1"), say("Recorded."))
        await app.send("go")
        card = app.card("Allow Record?")
        allow = card.get_by_role("button", name="Allow once")
        await app.decide("Allow Record?", "Edit")
        await card.get_by_role("textbox", name="effect_id").fill("")
        await app.page.keyboard.press("Escape")
        await expect(card.get_by_text("fit the tool yet.")).to_be_visible()
        await expect(allow).to_be_disabled()
        await app.decide("Allow Record?", "Edit")
        await card.get_by_role("textbox", name="effect_id").fill("e2")
        await app.page.keyboard.press("Escape")
        await expect(card.get_by_text("You changed 1 argument. The model is told.")).to_be_visible()
        await expect(card.get_by_role("deletion")).to_have_text("\N{MINUS SIGN}was e1")
        await expect(card.get_by_role("insertion")).to_have_text("+now e2")
        await app.decide("Allow Record?", "Edit")
        await expect(card.get_by_text("1 changed")).to_be_visible()
        await app.past_the_guard()
        await card.get_by_role("tab", name="JSON").click()
        area = card.get_by_role("textbox", name="Arguments as JSON")
        assert json.loads(await area.input_value()) == {"effect_id": "e2"}
        await area.fill('{"effect_id": "e3"}')
        await card.get_by_role("button", name="Use changes").click()
        await app.decide("Allow Record?", "Allow once")
        await expect(app.log.get_by_text("allowed once, edited")).to_be_visible()
        await expect(app.log.get_by_text("Recorded.")).to_be_visible()
        assert app.ledger.counts() == {"e3": 1}


async def test_d3_escape_in_always_allow_goes_back_one_step_and_a_second_decides_nothing(own_app: OwnApp) -> None:
    async with own_app(ASKS) as app:
        app.llm.then(call("record", effect_id="e1"), say("Recorded."))
        await app.send("go")
        card, always = app.card("Allow Record?"), app.card("Always allow Record?")
        await app.decide("Allow Record?", "Always allow…")
        await app.past_the_guard()
        await always.get_by_role("radio", name="This chat").click()
        await app.page.keyboard.press("Escape")
        await expect(always).to_have_count(0)
        await expect(card).to_be_focused()
        await app.page.keyboard.press("Escape")
        await expect(card.get_by_role("button", name="Allow once")).to_be_enabled()
        await expect(card).to_be_focused()
        await app.decide("Allow Record?", "Always allow…")
        await expect(always.get_by_role("radio", name="This chat")).to_be_checked()
        assert not app.ledger.counts() and not [url for url in app.watch.asked if url.endswith("/decision")]
        await app.page.keyboard.press("Escape")
        await app.decide("Allow Record?", "Allow once")
        await expect(app.log.get_by_text("Recorded.")).to_be_visible()
        kinds = [one["kind"] for one in (await app.server.get("/permissions"))["permissions"]]
        assert "grant" not in kinds and app.ledger.counts() == {"e1": 1}


async def test_d3_escape_stops_a_turn_only_when_pressed_twice_and_decides_nothing(app: OpenedApp) -> None:
    app.llm.then(call("destroy", effect_id="e1"))
    await app.send("go")
    card = app.card("Allow Destroy?")
    await expect(card).to_be_visible()
    await app.page.keyboard.press("Escape")
    await expect(app.page.get_by_text("Press Esc again to stop")).to_be_visible()
    await expect(app.page.get_by_text("Press Esc again to stop")).to_have_count(0)
    await expect(card).to_be_visible()
    await app.page.keyboard.press("Escape")
    await app.page.keyboard.press("Escape")
    await expect(app.ended("Stopped")).to_be_visible()
    await expect(card).to_have_count(0)
    await expect(app.page).to_have_title("go · Windlass")
    assert not app.ledger.counts()


async def test_several_calls_share_a_card_and_a_group_allow_never_holds_a_destructive_one(own_app: OwnApp) -> None:
    async with own_app(ASKS) as app:
        reply = call("record", effect_id="e1") + call("destroy", effect_id="e2") + call("idempotent", effect_id="e3")
        app.llm.then(reply, say("Two of three."))
        await app.send("go")
        await expect(app.page).to_have_title("(3) go · Windlass")
        card = app.card("3 calls need your approval")
        await expect(card.get_by_text("Destructive calls are decided one by one.")).to_be_visible()
        await app.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        assert min(await card.evaluate(HEIGHTS)) >= 44
        await app.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        await card.focus()
        await app.page.keyboard.press("j")
        await expect(app.card("Allow Destroy?").get_by_text("2 of 3")).to_be_visible()
        await app.past_the_guard()
        await app.page.keyboard.press("a")
        await expect(card.get_by_text("Press A again to allow it once.")).to_be_visible()
        await app.decide("3 calls need your approval", "Allow 2 once…")
        names = app.card("Allow 2 calls once?").get_by_role("listitem")
        await expect(names).to_have_text(["Record on ledger", "Idempotent on ledger"])
        await app.past_the_guard()
        await card.get_by_role("button", name="Allow these 2 once").click()
        await app.decide("Allow Destroy?", "Deny…")
        await app.decide("Deny Destroy?", "Deny this call")
        await expect(app.log.get_by_text("Two of three.")).to_be_visible()
        assert app.ledger.counts() == {"e1": 1, "e3": 1}


async def test_letters_decide_only_from_the_cards_frame_and_after_its_first_moments(own_app: OwnApp) -> None:
    async with own_app(ASKS) as app:
        app.llm.then(call("record", effect_id="e1"), call("destroy", effect_id="e2"), say("As you wish."))
        keys = app.page.keyboard
        await app.send("go")
        await expect(app.card("Allow Record?")).to_be_visible()
        await app.past_the_guard()
        await app.box.focus()
        await keys.type("ad")
        await expect(app.box).to_have_value("ad")
        await expect(app.card("Allow Record?")).to_be_visible()
        await app.box.fill("")
        await app.card("Allow Record?").focus()
        await app.page.evaluate(PRESS_AT_ONCE, ["Allow Destroy?", "d"])
        await keys.press("a")
        await expect(app.card("Allow Destroy?")).to_have_attribute("data-pressed", "d")
        await expect(app.card("Deny Destroy?")).to_have_count(0)
        await app.past_the_guard()
        await keys.press("a")
        await expect(app.card("Allow Destroy?").get_by_text("Press A again")).to_be_visible()
        assert app.ledger.counts() == {"e1": 1}
        await app.past_the_guard()
        await keys.press("d")
        await expect(app.card("Deny Destroy?").get_by_label("Reason for the model")).to_be_focused()
        await keys.press("Escape")
        await expect(app.card("Allow Destroy?")).to_be_focused()
        await app.past_the_guard()
        await keys.press("a")
        await app.past_the_guard()
        await keys.press("a")
        await expect(app.log.get_by_text("As you wish.")).to_be_visible()
        assert app.ledger.counts() == {"e1": 1, "e2": 1}
