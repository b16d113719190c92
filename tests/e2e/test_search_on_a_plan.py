"""Search on the seed's own plan: only its three variables, and a stub that speaks Z.AI's chat and its remote MCP
search, and refuses the built-in and the REST search, as the coding plan is reported to."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Done
from tests.kit.app import clean_environment
from tests.kit.windlass_process import model_settings
from tests.kit.zai_search import RemoteSearch, zai_origin
from windlass.testing import call, say

QUESTION = "// what's the weather in Nanaimo?"
FOUND = [{"title": "Nanaimo weather", "link": "http://10.0.0.7/nanaimo", "content": "Rain and 7 °C in Nanaimo today."}]
ANSWER = "It rains in Nanaimo, 7 °C [1]."


@pytest.mark.parametrize("model", ["glm-4.7", None], ids=["named", "unset"])
async def test_the_seeds_three_variables_are_enough_for_a_search_with_sources(
    tmp_path: Path, model: str | None
) -> None:
    remote = RemoteSearch(FOUND)
    first = say("I'll search for the weather in Nanaimo...") if model else call("web_search", query="weather Nanaimo")
    async with zai_origin(remote, first, say(ANSWER)) as llm:
        settings = {name: value for name, value in model_settings(llm.base_url).items() if model or name != "LLM_MODEL"}
        done = await windlass_ask(tmp_path / "home", settings, QUESTION)
        assert done.code == 0, done.err
        assert done.out.strip() == ANSWER
        assert "[1] Nanaimo weather  http://10.0.0.7/nanaimo" in done.err
        assert [request.model for request in llm.requests] == ["glm-4.7"] * 2
        assert "Searched the web with zai-mcp for:" in llm.requests[1].results[0]
        assert "Also tried: Z.AI search answered HTTP 429: 1113: Insufficient balance" in llm.requests[1].results[0]
        assert len(remote.asked) == 1 and not llm.refused


async def windlass_ask(home: Path, settings: dict[str, str], text: str) -> Done:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "windlass", "ask", text),
        env={**clean_environment(home), **settings},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return Done(process.returncode or 0, out.decode(), err.decode())
