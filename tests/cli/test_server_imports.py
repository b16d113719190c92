"""`windlass servers import`, `found`, `find` and `confirm`: what is missing is asked for, and nothing runs before."""

import json
import sys
from pathlib import Path

from tests.cli.conftest import Commands
from tests.web.test_server_imports import put_configs

DEMO = [sys.executable, "-m", "windlass.demo.server", "--notes"]
CANARY = "canary-typed-in-a-terminal"


def kept_servers(windlass: Commands) -> list[tuple[str, str]]:
    servers = windlass("servers", "list", "--json").json
    return [(one["slug"], one["status"]) for one in servers if one["slug"] != "demo"]


def test_a_missing_value_is_asked_for_before_the_command_is_confirmed(windlass: Commands, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    entry = {"command": DEMO[0], "args": [*DEMO[1:], "${workspaceFolder}"], "env": {"API_KEY": "${env:MINE}"}}
    file.write_text(json.dumps({"mcpServers": {"asked": entry}}))
    added = windlass("servers", "import", str(file))
    assert "asks for workspaceFolder: Folder of the project" in added.err
    try:
        refused = windlass("servers", "confirm", "asked", "--yes")
        assert refused.code == 1 and "These values are missing: workspaceFolder, MINE." in refused.err
        done = windlass("servers", "confirm", "asked", "--set", f"MINE={CANARY}", stdin=f"{tmp_path}\ny\n")
        assert done.code == 0 and "asked: running" in done.err
        assert f"  {tmp_path}" in done.err.splitlines() and CANARY not in done.err
    finally:
        windlass("servers", "remove", "asked")


def test_a_file_in_yaml_is_read_from_stdin_with_its_values(alone: Commands) -> None:
    text = "mcpServers:\n  - name: far\n    url: http://127.0.0.1:9/${AREA}\n    requestOptions: {verifySsl: false}\n"
    done = alone("servers", "import", "-", "--set", "AREA=mcp", stdin=text)
    assert done.code == 0 and "far: draft. http://127.0.0.1:9/mcp" in done.err
    assert "far: Not taken: requestOptions.verifySsl." in done.err
    assert "is not NAME=VALUE" in alone("servers", "import", "-", "--set", "AREA", stdin=text).err


def test_configs_of_this_machine_are_listed_and_imported_when_a_person_agrees(alone: Commands, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path / "person"), "XDG_CONFIG_HOME": ""}
    assert "No configs of other clients were found" in alone("servers", "found", **home).err
    put_configs(tmp_path / "person")
    listed = alone("servers", "found", **home)
    assert "Claude Desktop: 4 servers" in listed.err and "canary" not in listed.err
    assert "developer: type: 'builtin' is a part of the other client" in listed.err
    assert alone("servers", "import", stdin="n\n", **home).code == 1
    assert kept_servers(alone) == []
    done = alone("servers", "import", "--only", "linear", "--set", "LINEAR_CLIENT_ID=a", **home)
    assert "linear: draft. https://mcp.linear.app/mcp" in done.err
    assert "asks for LINEAR_CLIENT_SECRET" in done.err and "asks for LINEAR_CLIENT_ID" not in done.err


def test_a_known_server_is_found_by_words_and_its_command_confirmed(alone: Commands, tmp_path: Path) -> None:
    table = alone("servers", "find", "scientific", "papers").out
    assert "arxiv" in table and "folder" in table and "linear" not in table
    assert [one["id"] for one in alone("servers", "find", "jira", "--json").json] == ["atlassian"]
    refused = alone("servers", "add", "files", stdin=f"{tmp_path}\nn\n")
    assert refused.code == 1 and f"  {tmp_path}" in refused.err.splitlines() and "Run this command" in refused.err
    assert kept_servers(alone) == [("files", "draft")]
    assert "nothing is no known server" in alone("servers", "add", "nothing").err
