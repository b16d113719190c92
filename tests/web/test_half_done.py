"""Changes of two steps of which the second fails: nothing is told that is not so, and the same asked again is done."""

import asyncio
import json
import shlex
from pathlib import Path

import msgspec
import pytest

from tests.kit.holding import held
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import turns_of_the_loop, until
from tests.servers.kit import Census
from tests.web.kit import Site, open_site
from windlass.api import schemas
from windlass.testing import StrictLLM
from windlass.turns.records import DeletedServer


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.store.writer.BUSY_S", 0.01)


async def test_a_server_that_could_not_be_kept_is_not_there(site: Site) -> None:
    wanted = {"name": "Files", "slug": "files", "command": "x", "env": {"KEY": "a-secret"}}
    async with held(site.app.config.home):
        refused = await site.call("POST", "/servers", wanted)
    assert refused.status == 503
    assert (await site.get("/servers"))["servers"] == []
    assert (await site.call("POST", "/servers", wanted)).status == 201
    assert (await site.call("DELETE", "/servers/files")).status == 200


async def test_a_secret_whose_change_could_not_be_kept_reaches_the_program_the_next_time(
    site: Site, ledger: Ledger
) -> None:
    await site.add_ledger(ledger, env={"LEDGER_TOKEN": "old"})
    async with held(site.app.config.home):
        refused = await site.call("PATCH", "/servers/ledger", {"env": {"LEDGER_TOKEN": "new"}})
    assert refused.status == 503
    assert (await site.call("PATCH", "/servers/ledger", {"env": {"LEDGER_TOKEN": "new"}})).status == 200
    await site.app.servers.wait_ready("ledger", 20)
    dumped = await site.post("/servers/ledger/tools/call", {"name": "env_dump"})
    assert json.loads(dumped["result"]["text"])["LEDGER_TOKEN"] == "new"


async def test_b4_a_variable_whose_change_could_not_be_kept_stays_as_it_was_confirmed(
    site: Site, ledger: Ledger
) -> None:
    await site.add_ledger(ledger, env={"PERLLIB": "/old"})
    async with held(site.app.config.home):
        refused = await site.call("PATCH", "/servers/ledger", {"env": {"PERLLIB": "/new"}})
    assert refused.status == 503 and site.app.vault.values() == ["/old"]
    again = await site.call("PATCH", "/servers/ledger", {"env": {"PERLLIB": "/new"}})
    assert (again.body["server"]["status"], again.body["server"]["env_values"]) == ("draft", {"PERLLIB": "/new"})


async def test_a_provider_that_could_not_be_deleted_is_there_until_it_is(site: Site) -> None:
    fields = {"name": "Other", "base_url": "http://127.0.0.1:9/v1", "api_key": "other-key", "model": "m"}
    id = (await site.post("/providers", fields))["provider"]["id"]
    async with held(site.app.config.home):
        refused = await site.call("DELETE", f"/providers/{id}")
    assert refused.status == 503
    assert (await site.get(f"/providers/{id}"))["provider"]["has_key"]
    assert (await site.call("DELETE", f"/providers/{id}")).status == 200
    assert site.app.vault.values() == []


async def test_a_new_default_whose_sender_left_leaves_no_house_without_one(
    tmp_path: Path, strict_llm: StrictLLM
) -> None:
    fields = {"base_url": strict_llm.base_url, "api_key": "k", "model": "m", "default": True}
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.post("/providers", {"name": "Old", **fields})
        async with held(tmp_path / "home"):
            new = msgspec.convert({"name": "New", **fields}, schemas.NewProvider)
            adding = asyncio.create_task(site.app.services.providers.add(new))
            await until(lambda: len(site.app.store._writer._waiting) == 2, "both rows to wait for the disk")
            adding.cancel()
            await asyncio.wait([adding])
        await site.app.store.check()
    async with open_site(tmp_path / "home", strict_llm) as site:
        shown = [one["name"] for one in (await site.get("/providers"))["providers"] if one["default"]]
        assert shown == ["New"]


async def test_a_server_that_could_not_be_deleted_is_there_until_it_is(site: Site, ledger: Ledger) -> None:
    may_end = ledger.folder / "may-end"
    until_then = f"while [ ! -e {may_end} ]; do sleep 0.05; done"
    slow_to_go = {"name": "slow", "command": "sh", "args": ["-c", f"{shlex.join(ledger.argv())}; {until_then}"]}
    opened = {"write": [str(ledger.folder)]}  # a path within a word of a command is not seen as one
    added = (await site.post("/servers", {**slow_to_go, "env": {"KEY": "a-secret"}, "inside": opened}))["server"]
    await site.post("/servers/slow/confirm", {"argv": added["argv"]})
    await site.post("/servers/slow/start")
    deleting = asyncio.create_task(site.call("DELETE", "/servers/slow"))
    deleted_servers = site.app.store.documents("former_server", DeletedServer)
    await until(lambda: deleted_servers.get(added["id"]) is not None, "it to be on its way out")
    async with held(site.app.config.home):
        may_end.touch()
        assert (await deleting).status == 503
    assert (await site.call("DELETE", "/servers/slow")).status == 200
    assert site.app.vault.values() == []


async def test_secrets_of_what_is_gone_are_forgotten_at_the_next_start(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    fields = {"name": "Other", "base_url": "http://127.0.0.1:9/v1", "api_key": "kept-key", "model": "m"}
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.add_ledger(ledger, env={"KEY": "kept-secret"})
        await site.post("/providers", fields)
        site.app.vault.put("srv-gone/env/KEY", "left-secret")
        site.app.vault.put("provider/prov-gone", "left-key")
    async with open_site(tmp_path / "home", strict_llm) as site:
        assert sorted(site.app.vault.values()) == ["kept-key", "kept-secret"]


async def test_a_server_started_while_it_is_being_deleted_leaves_no_process(site: Site, ledger: Ledger) -> None:
    census = Census()
    await site.add_ledger(ledger)
    deleted, started = await asyncio.gather(
        site.call("DELETE", "/servers/ledger"), site.call("POST", "/servers/ledger/start")
    )
    assert deleted.status == 200 and started.status in {200, 404}
    await site.app.servers.aclose()
    assert await census.newcomers_gone() == []


async def test_a_server_stopped_while_it_is_changed_stays_stopped(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, env={"LEDGER_TOKEN": "old"})
    changed, stopped = await asyncio.gather(
        site.call("PATCH", "/servers/ledger", {"env": {"LEDGER_TOKEN": "new"}}),
        site.call("POST", "/servers/ledger/stop"),
    )
    assert (changed.status, stopped.status) == (200, 200)
    assert (await site.get("/servers/ledger"))["server"]["status"] == "stopped"


async def test_a_server_that_goes_while_a_personas_tools_are_switched_on_leaves_its_own_out(
    site: Site, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.store.writer.BUSY_S", 60)
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    async with held(site.app.config.home):
        switching = asyncio.create_task(site.app.services.tools.enable_matching(conversation, ["ledger.read_*"]))
        await turns_of_the_loop()
        await site.app.servers.stop("ledger")
    await switching
    enabled = (await site.get(f"/conversations/{conversation}/tools"))["enabled_tools"]
    assert [tool["tool_name"] for tool in enabled] == ["read_only"]
