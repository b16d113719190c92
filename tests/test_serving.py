"""The server process: what it says at start, and which signals it survives."""

import json
import re
import signal
from pathlib import Path

import pytest
import pytest_asyncio

from tests.kit.waiting import until
from tests.kit.windlass_process import WindlassProcess, windlass
from windlass.providers import detect_local
from windlass.testing import StrictLLM, say

DEMO = "the demo model answers"


@pytest_asyncio.fixture
async def no_local_model() -> None:
    if await detect_local():
        pytest.skip("a model server runs on this machine, so the demo model does not answer")


async def test_a_hangup_is_survived_and_says_that_nothing_was_reloaded(tmp_path: Path) -> None:
    async with windlass(tmp_path / "home", verb="demo") as server:
        assert server.process
        server.process.send_signal(signal.SIGHUP)
        await until(lambda: "SIGHUP" in server.log, "the line about the signal")
        assert (await server.call("GET", "/health")).status == 200
        [line] = [line for line in server.log.splitlines() if "SIGHUP" in line]
        assert "not reloaded" in line and "restart" in line
        assert await server.stop() == 0


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
        async with windlass(tmp_path / "home", env=settings) as server:
            assert await _answer(server) == "A real answer."
            assert DEMO not in server.log


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
