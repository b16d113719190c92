"""The servers page: a crash is seen and got over, drafts come from other clients' files, a tool that changed is off."""

import json
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OwnApp
from tests.browser.visit import PHONE, OpenedApp, ledger_table
from tests.kit.ledger_file import Ledger
from windlass.testing import call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_server_that_crashes_is_seen_to_start_again(own_app: OwnApp, ledger: Ledger) -> None:
    gate = ledger.folder / "start"
    gate.touch()
    async with own_app(options=("--start-gate", str(gate))) as app:
        other = await app.context.new_page()
        await other.goto(app.server.url + "/ui/servers")
        row = other.get_by_role("row", name="ledger")
        await expect(row.get_by_text("Running")).to_be_visible()
        gate.unlink()
        app.llm.then(call("crash"), say("It fell over."))
        await app.send("go")
        await expect(app.log.get_by_text("It fell over.")).to_be_visible()
        await expect(row.get_by_text("Starting")).to_be_visible()
        gate.touch()
        await expect(row.get_by_text("Running")).to_be_visible()
        await row.get_by_role("button", name="ledger", exact=True).click()
        await expect(other.get_by_text("ledger: crashing as asked")).to_be_visible()
        await row.get_by_role("button", name="Restart ledger").click()
        await app.ledger.seen("born", times=3)
        await expect(row.get_by_text("Running")).to_be_visible()
        await row.get_by_role("button", name="Stop ledger").click()
        await expect(row.get_by_text("Stopped")).to_be_visible()


async def test_a_server_that_never_starts_says_why_and_is_tried_again(own_app: OwnApp, tmp_path: Path) -> None:
    broken = Ledger(tmp_path / "broken")
    broken.folder.mkdir()
    async with own_app(tables={"servers.broken": ledger_table(broken, "--fault", "exit")}) as app:
        await app.go("/ui/servers")
        card = app.page.get_by_role("region", name="broken, failed")
        await expect(card.get_by_text("Failed")).to_be_visible()
        tried = len(broken.pids())
        await card.get_by_role("button", name="Restart now").click()
        await broken.seen("born", times=tried + 1)
        await expect(card.get_by_text("Failed")).to_be_visible()


async def test_a_phone_can_import_servers_too(app: OpenedApp) -> None:
    await app.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await app.go("/ui/servers")
    await expect(app.button("Add server")).to_be_visible()
    await app.button("Import").click()
    panel = app.page.get_by_role("region", name="Import servers")
    await expect(panel.get_by_label("Paste your MCP config")).to_be_visible()


async def test_another_clients_file_becomes_drafts_that_run_only_when_confirmed(app: OpenedApp, tmp_path: Path) -> None:
    drafted = Ledger(tmp_path / "drafted")
    drafted.folder.mkdir()
    command, *args = drafted.argv()
    file = {"mcpServers": {"shelf": {"command": command, "args": args}, "web": {"url": "http://127.0.0.1:9/mcp"}}}
    await app.go("/ui/servers")
    await app.button("Import config").click()
    panel = app.page.get_by_role("region", name="Import servers")
    await panel.get_by_label("Paste your MCP config").fill(json.dumps(file))
    await panel.get_by_role("button", name="Import as drafts").click()
    card = app.page.get_by_role("region", name="shelf, draft")
    await expect(card.get_by_role("list", name="Command").get_by_role("listitem")).to_have_count(1 + len(args))
    start = card.get_by_role("button", name="Confirm and start")
    await expect(start).to_be_disabled()
    assert drafted.pids() == []
    await card.get_by_label("Enter the command to confirm and start").fill(" ".join([command, *args]))
    await start.click()
    await expect(app.page.get_by_role("row", name="shelf").get_by_text("Running")).to_be_visible()
    assert len(drafted.pids()) == 1
