"""The examples run as they stand."""

import asyncio
import json
import subprocess
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import pytest_asyncio
from starlette.testclient import TestClient

from tests.kit.app import clean_environment, running_app
from tests.kit.ledger_file import Ledger
from tests.kit.ports import refusing_port
from tests.web.kit import TOKEN, Site, open_site
from windlass.testing import StrictLLM, call, error, say

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, *argv: str, env: dict[str, str]) -> str:
    done = subprocess.run([sys.executable, EXAMPLES / name, *argv], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_run_here() -> None:
    told = Path(__file__).read_text()
    assert all(path.stem in told for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("options", [[], ["--no-auth"]], ids=["with a token", "without one"])
def test_the_seeds_script_goes_through_its_steps(options: list[str], tmp_path: Path) -> None:
    with running_app(tmp_path / "home", *options, verb="serve") as app:
        token = {} if options else {"WINDLASS_TOKEN": app.token}
        shown = run("test_chat_with_tools.py", app.url, env=clean_environment(app.home, **token))
    assert "list_directory (Demo tools): List what is in a folder" in shown
    assert "Chat completed successfully" in shown
    assert 'assistant calls list_directory {"path": "/docs"}' in shown
    assert 'tool: {"path": "/docs", "files": ["API.md", "README.md"]}' in shown
    roles = [
        line.split()[0].rstrip(":") for line in shown.partition("5. All messages")[2].splitlines() if "   " in line
    ]
    assert [role for role in roles if role in ("user", "assistant", "tool")] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


async def chat_with_tools(url: str, token: str = TOKEN) -> tuple[int | None, str]:
    env = clean_environment(Path("nowhere"), WINDLASS_TOKEN=token)
    argv = (sys.executable, str(EXAMPLES / "test_chat_with_tools.py"), url)
    process = await asyncio.create_subprocess_exec(*argv, env=env, stdout=PIPE, stderr=STDOUT)
    shown, _ = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode, shown.decode()


@pytest_asyncio.fixture
async def site(tmp_path: Path, strict_llm: StrictLLM) -> AsyncIterator[Site]:
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as opened:
        yield opened


async def test_the_seeds_script_takes_any_model_and_any_server(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    strict_llm.then(say("I would rather talk."), call("echo", text="ahoy"), say("It said ahoy."))
    without_calls = await chat_with_tools(site.url)
    with_calls = await chat_with_tools(site.url)
    assert without_calls[0] == 0 and "assistant: I would rather talk." in without_calls[1]
    asked = "user: Can you use the echo tool to help me?"
    assert with_calls[0] == 0 and 'assistant calls echo {"text": "ahoy"}\n   tool: ahoy' in with_calls[1]
    assert asked in with_calls[1] and "assistant: It said ahoy." in with_calls[1]


async def test_the_seeds_script_is_a_plain_chat_where_no_server_runs(site: Site, strict_llm: StrictLLM) -> None:
    strict_llm.then(say("Gladly."), error(401, None, "bad key"))
    code, shown = await chat_with_tools(site.url)
    assert code == 0 and "no MCP server is running" in shown and "assistant: Gladly." in shown
    assert strict_llm.requests[0].tool_names == []
    code, shown = await chat_with_tools(site.url)
    assert code == 1 and "Traceback" not in shown and "user: Hello! Can you help me" in shown


async def test_the_seeds_script_names_the_call_that_needs_approval(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger, approval="ask")
    strict_llm.then(call("echo", text="ahoy"))
    code, shown = await chat_with_tools(site.url)
    assert code == 0 and "echo needs your approval" in shown and "windlass turns approve turn-" in shown
    assert "tool: " not in shown


async def test_the_seeds_script_says_why_it_cannot_begin(site: Site) -> None:
    code, shown = await chat_with_tools(site.url, token="wrong")
    assert code == 1 and "Traceback" not in shown and "POST /conversations: " in shown
    with refusing_port() as port:
        code, shown = await chat_with_tools(f"http://127.0.0.1:{port}")
    assert code == 1 and shown.startswith("1. Creating") and "Start one with `windlass demo`" in shown


def test_it_is_embedded_in_another_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from embed import app  # type: ignore[import-not-found]

    with TestClient(app) as client:
        answer = client.post("/ask", content="/stock item=rope").json()
    assert answer["outcome"] == "answered" and answer["calls"] == ["stock"]
    assert "12" in answer["answer"]


class SearchEngine(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = {"results": [{"title": "Nanaimo weather", "url": "https://weather.example/nanaimo", "content": "12 C"}]}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(found).encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def search_engine() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), SearchEngine)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_researcher_searches_without_being_told(search_engine: str, tmp_path: Path) -> None:
    (tmp_path / "windlass.toml").write_text(f'[web_search]\nbackend = "searxng"\nsearxng_url = "{search_engine}"\n')
    shown = run("researcher.py", "What is the weather in Nanaimo?", env=clean_environment(tmp_path))
    assert "12 C" in shown
    assert "[1] Nanaimo weather https://weather.example/nanaimo" in shown


@pytest.mark.parametrize(("text", "state"), [("Sails set", "ok"), ("my password is x", "denied")])
def test_the_bot_approves_by_its_own_rules(text: str, state: str, tmp_path: Path) -> None:
    shown = run("approval_bot.py", f"/write_note title=Log text='{text}'", env=clean_environment(tmp_path))
    assert shown.startswith(f"write_note: {state}")
    assert (tmp_path / "notes" / "log.md").exists() == (state == "ok")
