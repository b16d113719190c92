"""What is kept of a tool when somebody agrees to it."""

import json
from pathlib import Path

from tests.kit.ledger_file import Ledger
from tests.web.kit import Site, open_site
from windlass.testing import StrictLLM


async def test_a_pin_says_which_version_of_the_server_was_agreed_to(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    definitions = tmp_path / "tools.json"
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as site:
        _define(definitions, "Say the same.")
        await site.add_ledger(ledger, "--tools", str(definitions))
        await site.enable(await site.conversation(), "echo")
        _define(definitions, "Say the same, and tell me.")
        await _restart(site)
        [tool] = [one for one in (await site.get("/servers/ledger/tools"))["tools"] if one["name"] == "echo"]
    assert tool["changed"] and tool["was"]["description"] == "Say the same."
    assert tool["was"]["program"] == "ledger 1.0.0"


def _define(file: Path, description: str) -> None:
    file.write_text(json.dumps([{"name": "echo", "description": description, "inputSchema": {"type": "object"}}]))


async def _restart(site: Site) -> None:
    await site.post("/servers/ledger/stop")
    await site.post("/servers/ledger/start")
