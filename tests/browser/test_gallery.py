"""From nothing to a running server on the page: the gallery, a config that asks for values, and configs found on this
computer."""

import json
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.browser.visit import PHONE, Visit, window
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import windlass

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def newcomer(chromium: Browser, tmp_path: Path, ledger: Ledger) -> AsyncIterator[Visit]:
    """`npx` is a program of the test's own here, which starts the ledger's server instead of fetching a package."""
    programs = tmp_path / "bin"
    programs.mkdir()
    npx = programs / "npx"
    npx.write_text(f'#!/bin/sh\n[ "$1" = -y ] && exec {shlex.join(ledger.argv())}\n')
    npx.chmod(0o755)
    path = {"PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin"}
    async with windlass(tmp_path / "home", env=path) as server, window(chromium, server) as (context, page, watch):
        yield Visit(server, context, page, watch)
    watch.is_clean()


async def test_a_known_server_is_found_filled_in_confirmed_and_has_tools(newcomer: Visit, ledger: Ledger) -> None:
    await newcomer.go("/ui/servers")
    page = newcomer.page
    await page.get_by_label("Search known servers").fill("read files")
    await page.get_by_role("button", name="Files").click()
    form = page.get_by_role("region", name="Add Files")
    await form.get_by_role("button", name="Add as a draft").click()
    await expect(form.get_by_text("Required")).to_be_visible()
    await form.get_by_label("Folder it may read and write").fill(str(ledger.folder))
    await form.get_by_role("button", name="Add as a draft").click()
    card = page.get_by_role("region", name="Files, draft")
    parts = card.get_by_role("list", name="Command").get_by_role("listitem")
    await expect(parts).to_have_text(
        ["npx", "-y", "@modelcontextprotocol/server-filesystem@2026.8.31", str(ledger.folder)]
    )
    await expect(page.get_by_role("button", name="Files").get_by_text("Added")).to_be_visible()
    assert ledger.pids() == []
    await newcomer.server.call(
        "PATCH", "/servers/files", {"sandbox": "off"}
    )  # or the program behind npx is out of reach
    command = " ".join(await parts.all_inner_texts())
    await card.get_by_label("Enter the command to confirm and start").fill(command)
    await card.get_by_role("button", name="Confirm and start").click()
    row = page.get_by_role("row", name="Files")
    await expect(row.get_by_text("Running")).to_be_visible()
    await row.get_by_role("button", name="Files", exact=True).click()
    await expect(page.get_by_role("button", name="record_slow")).to_be_visible()
    assert len(ledger.pids()) == 1


async def test_a_pasted_config_asks_for_what_it_lacks_and_names_what_was_not_taken(
    newcomer: Visit, ledger: Ledger
) -> None:
    command, *args = ledger.argv()
    yaml = f"""
      extensions:
        shelf:
          type: stdio
          cmd: {json.dumps(command)}
          args: {json.dumps([*args[:-1], "${LEDGER}"])}
          env_keys: [SHELF_TOKEN]
          autoApprove: [record]
        developer: {{type: builtin, enabled: true}}
      GOOSE_MODEL: mine
    """
    await newcomer.go("/ui/servers")
    page = newcomer.page
    await newcomer.button("Import config").click()
    panel = page.get_by_role("region", name="Import servers")
    await panel.get_by_label("Paste your MCP config").fill(yaml)
    await panel.get_by_role("button", name="Import as drafts").click()
    await expect(panel.get_by_text("autoApprove (record): not taken.")).to_be_visible()
    await expect(panel.get_by_text("developer was left out.")).to_be_visible()
    await expect(panel.get_by_text("Not about servers, and not read: GOOSE_MODEL.")).to_be_visible()
    await panel.get_by_role("button", name="Review 1 draft").click()
    card = page.get_by_role("region", name="shelf, draft")
    await expect(card.get_by_label("Enter the command to confirm and start")).to_have_count(0)
    await card.get_by_label("Value of LEDGER").fill(str(ledger.path))
    await card.get_by_label("Value of SHELF_TOKEN").fill("hidden <b>canary</b>")
    await card.get_by_role("button", name="Continue").click()
    box = card.get_by_label("Enter the command to confirm and start")
    await box.fill(shlex.join(ledger.argv()))
    await expect(card.get_by_text("SHELF_TOKEN value hidden")).to_be_visible()
    await card.get_by_role("button", name="Confirm and start").click()
    await expect(page.get_by_role("row", name="shelf").get_by_text("Running")).to_be_visible()


async def test_configs_of_this_computer_are_looked_for_on_a_phone(newcomer: Visit) -> None:
    home = newcomer.server.home
    (home / ".cursor").mkdir()
    entries = {"web": {"url": "http://127.0.0.1:9/mcp"}, "<img src=x>": {"command": "cat"}}
    (home / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": entries}))
    await newcomer.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await newcomer.go("/ui/servers")
    page = newcomer.page
    assert not any("/servers/found" in url for url in newcomer.watch.asked)
    await newcomer.button("Look for configs").first.click()
    await expect(page.get_by_text("Cursor: 2 servers. Nothing has been started.")).to_be_visible()
    await newcomer.button("Review 2").click()
    await page.get_by_role("checkbox", name="<img src=x>").uncheck()
    await newcomer.button("Import 1 draft").click()
    await expect(page.get_by_role("region", name="web, draft")).to_be_visible()
    await expect(page.get_by_role("region", name="<img src=x>, draft")).to_have_count(0)
