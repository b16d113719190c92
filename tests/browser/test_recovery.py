"""The server dies under the page with kill -9 and comes back on the same port; nobody reloads."""

import asyncio

import pytest
from playwright.async_api import expect

from tests.browser.visit import OpenedApp
from windlass.testing import Gate, call, say, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_turn_killed_while_the_model_spoke_is_finished_under_the_open_page(app: OpenedApp) -> None:
    gate = Gate()
    app.llm.then(call("echo", text="once"), say("Half a ", wait_for(gate)))
    await app.send("go")
    await expect(app.log.get_by_text("Half a")).to_be_visible()
    await app.server.kill()
    await expect(app.page.get_by_role("alert").get_by_text("Disconnected.")).to_be_visible()
    app.llm.then(say("A whole answer."))
    await app.server.start()
    await expect(app.log.get_by_text("A whole answer.")).to_have_count(1)
    await expect(app.ended("Answered")).to_be_visible()
    await expect(app.log.get_by_text("Half a")).to_have_count(0)
    await expect(app.page.get_by_text("Disconnected.")).to_have_count(0)
    await expect(app.call("Echo")).to_have_count(1)
    assert [m["role"] for m in await app.messages()] == ["user", "assistant", "tool", "assistant"]


async def test_a_call_in_doubt_after_a_kill_is_asked_about_and_resolved(app: OpenedApp) -> None:
    app.llm.then(call("record_slow", effect_id="e1", gate=app.ledger.gate()))
    await app.send("go")
    await app.ledger.seen("started", "e1")
    await expect(app.call("Record slow")).to_be_visible()
    await app.server.kill()
    app.llm.then(say("Noted."))
    await app.server.start()
    card = app.card("Did Record slow happen?")
    await expect(card.get_by_text("No answer was recorded.")).to_be_visible()
    await expect(app.page.get_by_text("1 call needs your approval.")).to_be_visible()
    assert app.llm.unused != []
    await app.decide("Did Record slow happen?", "Mark done")
    await expect(app.log.get_by_text("Noted.")).to_be_visible()
    await expect(app.log.get_by_text("marked done by you")).to_be_visible()
    assert app.ledger.counts() == {"e1": 1}


async def test_an_approval_waits_over_a_kill(app: OpenedApp) -> None:
    app.llm.then(call("destroy", effect_id="e1"), say("Gone."))
    await app.send("go")
    await expect(app.card("Allow Destroy?")).to_be_visible()
    async with asyncio.TaskGroup() as group:
        # It is said for a few seconds only, which may be over before all of the server is up again.
        group.create_task(app.page.get_by_text("Back online. Nothing was missed.").wait_for())
        await app.server.kill()
        await app.server.start()
        await app.server.running("ledger")
    await app.decide("Allow Destroy?", "Allow once")
    await expect(app.log.get_by_text("Gone.")).to_be_visible()
    assert app.ledger.counts() == {"e1": 1}
