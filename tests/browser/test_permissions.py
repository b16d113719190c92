"""What was allowed on a card: saved as shown, for the server that the call goes to, listed, heeded, taken back."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OwnApp
from tests.browser.visit import OpenedApp, ledger_table
from tests.kit.ledger_file import Ledger
from windlass.testing import call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_d1_d2_always_names_saves_and_revokes_the_right_one_of_two_servers(
    own_app: OwnApp, tmp_path: Path
) -> None:
    attic = Ledger(tmp_path / "attic")
    attic.folder.mkdir()
    unsaid = {name: value for name, value in ledger_table(attic).items() if name != "approval"}
    async with own_app({"trusted": True}, tables={"servers.attic": unsaid}) as app:
        await app.server.running("attic")
        app.llm.then(call("attic__record", effect_id="a1"), say("First."))
        await app.send("go")
        card = app.card("Allow Record?")
        await expect(card.locator(".srv")).to_have_text("atticnot trusted")
        await expect(card.get_by_text("Also exists on ledger. This call goes to attic.")).to_be_visible()
        await expect(card.get_by_text("Not trusted: its hints are ignored.")).to_be_visible()
        await expect(card.get_by_role("button", name="Allow all tools of attic in this chat")).to_be_visible()
        await app.decide("Allow Record?", "Always allow…")
        await expect(app.card("Always allow Record?").get_by_text("attic.record", exact=True)).to_be_visible()
        await app.past_the_guard()
        await app.page.get_by_role("radio", name="Any").click()
        await app.decide("Always allow Record?", "Save grant and allow")
        await expect(app.log.get_by_text("First.")).to_be_visible()
        await expect(app.call("Record").locator(".badge")).to_have_text("attic")

        await app.log.get_by_role("link", name="always allowed").click()
        line = app.page.get_by_role("row", name="attic.record")
        await expect(line).to_be_focused()
        summary = "All but 1 of ledger\u2019s tools and 1 other tool may act without asking."
        await expect(app.page.get_by_text(summary)).to_be_visible()
        [grant] = [one for one in (await app.server.get("/permissions"))["permissions"] if one["kind"] == "grant"]
        assert (grant["server"], grant["tool"], grant["scope"]) == ("attic", "record", "always")

        app.llm.then(call("attic__record", effect_id="a2"), say("Second."))
        await in_a_new_chat(app)
        await expect(app.log.get_by_text("Second.")).to_be_visible()
        assert attic.counts() == {"a1": 1, "a2": 1}

        await app.go("/ui/permissions")
        await line.get_by_role("button", name="Revoke").click()
        await expect(app.page.get_by_text("Revoked. The next call asks again.")).to_be_visible()
        app.llm.then(call("attic__record", effect_id="a3"))
        await in_a_new_chat(app)
        await expect(card.locator(".srv")).to_have_text("atticnot trusted")
        assert attic.counts() == {"a1": 1, "a2": 1}
        assert not app.ledger.counts()


async def in_a_new_chat(app: OpenedApp) -> None:
    await app.button("New chat").click()
    await app.send("go")
