"""The first edition's examples and the code blocks of its documentation run unchanged against the present code."""

import asyncio
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.fixtures.edition_1.scene import FOLDER, search_engine
from tests.kit.app import clean_environment, running_app
from windlass import load_config

EXAMPLES = FOLDER / "examples"
BLOCKS: list[dict[str, str]] = json.loads((FOLDER / "blocks.json").read_text())


def blocks(kind: str) -> list[Any]:
    found = [block for block in BLOCKS if block["kind"] == kind]
    return [pytest.param(one["code"], id=f"{one['page']}-{number}") for number, one in enumerate(found)]


async def run(*argv: str, env: dict[str, str]) -> str:
    """A Python program's output; any warning that it causes in its own code ends it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *argv, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()
    return out.decode()


def test_every_example_and_block_of_the_first_edition_is_run_here() -> None:
    here = Path(__file__).read_text()
    assert [path.stem for path in EXAMPLES.glob("*.py") if path.stem not in here] == []
    assert {block["kind"] for block in BLOCKS} == {"python", "sh", "toml"}


async def test_the_chat_with_tools_goes_through_its_steps(tmp_path: Path) -> None:
    with running_app(tmp_path / "home", verb="serve") as app:
        env = clean_environment(app.home, WINDLASS_TOKEN=app.token)
        shown = await run(str(EXAMPLES / "test_chat_with_tools.py"), app.url, env=env)
    assert "Chat completed successfully" in shown
    assert 'assistant calls list_directory {"path": "/docs"}' in shown
    assert 'tool: {"path": "/docs", "files": ["API.md", "README.md"]}' in shown


def test_the_app_with_windlass_inside_answers() -> None:
    spec = importlib.util.spec_from_file_location("embed_of_the_first_edition", EXAMPLES / "embed.py")
    assert spec and spec.loader
    embed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(embed)
    with TestClient(embed.app) as client:
        answer = client.post("/ask", content="/stock item=rope").json()
    assert (answer["outcome"], answer["calls"]) == ("answered", ["stock"])


async def test_the_researcher_searches_and_names_its_source(tmp_path: Path) -> None:
    async with search_engine() as url:
        (tmp_path / "windlass.toml").write_text(f'[web_search]\nbackend = "searxng"\nsearxng_url = "{url}"\n')
        question = "What is the weather in Nanaimo?"
        shown = await run(str(EXAMPLES / "researcher.py"), question, env=clean_environment(tmp_path))
    assert "12 C" in shown and "[1] Nanaimo weather https://weather.example/nanaimo" in shown


@pytest.mark.parametrize(("text", "state"), [("Sails set", "ok"), ("my password is x", "denied")])
async def test_the_approval_bot_decides_by_its_own_rules(text: str, state: str, tmp_path: Path) -> None:
    words = f"/write_note title=Log text='{text}'"
    shown = await run(str(EXAMPLES / "approval_bot.py"), words, env=clean_environment(tmp_path))
    assert shown.startswith(f"write_note: {state}")


@pytest.mark.parametrize("code", blocks("python"))
async def test_a_python_block_of_the_documentation_runs(code: str, tmp_path: Path) -> None:
    shown = await run("-W", "error", "-W", "default::DeprecationWarning", "-c", code, env=clean_environment(tmp_path))
    assert "answered" in shown or "ok" in shown


@pytest.mark.parametrize("code", blocks("toml"))
def test_a_block_of_settings_is_read(code: str, tmp_path: Path) -> None:
    file = tmp_path / "windlass.toml"
    file.write_text(code.replace("file:~/.config/zai-key", "a key"))
    assert load_config(config=file, env={"WINDLASS_HOME": str(tmp_path), "REMOTE_AUTH": "x"})


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="the guide's commands need curl and jq")
def test_the_commands_of_the_api_guide_run(tmp_path: Path) -> None:
    code = "".join(block["code"] for block in BLOCKS if block["kind"] == "sh" and block["page"] == "api.md")
    with running_app(tmp_path / "home") as app:
        env = clean_environment(app.home, URL=app.url, TOKEN=app.token)
        argv = ["bash", "-c", f"set -eo pipefail\n{code}"]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert '\\"value\\": 42' in done.stdout and "event: tool_progress" in done.stdout and '"answered"' in done.stdout
