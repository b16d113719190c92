"""Approval on a data folder of the first edition: nothing is loosened, nothing becomes stricter in silence, what people
allowed is kept, listed and can be revoked, and what changed is printed at the first start."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_first_edition import IDS, begin, chat, served
from tests.fixtures.edition_1.scene import PROGRAM, Opened, opened
from tests.kit.windlass_process import WindlassProcess, windlass
from windlass import Windlass
from windlass.app import open_app
from windlass.config import Config, load
from windlass.toolbox.permissions import all_enabled_notice


def set_by_the_old_picker(home: Path, chat_id: str, tool: str) -> None:
    """As the first edition's page stored it, from the hint of an untrusted server."""
    with closing(sqlite3.connect(home / "windlass.db")) as db:
        row = {"server_id": IDS["ledger"], "tool": tool, "enabled": True, "approval": "auto"}
        body = json.dumps(row, separators=(",", ":")).encode()
        key = f"{chat_id}/{IDS['ledger']}/{tool}"
        db.execute("insert or replace into documents values('enabled_tool', ?, ?, ?, 0)", (key, chat_id, body))
        db.commit()


def with_all_tools_on(at: Opened) -> None:
    """A server as many had it in their file, and one whose tools are named there."""
    text = (at.home / "windlass.toml").read_text()
    inside = text[text.index("[servers.office.inside]") :].replace("office", "shed")
    with (at.home / "windlass.toml").open("a") as settings:
        settings.write(f'\n[servers.shed]\ncommand = "{PROGRAM}"\ntools = "*"\n{inside}')


async def test_d4_what_asks_now_is_printed_with_the_line_that_restores_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as at:
        with_all_tools_on(at)
        set_by_the_old_picker(at.home, IDS["plain"], "record")
        async with windlass(at.home, env=at.env) as server:
            await server.running("shed")
            await server.stop()
    assert server.log.count(all_enabled_notice("shed")) == 1
    assert server.log.count("Servers of windlass.toml run isolated from now on (office, shed)") == 1
    assert "The server office has no" not in server.log, "its tools are named"
    assert "once their chat has read text from outside (13 tools, readers included)" in server.log
    assert "shows these rules (1)" in server.log and "Lasting approvals are kept (2)" in server.log


async def test_d4_the_notice_is_given_once_and_not_to_a_command_that_opens_the_folder_first(tmp_path: Path) -> None:
    async with opened(tmp_path) as at:
        with_all_tools_on(at)
        config = load(config=at.home / "windlass.toml", env={**at.env, "WINDLASS_HOME": str(at.home)})
        said = []
        for is_server in (False, True, True):
            async with open_app(config, grace_s=0) as app:
                said.append(await app.services.approval_changes.announce() if is_server else None)
    assert said[1] and all_enabled_notice("shed") in said[1] and said[2] == []


async def test_d4_a_new_folder_and_the_demo_are_told_nothing(tmp_path: Path) -> None:
    async with open_app(Config(home=tmp_path / "new", demo=True), grace_s=0) as app:
        assert [config.slug for config in app.servers.configs() if config.tools == "*"] == ["demo"]
        assert await app.services.approval_changes.announce() == []
    async with opened(tmp_path) as at, open_app(Config(home=at.home, demo=True), grace_s=0) as app:
        assert not any("The server" in line for line in await app.services.approval_changes.announce())


async def test_auto_of_the_first_editions_picker_counts_as_enabled_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came from a hint that nobody checked: a changer runs until the chat has read text from outside."""
    async with opened(tmp_path) as at:
        for chat_id in (IDS["plain"], IDS["with_tools"]):
            set_by_the_old_picker(at.home, chat_id, "record")
        monkeypatch.setenv("PATH", at.env["PATH"])
        config = load(config=at.home / "windlass.toml", env={**at.env, "WINDLASS_HOME": str(at.home)})
        async with Windlass(config=config) as w:
            await w.servers.start("ledger")
            for grant in await w.permissions.list(tool="record"):
                await w.permissions.revoke(grant.id)
            verdicts = [
                await w.permissions.test("ledger", "record", {"effect_id": "x"}, conversation_id=chat_id)
                for chat_id in (IDS["plain"], IDS["with_tools"])
            ]
            [listed] = await w.permissions.list(conversation_id=IDS["plain"], tool="record")
    assert [(one.verdict, one.step, one.enabled) for one in verdicts] == [("auto", 6, True), ("ask", 6, True)]
    assert (listed.kind, listed.effect) == ("conversation", "named")


async def test_grants_of_the_first_edition_are_kept_listed_and_can_be_revoked(tmp_path: Path) -> None:
    async with served(tmp_path) as (server, at):
        grants = [one for one in await permissions(server) if one["kind"] == "grant"]
        found = {(one["server"], one["tool"], one["scope"], one.get("conversation_id", "")) for one in grants}
        assert found == {
            ("ledger", "record", "always", ""),
            ("ledger", "destroy", "conversation", IDS["granted_in_one_chat"]),
        }
        assert (await chat(server, IDS["granted_in_one_chat"], "Destroy it again."))["outcome"] == "answered"
        for one in grants:
            assert (await server.call("DELETE", f"/permissions/{one['id']}")).status == 200
        asked = await chat(server, IDS["granted_in_one_chat"], "Destroy it again.")
        always = await chat(server, await begin(server, "record", approval="ask"), "Record it once more.")
    assert [asked["outcome"], always["outcome"]] == ["awaiting_person"] * 2
    assert at.ledger.counts() == {"second": 1}


async def permissions(server: WindlassProcess, query: str = "") -> list[dict[str, Any]]:
    return list((await server.get(f"/permissions{query}"))["permissions"])
