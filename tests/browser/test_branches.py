"""Other wordings and other answers: each is a branch, and none is lost."""

import pytest
from playwright.async_api import expect

from tests.browser.visit import OpenedApp
from windlass.testing import say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_an_edited_message_is_a_branch_and_the_picker_leads_back(app: OpenedApp) -> None:
    app.llm.then(say("A cat."), say("It sleeps."), say("A dog."))
    await app.send("Draw a cat")
    await expect(app.ended("Answered")).to_be_visible()
    await app.send("What does it do?")
    await expect(app.ended("Answered")).to_have_count(2)
    first = app.log.get_by_role("article").first
    await first.get_by_role("button", name="Edit and send again").click()
    edited = app.log.get_by_role("textbox", name="Message")
    await expect(edited).to_have_value("Draw a cat")
    await edited.fill("Draw a dog")
    await app.button("Send again").click()
    await expect(app.log.get_by_text("A dog.")).to_be_visible()
    await expect(app.log.get_by_text("A cat.")).to_have_count(0)
    await expect(app.log.get_by_text("2 of 2")).to_be_visible()
    await app.button("Previous message").click()
    await expect(app.log.get_by_text("It sleeps.")).to_be_visible()
    await expect(app.log.get_by_text("A dog.")).to_have_count(0)
    assert [len(request.messages) for request in app.llm.requests] == [2, 4, 2]


async def test_answering_again_keeps_the_first_answer(app: OpenedApp) -> None:
    app.llm.then(say("Perhaps."), say("Certainly."))
    await app.send("Is it so?")
    await expect(app.log.get_by_text("Perhaps.")).to_be_visible()
    await app.button("Answer again").click()
    await expect(app.log.get_by_text("Certainly.")).to_be_visible()
    await expect(app.log.get_by_text("2 of 2")).to_be_visible()
    await app.button("Previous answer").click()
    await expect(app.log.get_by_text("Perhaps.")).to_be_visible()
    await app.page.get_by_role("button", name="Branches of this chat").click()
    await expect(app.page.get_by_role("menuitemcheckbox")).to_have_count(2)
