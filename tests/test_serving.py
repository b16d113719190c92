"""The server process: what it says at start, and which signals it survives."""

import asyncio
import json
import os
import re
import signal
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
import pytest_asyncio

from tests.kit.ledger_file import Ledger
from tests.kit.ports import own_port
from tests.kit.waiting import until
from tests.kit.windlass_process import WindlassProcess, windlass
from windlass.api.routes import ROUTES
from windlass.config import KEYLESS_SEARCH
from windlass.providers import detect_local
from windlass.testing import StrictLLM, say

DEMO = "the demo model answers"


@pytest_asyncio.fixture
async def no_local_model() -> None:
    if await detect_local():
        pytest.skip("a model server runs on this machine, so the demo model does not answer")


async def test_a_hangup_reloads_the_file_and_names_what_needs_a_restart(tmp_path: Path, ledger: Ledger) -> None:
    home, (command, *args) = tmp_path / "home", ledger.argv()
    server_table = f'[servers.ledger]\ncommand = "{command}"\nargs = {json.dumps(args)}\n'

    async def reload(settings: str, line: str) -> str:
        before = server.log
        (home / "windlass.toml").write_text(settings)
        assert server.process
        server.process.send_signal(signal.SIGHUP)
        await until(lambda: line in server.log[len(before) :], f"the line {line!r}")
        return server.log[len(before) :]

    async def answers_to(name: str) -> int:
        return (await server.call("GET", "/health", None, Host=name)).status

    async with windlass(home, "--allow-host", "flag.local", verb="demo") as server:
        await reload("", "changed: nothing")
        settings = '[server]\nallow_hosts = ["mybox.local"]\npublic_url = "https://chat.example.org/windlass"\n'
        settings += "[limits]\nrounds = 3\n" + server_table
        settings += '[[policy]]\ntool = "rm*"\napproval = "deny"\n'
        settings += '[provider]\nname = "own"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        said = await reload("durability = 'normal'\n" + settings, "restart Windlass to change")
        assert "changed: providers, servers, policy, allow_hosts, public_url\n" in said
        assert "restart Windlass to change durability, limits.rounds\n" in said
        assert [await answers_to(name) for name in ("mybox.local", "chat.example.org", "flag.local")] == [200] * 3
        assert (await server.call("GET", "/windlass/health")).status == 200
        await server.running("ledger")
        assert [rule["tool"] for rule in (await server.get("/policy"))["operator_rules"]] == ["rm*"]

        said = await reload("[server]\nallow_hosts = 5\n", "not reloaded")
        assert "windlass.toml, line 2" in said
        said = await reload('[server]\npublic_url = "https://x.example/servers"\n', "not reloaded")
        assert "/servers is one of Windlass's own" in said
        assert await answers_to("mybox.local") == 200, "the former settings hold"

        await reload("", "changed: providers, servers, policy, allow_hosts, public_url")
        assert [await answers_to(name) for name in ("mybox.local", "flag.local")] == [403, 200]
        assert (await server.call("GET", "/servers/ledger")).status == 404
        assert await server.stop() == 0


async def test_every_address_that_is_printed_works(tmp_path: Path) -> None:
    async with windlass(tmp_path / "home", "--host", "0.0.0.0", verb="demo") as server:
        await until(lambda: len(server.printed) > 1, "the addresses of this machine")
        addresses = re.findall(r"http://\S+\?key=\S+", "".join(server.printed))
        hosts = [urlsplit(address).hostname for address in addresses]
        assert hosts[0] == "127.0.0.1" and socket.gethostname().lower() in hosts and "0.0.0.0" not in hosts
        assert len({address.partition("=")[2] for address in addresses}) == len(addresses), "each has a key of its own"
        async with aiohttp.ClientSession() as session:
            for address in addresses:
                async with session.get(address) as page:
                    assert page.status == 200 and "<html" in await page.text()
                origin = address.partition("/?")[0]
                key = {"key": address.partition("=")[2]}
                async with session.post(f"{origin}/session", json=key, headers={"Origin": origin}) as signed_in:
                    assert signed_in.status == 200, await signed_in.text()
        assert await run("token", "--url", home=server.home) != "", "commands here find it too"


async def test_login_links_have_the_public_name(tmp_path: Path) -> None:
    public = "https://chat.example.org/windlass"
    async with windlass(tmp_path / "home", "--public-url", public, verb="demo") as server:
        await until(lambda: len(server.printed) > 1, "the second address")
        assert server.printed[0].startswith(f"Windlass is at {public}/?key=")
        assert server.url.startswith("http://127.0.0.1:") and server.url.endswith("/windlass")
        assert (await run("token", "--url", home=server.home)).startswith(f"{public}/?key=")


async def test_the_ops_port_answers_probes_without_a_token_and_nothing_else(tmp_path: Path) -> None:
    port = own_port()
    async with windlass(tmp_path / "home", "--ops-port", str(port), verb="demo") as server:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:

            async def status(path: str, method: str = "GET") -> int:
                async with session.request(method, path) as answer:
                    return answer.status

            assert [await status(path) for path in ("/health", "/ready", "/metrics")] == [200] * 3
            others = sorted({re.sub("{.*?}", "x", route.path) for route in ROUTES} - {"/health", "/ready", "/metrics"})
            assert {await status(path) for path in (*others, "/", "/ui/", "/docs")} == {404}
            assert await status("/ready", "POST") == 405
        assert (await server.call("GET", "/ready", None, Authorization="")).status == 401, "the main port as before"
        assert f"need no token on port {port}" in server.log
        assert await server.stop() == 0


async def run(*words: str, home: Path) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "WINDLASS_HOME": str(home)}
    argv = (sys.executable, "-m", "windlass", *words)
    process = await asyncio.create_subprocess_exec(*argv, env=env, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode().strip()


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.usefixtures("no_local_model")
async def test_the_demo_model_is_named_at_start_with_the_way_to_a_real_one(tmp_path: Path, log_format: str) -> None:
    async with windlass(tmp_path / "home", "--log-format", log_format) as server:
        await until(lambda: DEMO in server.log, "the line about the demo")
        advice = server.log
        assert advice.count(DEMO) == 1 and "http://" not in advice
        assert log_format == "text" or all(json.loads(line) for line in advice.splitlines())
    names = re.search(r"set ([A-Z_]+), ([A-Z_]+) and ([A-Z_]+) and start again", advice)
    assert names
    async with StrictLLM([say("A real answer.")]) as llm:
        settings = dict(zip(names.groups(), ("a-key", llm.base_url, "strict-model"), strict=True))
        (tmp_path / "home" / "windlass.toml").write_text("[web_search]\nkeyless = true\n")
        async with windlass(tmp_path / "home", env=settings) as server:
            assert await _answer(server) == "A real answer."
            assert DEMO not in server.log and KEYLESS_SEARCH not in server.log


@pytest.mark.usefixtures("no_local_model")
async def test_a_start_says_that_searches_may_go_to_public_engines_until_that_is_settled(tmp_path: Path) -> None:
    async with windlass(tmp_path / "home") as server:
        await until(lambda: KEYLESS_SEARCH in server.log, "the line about keyless search")
        assert server.log.count(KEYLESS_SEARCH) == 1 and "keyless" in server.log


@pytest.mark.usefixtures("no_local_model")
async def test_a_model_added_on_the_page_answers_at_once_as_the_line_says(tmp_path: Path) -> None:
    async with windlass(tmp_path / "home") as server, StrictLLM([say("A real answer.")]) as llm:
        await until(lambda: DEMO in server.log, "the line about the demo")
        assert "on the page under Models" in server.log
        added = {"name": "Mine", "base_url": llm.base_url, "api_key": "a-key", "model": "strict-model"}
        await server.post("/providers", added)
        assert await _answer(server) == "A real answer."


async def test_who_asks_for_the_demo_is_not_told_to_leave_it(tmp_path: Path) -> None:
    async with windlass(tmp_path / "home", verb="demo") as server:
        await server.running("demo")
        assert DEMO not in server.log


async def _answer(server: WindlassProcess) -> str:
    conversation = (await server.post("/conversations"))["conversation"]["id"]
    reply = await server.post(f"/conversations/{conversation}/chat", {"content": "Hello"})
    return str(reply["assistant_message"]["content"])
