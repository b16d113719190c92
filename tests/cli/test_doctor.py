"""Faults planted one at a time: `windlass doctor` names each, and the way out of it."""

import asyncio
import os
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Commands, Done
from tests.kit.app import RunningApp
from windlass.cli import checks
from windlass.testing import StrictLLM, error, say

HEADS = ["check", "result", "time", "detail"]


@pytest.fixture
def home(alone: Commands) -> Path:
    alone.home.mkdir(mode=0o700)
    return alone.home


def bad(done: Done) -> list[str]:
    """The problems, each with its fix."""
    assert "Traceback" not in done.err
    return [f"{one['about']}: {one['told']} | {one['fix']}" for one in done.json if one["level"] == "bad"]


def missed(commands: Commands, wanted: str, fix: str, *argv: str, **env: str) -> str:
    """Nothing when the fault is named with its fix and the exit code tells; otherwise what was reported instead."""
    done = commands("doctor", "--json", *argv, **env)
    faults = bad(done)
    named = any(wanted in fault and fix in fault.partition(" | ")[2] for fault in faults)
    return "" if named and done.code == 1 else f"{wanted!r} with {fix!r} is not in {faults}: {done}"


def settings(home: Path, text: str) -> None:
    (home / "windlass.toml").write_text(text)


def test_a_working_set_up_has_nothing_to_fix(alone: Commands) -> None:
    done = alone("doctor", WINDLASS_PORT="0")
    assert done.code == 0 and "Nothing to fix." in done.err
    assert "rounds 10" in done.err, "the limits are shown"


def test_settings_that_cannot_be_read(alone: Commands, home: Path) -> None:
    settings(home, "[web_search]\nbackend = 'yahoo'\n")
    assert not missed(alone, "windlass.toml, line 2", "Correct that line")


def test_a_key_whose_variable_is_not_set(alone: Commands, home: Path) -> None:
    settings(home, '[provider]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\napi_key = "env:MY_KEY"\n')
    assert not missed(alone, "MY_KEY is not set", "Set MY_KEY")


def test_a4_a_token_that_is_too_short(alone: Commands) -> None:
    assert not missed(alone, "WINDLASS_TOKEN is too short", "secrets.token_urlsafe", "--offline", WINDLASS_TOKEN="1")


def test_a_data_folder_that_is_a_file(alone: Commands) -> None:
    alone.home.write_text("")
    assert not missed(alone, "is not a folder", "WINDLASS_HOME")


def test_a_data_folder_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not missed(Commands(tmp_path / "file" / "home"), "file is not a folder", "WINDLASS_HOME")


def test_a_running_server_is_asked_for_its_model_whatever_the_settings_here(served: RunningApp) -> None:
    abouts = [one["about"] for one in Commands(served.home)("doctor", "--json").json]
    assert "model Demo model" in abouts and "model" not in abouts


def test_what_the_tools_of_a_new_chat_cost_is_shown_and_what_happens_beyond_the_budget(
    alone: Commands, home: Path
) -> None:
    within = {one["about"]: one for one in alone("doctor", "--json", WINDLASS_PORT="0").json}["tools"]
    settings(home, "[limits]\ntools = 1\n")
    beyond = {one["about"]: one for one in alone("doctor", "--json", WINDLASS_PORT="0").json}["tools"]
    assert (within["level"], beyond["level"]) == ("ok", "note")
    assert "tokens in each request" in within["told"] and "the model searches for the others" in beyond["told"]
    assert "limits.tools" in beyond["fix"]


def test_a_data_folder_that_cannot_be_written(alone: Commands, home: Path) -> None:
    with unwritable(home):
        assert not missed(alone, "cannot be written", "Fix its permissions")


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """Rights do not bind root; a read-only disk does."""
    folder.chmod(0o500)
    if os.geteuid() != 0:
        yield
        return
    mounting = ["mount", "-t", "tmpfs", "-o", "ro,size=4k", "tmpfs", str(folder)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("root may write anywhere, and no read-only disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_token_that_others_can_read(alone: Commands, home: Path) -> None:
    (home / "token").write_text("t")
    (home / "token").chmod(0o644)
    assert not missed(alone, "Others on this machine can read", "chmod 600", "--offline")


@pytest.mark.parametrize("name", ["windlass.db", "windlass.db-wal", "windlass.v1.bak", "blobs"])
def test_f4_data_that_others_can_read(alone: Commands, home: Path, name: str) -> None:
    (home / name).mkdir() if name == "blobs" else (home / name).touch()
    (home / name).chmod(0o755)
    assert not missed(alone, f"can read {home / name}", f"chmod -R go= {home / name}", "--offline")


def test_f4_a_data_folder_that_others_can_list_is_named(alone: Commands, home: Path) -> None:
    home.chmod(0o755)
    found = [one for one in alone("doctor", "--json", "--offline").json if str(home) in one["told"] and one["fix"]]
    assert [(one["level"], one["fix"]) for one in found] == [("warn", f"chmod 700 {home}")]


def test_a_damaged_database(alone: Commands, home: Path) -> None:
    with sqlite3.connect(home / "windlass.db") as db:
        db.execute("create table things (a)")
        db.executemany("insert into things values (?)", [("x" * 500,)] * 100)
    db.close()
    body = bytearray((home / "windlass.db").read_bytes())
    body[4096 * 2 : 4096 * 2 + 2000] = os.urandom(2000)
    (home / "windlass.db").write_bytes(body)
    assert not missed(alone, "is damaged", "Restore a backup")


def test_a_full_disk(alone: Commands, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "LEAST_FREE", 1 << 62)
    assert not missed(alone, "are free under", "Free some space", "--offline")


def test_a_port_in_use(alone: Commands, home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert not missed(
            alone, f"Port {port} on 127.0.0.1 cannot be used", "WINDLASS_PORT", "--offline", WINDLASS_PORT=port
        )


def test_a_page_that_was_not_built(alone: Commands, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "PAGE", home / "nowhere")
    done = alone("doctor", "--json", "--offline", WINDLASS_PORT="0")
    assert [one["fix"] for one in done.json if one["about"] == "page"] == ["Install Node, then `make setup`."]
    assert done.code == 0, "the rest works"


def test_a_server_that_went_down_hard(alone: Commands, home: Path) -> None:
    (home / "server.json").write_text('{"url": "http://127.0.0.1:9/", "pid": 1}')
    done = alone("doctor", "--offline", WINDLASS_PORT="0")
    assert "server.json names a server that does not answer" in done.err and "start it again" in done.err


def test_a_remote_provider_without_a_key(alone: Commands, home: Path) -> None:
    settings(home, '[provider]\nbase_url = "https://api.example.com/v1"\nmodel = "m"\n')
    assert not missed(alone, "has no API key", "Set api_key under [provider]", "--offline")


def test_a_provider_without_a_model_is_a_problem_and_the_advice_solves_it(alone: Commands, home: Path) -> None:
    with model_server(say("ready"), models=["text-embedding-3", "m"]) as url:
        env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": url, "WINDLASS_PORT": "0"}
        assert not missed(alone, "No model is named for", "Set LLM_MODEL and start again. Its models: m.", **env)
        assert not missed(alone, "No model is named for", "Set LLM_MODEL", "--offline", **env)
        assert alone("doctor", **env, LLM_MODEL="m").code == 0


def test_a_fallback_that_names_no_provider(alone: Commands, home: Path) -> None:
    settings(home, '[provider]\nname="a"\nbase_url="http://127.0.0.1:9/v1"\nmodel="m"\nfallback=["b/m", "a/n"]\n')
    done = alone("doctor", "--offline", "--json", WINDLASS_PORT="0")
    assert [one["told"] for one in done.json if one["told"].startswith("The fallback")] == [
        "The fallback b/m names no provider of windlass.toml."
    ]


@pytest.mark.parametrize(
    ("server", "message", "fix"),
    [
        ('command = "no-such-program"', "no-such-program is not found", "Install it"),
        ('command = "npx-missing"\ncwd = "/no/such/folder"', "/no/such/folder does not exist", "correct cwd"),
        ("trusted = true", "neither a command nor a url", "windlass.toml"),
        ('command = "true"\nenv = { KEY = "env:NOT_SET" }', "NOT_SET is not set", "Set NOT_SET"),
    ],
)
def test_servers_that_cannot_start(alone: Commands, home: Path, server: str, message: str, fix: str) -> None:
    settings(home, f"[servers.mine]\n{server}\n")
    assert not missed(alone, message, fix, "--offline")


@pytest.mark.parametrize("level", ["strict", "bwrap"])
def test_a_sandbox_that_is_not_installed(alone: Commands, home: Path, level: str) -> None:
    settings(home, f'[servers.mine]\ncommand = "{sys.executable}"\nsandbox = "{level}"\n')
    assert not missed(alone, "bubblewrap is not installed", "Install bubblewrap", "--offline", PATH=str(home))


def test_b1_the_level_of_isolation_is_named_with_the_way_to_a_better_one(alone: Commands, home: Path) -> None:
    settings(home, f'[servers.mine]\ncommand = "{sys.executable}"\nargs = ["-c", ""]\nsandbox = "off"\n')
    (home / "bwrap").write_text("#!/bin/sh\necho 'no user namespaces' >&2\nexit 1\n")
    (home / "bwrap").chmod(0o755)
    done = alone("doctor", "--json", PATH=f"{home}{os.pathsep}{os.environ['PATH']}")
    found = {(one["about"], one["told"], one["fix"]) for one in done.json}
    [machine] = [one for one in found if one[0] == "isolation"]
    assert "bubblewrap does not work here (no user namespaces)" in machine[1] and "user namespaces" in machine[2]
    assert any(one[1].startswith("Its isolation is switched off") and 'sandbox = "default"' in one[2] for one in found)


def test_a_server_that_dies_when_it_starts(alone: Commands, home: Path) -> None:
    code = "import sys; sys.exit('no licence')"
    settings(home, f'[servers.mine]\ncommand = "{sys.executable}"\nargs = ["-c", "{code}"]\n')
    assert not missed(alone, "no licence", "windlass servers log mine")


@pytest.mark.parametrize("backend", ["brave", "searxng", "mcp", "tavily", "exa", "serper"])
def test_a_search_backend_without_what_it_needs(alone: Commands, home: Path, backend: str) -> None:
    settings(home, f'[web_search]\nbackend = "{backend}"\n')
    assert not missed(alone, f"The backend {backend} needs", "Set web_search.", "--offline")


@contextmanager
def model_server(reply: Any, models: list[str] | None = None) -> Iterator[str]:
    """A strict model server on a loop of its own; the command line needs this thread for itself."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    llm = StrictLLM(lambda request: reply, models=models)
    asyncio.run_coroutine_threadsafe(llm.__aenter__(), loop).result()
    try:
        yield llm.base_url
    finally:
        asyncio.run_coroutine_threadsafe(llm.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (error(401, None, "bad key"), "key"),
        (error(429, "1113", "Insufficient balance"), "plan"),
        (error(400, "1211", "Unknown Model"), "odel"),
    ],
)
def test_a_key_a_plan_or_a_model_that_is_wrong(alone: Commands, home: Path, reply: object, message: str) -> None:
    with model_server(reply) as url:
        done = alone(
            "doctor", "--json", OPENAI_API_KEY="k", OPENAI_BASE_URL=url, LLM_MODEL="glm-4.7", WINDLASS_PORT="0"
        )
    assert done.code == 1
    assert any(message in fault for fault in bad(done)), bad(done)


def test_a_model_server_that_is_not_there(alone: Commands, home: Path) -> None:
    env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "LLM_MODEL": "m", "WINDLASS_PORT": "0"}
    done = alone("doctor", "--json", **env)
    assert done.code == 1 and any("127.0.0.1:9" in fault or "connect" in fault.lower() for fault in bad(done)), done


def test_a_model_that_answers_is_well(alone: Commands, home: Path) -> None:
    with model_server(say("ready")) as url:
        done = alone("doctor", "--json", OPENAI_API_KEY="k", OPENAI_BASE_URL=url, LLM_MODEL="m", WINDLASS_PORT="0")
    levels = {one["about"]: one["level"] for one in done.json}
    assert levels["model environment"] == "ok", done
    assert levels["model environment abilities"] == "warn", "it neither streams nor calls a tool"


def test_a_live_check_prints_a_table_without_the_key_and_its_exit_code_tells(alone: Commands, home: Path) -> None:
    settings(home, '[web_search]\nbackend = "off"\n')
    with model_server(say("ready")) as url:
        env = {"OPENAI_API_KEY": "key-canary-of-the-test", "OPENAI_BASE_URL": url, "LLM_MODEL": "m"}
        done = alone("doctor", "--live", **env)
    title, head, *rows = done.out.splitlines()
    assert "m at 127.0.0.1/v1" in title and title.endswith("6 requests") and head.split() == HEADS
    assert [" ".join(row.split()[:2]) for row in rows[:3]] == ["chat ok", "stream no", "tools failed"]
    assert done.code == 1 and "key-canary" not in done.out + done.err


def test_there_is_nothing_to_check_live_without_an_account(alone: Commands) -> None:
    done = alone("doctor", "--live")
    assert done.code == 1 and "the demo model answers" in done.err and "OPENAI_API_KEY" in done.err
