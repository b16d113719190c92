"""What a program sees and gets over `/mcp`."""

import pytest

from tests.gateway.kit import ERAS, mcp_client, text_of
from tests.kit.ledger_file import Ledger
from tests.web.kit import Site


@pytest.mark.parametrize("mode", ERAS)
async def test_a_program_lists_and_calls_the_tools_that_new_chats_have(site: Site, ledger: Ledger, mode: str) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    async with mcp_client(site, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("record", {"effect_id": "a"})
    assert tools["destroy"].annotations.destructive_hint is True
    assert tools["wrong_output"].output_schema == {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert text_of(result) == "recorded a"
    assert ledger.counts() == {"a": 1}
