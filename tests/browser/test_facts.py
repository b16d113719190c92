"""What the page says of a turn is what happened: replies, sizes, reasons, failures."""

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OwnApp
from tests.browser.visit import OpenedApp, ledger_table
from tests.kit.ledger_file import Ledger
from windlass.testing import call, error, raw_call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

SIZE = re.compile(r"\d[\d.,]*\s(?:B|kB|MB)")
SENTENCES = [f"Sentence {n} says what the upstream service thinks of this request." for n in range(20)]


async def test_only_the_bytes_of_the_provider_are_called_the_raw_reply(app: OpenedApp) -> None:
    app.llm.then(raw_call("echo", "{'text': 'quoted'}"), say("Well."))
    await app.send("go")
    await expect(app.ended("Answered")).to_be_visible()
    await app.page.get_by_role("button", name="Inspect this turn").click()
    waterfall = app.page.get_by_label("Turn inspector")
    reply = waterfall.get_by_role("tab", name=re.compile("reply"))
    await waterfall.get_by_role("button", name=re.compile("^Round 1")).click()
    await reply.click()
    await expect(reply).to_have_text(re.compile("^Raw reply"))
    raw = app.page.get_by_label("Raw reply", exact=True).last
    await expect(raw).to_contain_text('"choices"')
    await expect(app.page.get_by_text("Original, as the provider sent it")).to_be_visible()
    await waterfall.get_by_role("button", name=re.compile("^Answer")).click()
    await reply.click()
    await expect(reply).to_have_text(re.compile("^Parsed reply"))
    await expect(app.page.get_by_text("Parsed reply, no repairs")).to_be_visible()
    await expect(app.page.get_by_text("Raw reply")).to_have_count(0)


async def test_a_result_has_the_same_size_wherever_it_is_shown(app: OpenedApp) -> None:
    app.llm.then(call("big", chars=200_000), call("echo", text="é" * 1000), say("Well."))
    await app.send("go")
    await expect(app.ended("Answered")).to_be_visible()
    for title, size in (("Big", "200 kB"), ("Echo", "2 kB")):
        row = app.call(title)
        await row.get_by_role("button", name=title).click()
        await expect(row.locator(".call-foot")).to_contain_text(size)
        await row.get_by_role("button", name="Inspect").click()
        inspector = app.page.get_by_label("Turn inspector")
        await inspector.get_by_role("button", name=re.compile(title, re.IGNORECASE)).first.click()
        await inspector.get_by_role("tab", name="Result").click()
        await expect(inspector.locator(".call-foot").last).to_contain_text(size)
        await app.button("Close the inspector").click()
    shown = {size.replace("\xa0", " ") for size in SIZE.findall(await app.call("Big").inner_text())}
    assert "200 kB" in shown and len(shown) == 2, "its own size, and that of what the model saw"


async def test_text_from_outside_is_the_reason_only_once_some_was_read(own_app: OwnApp, tmp_path: Path) -> None:
    attic = Ledger(tmp_path / "attic")
    attic.folder.mkdir()
    unsaid = {name: value for name, value in ledger_table(attic).items() if name != "approval"}
    named = {**unsaid, "enabled": ["record", "destroy", "read_only"]}
    async with own_app(tables={"servers.attic": named}) as app:
        await app.server.running("attic")
        app.llm.then(
            call("attic__record", effect_id="e1") + call("attic__destroy", effect_id="e2"),
            call("attic__read_only", effect_id="page"),
            call("attic__record", effect_id="e3"),
        )
        await app.send("go")
        card = app.card("Allow Destroy?")
        await expect(card.get_by_text("Why it asks")).to_be_visible()
        await expect(card.get_by_text("outside")).to_have_count(0)
        await app.decide("Allow Destroy?", "Allow once")
        card = app.card("Allow Record?")
        await expect(card.get_by_text("This chat has read text from outside, so this call asks.")).to_be_visible()
        await expect(card.get_by_text("It came from")).to_contain_text("attic")
        assert attic.counts() == {"e1": 1, "e2": 1, "page": 1}


async def test_what_a_provider_says_of_a_failure_ends_after_a_whole_sentence(app: OpenedApp) -> None:
    app.llm.then(error(400, "1210", " ".join(SENTENCES)))
    await app.send("go")
    banner = app.log.get_by_role("alert")
    await expect(banner.locator("strong")).to_have_text(re.compile(r"^127\.0\.0\.1\S* refused the request\.$"))
    await banner.get_by_text("Details").click()
    details = await banner.locator("details p").inner_text()
    assert details.endswith(tuple(SENTENCES)) and len(details) < len(" ".join(SENTENCES))


async def test_a_yes_or_no_is_asked_under_its_description(own_app: OwnApp, ledger: Ledger) -> None:
    stubborn = {"type": "boolean", "description": "Go on when told to stop"}
    schema = {"type": "object", "properties": {"text": {"type": "string"}, "stubborn": stubborn}}
    definitions = ledger.folder / "tools.json"
    definitions.write_text(json.dumps([{"name": "wait", "description": "Wait.", "inputSchema": schema}]))
    async with own_app({"approval": "ask"}, ("--tools", str(definitions))) as app:
        app.llm.then(call("wait", text="a"))
        await app.send("go")
        await app.decide("Allow Wait?", "Edit")
        box = app.page.get_by_role("checkbox", name="stubborn")
        await expect(box).to_have_accessible_description("Go on when told to stop")
        await expect(app.card("Allow Wait?").get_by_text("Go on when told to stop")).to_be_visible()
