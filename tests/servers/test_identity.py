"""A program that was replaced under a confirmed command does not run unnoticed."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S
from tests.servers.kit import program
from windlass.core.errors import Conflict
from windlass.servers import ServerConfig, Servers
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
    return program([ledger.argv()[0], str(script)], slug="ledger", **more)


async def stopped_after_a_run(servers: Servers, config: ServerConfig) -> None:
    await servers.put(config)
    servers.start(config.id)
    assert (await servers.wait_ready(config.id, PATIENCE_S)).state == "running"
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
