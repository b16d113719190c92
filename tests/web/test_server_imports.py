"""Servers from another client's config, from files on this machine and from the gallery: drafts with what they ask for,
secrets in the vault, and nothing started or sent before a person said so."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.recorder import recorder
from tests.web.kit import Site, open_site
from tests.web.test_sudo import asks, unconfirmed

CANARY = "canary-of-an-import-0123456789"
CLIENTS = Path(__file__).parents[1] / "fixtures" / "clients"


def ledger_entry(ledger: Ledger, **fields: Any) -> dict[str, Any]:
    command, *args = ledger.argv()
    return {"command": command, "args": args, **fields}


async def test_a_placeholder_is_asked_for_and_the_program_gets_it(site: Site, ledger: Ledger) -> None:
    entry = ledger_entry(ledger, env={"API_KEY": "${env:KEY_OF_MINE}", "REGION": "${REGION:-eu}"})
    entry["args"][-1:] = [entry["args"][-1].replace(str(ledger.folder), "${folder}")]
    text = "// mine\n" + json.dumps({"mcpServers": {"shelf": entry}})
    added = await site.call("POST", "/servers/import", {"text": text})
    (draft,) = added.body["servers"]
    assert added.status == 201 and draft["status"] == "draft"
    assert {one["name"]: (one["secret"], one["default"]) for one in draft["missing"]} == {
        "folder": (False, None),
        "KEY_OF_MINE": (True, None),
        "REGION": (False, "eu"),
    }
    for path, body in (("confirm", {"argv": draft["argv"]}), ("start", {})):
        early = await site.call("POST", f"/servers/shelf/{path}", body)
        assert (early.status, early.code) == (409, "values_missing") and "KEY_OF_MINE" in early.body["error"]["message"]

    values = {"folder": str(ledger.folder), "KEY_OF_MINE": CANARY, "REGION": "us"}
    wrong = await site.call("PATCH", "/servers/shelf", {"values": {"other": "x"}})
    assert wrong.status == 422 and "KEY_OF_MINE" in wrong.body["error"]["hint"]
    filled = (await site.call("PATCH", "/servers/shelf", {"values": values})).body["server"]
    assert filled["missing"] == [] and filled["argv"] == list(ledger.argv())
    assert filled["env_values"] == {"REGION": "us"} and CANARY not in json.dumps(filled)
    await site.post("/servers/shelf/confirm", {"argv": filled["argv"], "env_values": filled["env_values"]})
    assert (await site.post("/servers/shelf/start"))["server"]["status"] == "running"
    seen = await site.post("/servers/shelf/tools/call", {"name": "env_dump"})
    environment = json.loads(seen["result"]["text"])
    assert environment["REGION"] == "us" and environment["API_KEY"].startswith("[secret")
    assert CANARY in site.app.vault.values()


async def test_a_secret_of_an_argument_reaches_the_program_and_no_answer(site: Site, ledger: Ledger) -> None:
    entry = ledger_entry(ledger)
    entry["args"] += ["--fault-note", "${input:secret}"]
    entry["args"] = [
        "-c",
        "import os,sys;os.environ['NOTE']=sys.argv[-1];" + RUNS_THE_REST,
        entry["command"],
        *entry["args"],
    ]
    body = {"servers": {"shelf": entry}, "inputs": [{"id": "secret", "password": True}], "values": {"secret": CANARY}}
    (draft,) = (await site.call("POST", "/servers/import", body)).body["servers"]
    assert draft["argv"][-1] == "${input:secret}" and draft["missing"] == [] and CANARY not in json.dumps(draft)
    await site.post("/servers/shelf/confirm", {"argv": draft["argv"]})
    assert (await site.post("/servers/shelf/start"))["server"]["status"] == "running"
    seen = await site.post("/servers/shelf/tools/call", {"name": "env_dump"})
    assert json.loads(seen["result"]["text"])["NOTE"].startswith("[secret")

    again = (await site.call("PATCH", "/servers/shelf", {"values": {"secret": CANARY + "-2"}})).body["server"]
    assert again["status"] == "draft", "another hidden part of a command is another command"
    assert (await site.call("POST", "/servers/shelf/start")).code == "draft"


async def test_no_code_of_a_file_is_hidden_from_who_confirms_the_command(site: Site) -> None:
    hidden = {"id": "session-token", "type": "promptString", "password": True, "default": CANARY}
    entries = {
        "code": {"command": "python3", "args": ["-c", "${input:session-token}"]},
        "data": {"command": "cat", "args": ["${input:session-token}"]},
        "env": {"command": "cat", "env": {"START": "${input:session-token}"}},
    }
    added = await site.post("/servers/import", {"text": json.dumps({"inputs": [hidden], "servers": entries})})
    asked = [(one["secret"], one["default"]) for draft in added["servers"] for one in draft["missing"]]
    assert asked == [(False, CANARY), (True, None), (True, None)]
    given = {"values": {"session-token": "print('mine')"}}
    code = (await site.call("PATCH", "/servers/code", given)).body["server"]
    assert code["argv"] == ["python3", "-c", "print('mine')"]
    data = (await site.call("PATCH", "/servers/data", given)).body["server"]
    assert data["argv"] == ["cat", "${input:session-token}"]


RUNS_THE_REST = "a=[x for x in sys.argv[1:] if x not in ('--fault-note',sys.argv[-1])];os.execv(a[0],a)"


async def test_a_header_goes_into_the_vault_and_out_to_its_own_address_alone(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home") as site, recorder() as near, recorder() as far:
        entry = {"url": "http://127.0.0.1:${PORT}/mcp", "headers": {"Authorization": "Bearer ${MINE}", "X-Own": "own"}}
        (draft,) = (await site.call("POST", "/servers/import", {"mcpServers": {"far": entry}})).body["servers"]
        assert [(one["name"], one["secret"]) for one in draft["missing"]] == [("PORT", False), ("MINE", True)]
        assert (await site.call("POST", "/servers/far/start")).code == "values_missing"
        page = unconfirmed(site)
        sent = {"values": {"PORT": str(near.port)}}
        assert asks(await site.call("PATCH", "/servers/far", sent, token="", headers=page)), "it leads its headers away"

        filled = (await site.call("PATCH", "/servers/far", {"values": {"PORT": str(near.port), "MINE": CANARY}})).body
        assert filled["server"]["url"] == f"http://127.0.0.1:{near.port}/mcp"
        assert filled["server"]["header_names"] == ["Authorization", "X-Own"]
        await site.post("/servers/far/start")
        assert f"Bearer {CANARY}" in str(near.heads) and CANARY not in json.dumps(filled)

        moved = {"url": f"http://127.0.0.1:{far.port}/mcp", "headers": {"X-Stolen": "${MINE}"}}
        after = (await site.call("PATCH", "/servers/far", moved)).body["server"]
        assert [one["name"] for one in after["missing"]] == ["MINE"]
        assert (await site.call("POST", "/servers/far/start")).code == "values_missing"
        assert CANARY not in site.app.vault.values() and far.heads == []


@pytest.mark.parametrize("kept", ["http", "stdio"])
async def test_a_draft_that_asks_for_values_waits_over_a_restart(tmp_path: Path, ledger: Ledger, kept: str) -> None:
    entry = ledger_entry(ledger, env={"A": "${A}"}) if kept == "stdio" else {"url": "http://127.0.0.1:9/${A}"}
    async with open_site(tmp_path / "home") as site:
        await site.post("/servers/import", {"mcpServers": {"shelf": entry}})
    async with open_site(tmp_path / "home") as site:
        shown = (await site.get("/servers/shelf"))["server"]
        assert shown["status"] == "draft" and [one["name"] for one in shown["missing"]] == ["A"]
        assert ledger.pids() == []


async def test_a_placeholder_that_was_overwritten_by_hand_is_asked_for_no_more(site: Site, ledger: Ledger) -> None:
    entry = ledger_entry(ledger, env={"A": "${A}", "B": "${B}"})
    await site.post("/servers/import", {"mcpServers": {"shelf": entry}})
    after = (await site.call("PATCH", "/servers/shelf", {"env": {"A": "by hand", "B": "${B}"}})).body["server"]
    assert [one["name"] for one in after["missing"]] == ["B"]


async def test_what_was_not_taken_is_named_with_the_draft_it_belongs_to(site: Site) -> None:
    text = (CLIENTS / "cline_mcp_settings.json").read_text()
    answer = (await site.call("POST", "/servers/import", {"text": text, "values": {"DOCS_TOKEN": CANARY}})).body
    notes = {note["slug"]: " ".join(note["warnings"]) for note in answer["notes"]}
    assert "autoApprove (browser_snapshot, browser_click): not taken" in notes["browser"]
    assert "switched off" in notes["docs"] and CANARY not in json.dumps(answer)
    assert all(server["status"] == "draft" and not server["missing"] for server in answer["servers"])
    zed = await site.post("/servers/import", {"text": (CLIENTS / "zed_settings.json").read_text()})
    assert zed["unread"] == ["theme", "vim_mode"] and zed["notes"][0]["slug"] == ""


async def test_an_import_with_a_value_that_cannot_work_keeps_nothing(site: Site) -> None:
    good = {"command": "cat"}
    bad = {"url": "${WHERE}", "headers": {"X": "${TOKEN}"}}
    for values in ({"WHERE": "ftp://a"}, {"TOKEN": "a\nb", "WHERE": "http://a"}, {"WHERE": ""}, {"NOBODY": "x"}):
        answer = await site.call("POST", "/servers/import", {"mcpServers": {"a": good, "b": bad}, "values": values})
        assert answer.status == 422
    assert (await site.get("/servers"))["count"] == 0 and site.app.vault.values() == []


async def test_imported_tools_are_on_and_still_ask(site: Site, ledger: Ledger) -> None:
    entry = ledger_entry(ledger, enabled_tools=["record", "read_only"])
    (draft,) = (await site.post("/servers/import", {"mcpServers": {"shelf": entry}}))["servers"]
    assert draft["tools"] == "record,read_only"
    await site.post("/servers/shelf/confirm", {"argv": draft["argv"]})
    await site.post("/servers/shelf/start")
    call = {"server": "shelf", "tool": "record", "arguments": {"effect_id": "a"}}
    assert (await site.post("/permissions/test", call))["verdict"] == "ask", "nobody named it by hand"
    await site.call("PATCH", "/servers/shelf", {"tools": "record"})
    assert (await site.post("/permissions/test", call))["verdict"] == "auto"


async def test_files_of_other_clients_are_found_without_what_is_in_them(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "person"
    put_configs(home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    found = await site.get("/servers/found")
    counted = {config["client"]: config["count"] for config in found["configs"]}
    assert counted == {"Claude Desktop": 4, "Cursor": 4, "Zed": 2, "Codex": 2, "Goose": 2, "Windsurf": 0}
    assert found["count"] == 14 and "canary" not in json.dumps(found)
    github = next(one for one in found["configs"][0]["servers"] if one["name"] == "github")
    assert (github["runs"], github["env_names"]) == ("docker", ["GITHUB_PERSONAL_ACCESS_TOKEN"])
    broken = next(config for config in found["configs"] if config["client"] == "Windsurf")
    assert "not valid JSON" in broken["problem"]

    chosen = {"found": ["claude-desktop", "cursor"], "only": ["filesystem", "linear"]}
    added = await site.post("/servers/import", chosen)
    assert [(one["slug"], one["status"]) for one in added["servers"]] == [("filesystem", "draft"), ("linear", "draft")]
    again = await site.get("/servers/found")
    assert again["count"] == 12
    assert (await site.call("POST", "/servers/import", {"found": ["../etc"]})).status == 404


async def test_no_server_is_called_like_the_route_that_would_hide_it(site: Site) -> None:
    refused = await site.call("POST", "/servers", {"name": "a", "slug": "found", "url": "http://127.0.0.1:9"})
    assert refused.status == 422 and "slug" in refused.body["error"]["message"]
    named = await site.post("/servers/import", {"mcpServers": {"found": {"url": "http://127.0.0.1:9"}}})
    assert named["servers"][0]["slug"] == "found-2"


async def test_only_an_administrator_looks_for_files(site: Site) -> None:
    for scope in ("read", "chat", "approve"):
        assert (await site.call("GET", "/servers/found", token=site.token(scope))).status == 403


def put_configs(home: Path) -> None:
    places = {
        ".config/Claude/claude_desktop_config.json": "claude_desktop_config.json",
        ".cursor/mcp.json": "cursor_mcp.json",
        ".config/zed/settings.json": "zed_settings.json",
        ".codex/config.toml": "codex_config.toml",
        ".config/goose/config.yaml": "goose_config.yaml",
    }
    for path, name in places.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text((CLIENTS / name).read_text())
    (home / ".codeium/windsurf").mkdir(parents=True)
    (home / ".codeium/windsurf/mcp_config.json").write_text('{"mcpServers": {"canary": ')
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text('{"theme": "no servers here"}')


async def test_a_known_server_is_found_filled_in_and_added_as_a_draft(site: Site, tmp_path: Path) -> None:
    everything = await site.get("/gallery")
    assert everything["count"] >= 30
    (files, *_) = (await site.get("/gallery?q=read+files"))["entries"]
    assert (files["id"], files["needs"], [one["name"] for one in files["asks"]]) == ("files", ["folder"], ["folder"])
    early = (await site.call("POST", "/gallery/files/add", {})).body["server"]
    assert early["status"] == "draft" and [one["name"] for one in early["missing"]] == ["folder"]

    made = (await site.call("POST", "/gallery/files/add", {"values": {"folder": str(tmp_path)}})).body["server"]
    assert made["slug"] == "files-2" and made["argv"] == [*files["argv"][:-1], str(tmp_path)]
    assert files["version"] in made["argv"][2] and made["missing"] == []
    again = (await site.get("/gallery?q=files"))["entries"][0]
    assert again["added"] == ["files", "files-2"]
    assert (await site.call("POST", "/gallery/nothing/add", {})).status == 404


async def test_a_key_of_a_known_server_stays_hidden_and_an_optional_one_may_be_left_out(site: Site) -> None:
    keyed = await site.call("POST", "/gallery/tavily/add", {"values": {"key": CANARY}})
    assert CANARY not in json.dumps(keyed.body) and keyed.body["server"]["missing"] == []
    assert CANARY in site.app.vault.values()
    plain = (await site.call("POST", "/gallery/context7/add", {"values": {}})).body["server"]
    assert plain["env_names"] == [] and plain["missing"] == []
    linear = (await site.call("POST", "/gallery/linear/add", {})).body["server"]
    assert (linear["auth"], linear["status"]) == ("oauth", "draft")
