"""A program that was replaced under a confirmed command does not run unnoticed."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S
from tests.servers.kit import program
from windlass.core.errors import Conflict
from windlass.servers import Isolation, ServerConfig, Servers
from windlass.servers.identity import difference, identity_of


@pytest.fixture
def script(tmp_path: Path, ledger: Ledger) -> Path:
    """The ledger's server as a script of its own, which a test may replace."""
    return written(tmp_path / "server.py", ledger)


def written(path: Path, ledger: Ledger, comment: str = "") -> Path:
    interpreter, *arguments = ledger.argv()
    path.write_text(f"import os  # {comment}\nos.execv({interpreter!r}, {[interpreter, *arguments]!r})\n")
    return path


def config_of(script: Path, ledger: Ledger, **more: object) -> ServerConfig:
    return program([ledger.argv()[0], str(script), str(ledger.folder)], slug="ledger", **more)


async def stopped_after_a_run(servers: Servers, config: ServerConfig) -> None:
    await servers.put(config)
    servers.start(config.id)
    status = await servers.wait_ready(config.id, PATIENCE_S)
    assert status.state == "running", status.reason
    await servers.stop(config.id)


async def test_b3_a_replaced_script_waits_for_a_confirmation(servers: Servers, ledger: Ledger, script: Path) -> None:
    await stopped_after_a_run(servers, config_of(script, ledger))
    ran = len(ledger.pids())
    written(script, ledger, "replaced")
    servers.start("ledger")
    status = await servers.wait_ready("ledger", PATIENCE_S)
    assert (status.state, len(ledger.pids())) == ("draft", ran)
    assert str(script) in status.reason and "has another content" in status.reason
    with pytest.raises(Conflict, match="changed since it was confirmed"):
        servers.start("ledger")
    await servers.confirm("ledger")
    servers.start("ledger")
    assert (await servers.wait_ready("ledger", PATIENCE_S)).state == "running"


async def test_b3_in_the_operators_file_a_replaced_script_is_shown_and_runs(
    servers: Servers, ledger: Ledger, script: Path
) -> None:
    await stopped_after_a_run(servers, config_of(script, ledger, operator=True))
    written(script, ledger, "replaced")
    servers.start("ledger")
    status = await servers.wait_ready("ledger", PATIENCE_S)
    assert status.state == "running" and "has another content" in status.note


async def test_b3_in_the_operators_file_it_asks_where_that_is_set(
    servers: Servers, ledger: Ledger, script: Path
) -> None:
    await stopped_after_a_run(servers, config_of(script, ledger, operator=True, pin="ask"))
    written(script, ledger, "replaced")
    servers.start("ledger")
    assert (await servers.wait_ready("ledger", PATIENCE_S)).state == "draft"


def test_b3_another_version_of_the_package_is_a_change() -> None:
    config = ServerConfig("srv-1", "time", command="uvx", args=("mcp-server-time",))
    known = identity_of(config)
    of_then, of_now = (replace(known, program=f"mcp-time {version}") for version in ("1.0", "1.1"))
    assert difference(of_then, of_now) == "it calls itself mcp-time 1.1, and called itself mcp-time 1.0"
    assert difference(known, of_now) == "" == difference(of_then, known)  # not known yet


@pytest.mark.parametrize("name", ["python3", "python3.12", "node", "npx"])
def test_b3_an_update_of_an_interpreter_is_no_change(name: str, tmp_path: Path) -> None:
    launcher, script = tmp_path / name, tmp_path / "server.py"
    script.write_text("print()")
    config = ServerConfig("srv-1", "x", command=str(launcher), args=("-u", str(script), "--port", "1"))
    identities = []
    for content in ("old", "new"):
        launcher.write_text(content)
        launcher.chmod(0o755)
        identities.append(identity_of(config))
    assert difference(*identities) == "" and list(identities[0].files or {}) == [os.path.realpath(script)]


def test_b3_a_program_of_its_own_counts_by_its_content_and_its_path(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        (folder / "server").write_text("one")
        (folder / "server").chmod(0o755)
    config = ServerConfig("srv-1", "x", command="server")
    first, second = (identity_of(config, str(folder)) for folder in folders)
    assert difference(first, second).startswith(f"it now runs {folders[1]}")
    (folders[0] / "server").write_text("two")
    assert "has another content" in difference(first, identity_of(config, str(folders[0])))


def test_another_command_is_confirmed_by_itself(tmp_path: Path) -> None:
    one, other = (ServerConfig("srv-1", "x", command="npx", args=("-y", package)) for package in ("a@1", "a@2"))
    assert difference(identity_of(one), identity_of(other)) == ""


async def test_b3_another_version_of_a_fetched_package_waits_for_a_confirmation(ledger: Ledger, tmp_path: Path) -> None:
    """Although the server gives itself the same name and version as before."""
    interpreter, *arguments = ledger.argv()
    launcher = tmp_path / "npx"
    launcher.write_text(f"#!/bin/sh\nexec {interpreter} {' '.join(arguments)}\n")
    launcher.chmod(0o755)
    servers = Servers(isolation=Isolation(tmp_path / "data"))
    config = program([str(launcher), "-y", "@maker/ledger@latest", str(ledger.folder)], slug="ledger")
    fetched = tmp_path / "data" / "servers" / config.id / "cache/npm/_npx/abc/node_modules/@maker/ledger/package.json"
    fetched.parent.mkdir(parents=True)
    fetched.write_text('{"name": "@maker/ledger", "version": "1.0"}')
    await stopped_after_a_run(servers, config)
    fetched.write_text('{"name": "@maker/ledger", "version": "1.1"}')
    servers.start("ledger")
    status = await servers.wait_ready("ledger", PATIENCE_S)
    assert status.state == "draft"
    assert "its package is now @maker/ledger 1.1, and was @maker/ledger 1.0" in status.reason
    await servers.confirm("ledger")
    servers.start("ledger")
    status = await servers.wait_ready("ledger", PATIENCE_S)
    assert status.state == "running", status.reason
    await servers.aclose()


@pytest.mark.parametrize(
    ("argv", "file", "text", "package"),
    [
        (["npx", "-y", "pkg@1"], "cache/npm/_npx/a/node_modules/pkg/package.json", "", "pkg 1.0"),
        (["npx", "pkg"], "cache/_npx/a/node_modules/pkg/package.json", "", "pkg 1.0"),
        (["npx", "--package=@a/b", "c"], "cache/npm/_npx/a/node_modules/@a/b/package.json", "", "pkg 1.0"),
        (["uvx", "mcp-server-x==2", "--y"], "cache/uv/archive-v0/a/mcp_server_x-2.dist-info/x", "x", "mcp_server_x 2"),
        (["uvx", "--from", "A.b", "c"], "cache/uv/archive-v0/a/a_b-2.dist-info/x", "x", "a_b 2"),
        (["node", "dist/index.js"], "package.json", "", "pkg 1.0"),
        (
            ["bin/tool"],
            "lib/python3.12/site-packages/the_tool-3.dist-info/entry_points.txt",
            "tool = a:b",
            "the_tool 3",
        ),
        (["bin/python3", "-m", "tool.x"], "lib/python3.12/site-packages/tool-3.dist-info/x", "x", "tool 3"),
        (["npx", "-y", "../../pkg"], "cache/npm/_npx/a/node_modules/pkg/package.json", "", ""),
    ],
)
def test_b3_the_package_is_found_behind_a_command(
    tmp_path: Path, argv: list[str], file: str, text: str, package: str
) -> None:
    for path, content in (("dist/index.js", "x"), ("bin/tool", "x"), ("bin/python3", "x"), (file, text or PACKAGE)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
        (tmp_path / path).chmod(0o755)
    command = str(tmp_path / argv[0]) if argv[0].startswith("bin/") else argv[0]
    config = ServerConfig("srv-1", "x", command=command, args=tuple(argv[1:]), cwd=str(tmp_path))
    assert identity_of(config, caches=(str(tmp_path / "cache"),)).package == package


PACKAGE = '{"name": "pkg", "version": "1.0"}'
