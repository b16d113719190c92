"""What a model may read of kept results, and how what tools say is marked when it goes back to the model."""

import re

import pytest

from tests.kit.ledger_file import Ledger
from tests.web.kit import Site
from windlass.testing import StrictLLM, call, say


async def conversation_with(site: Site, *tools: str) -> str:
    conversation = await site.conversation()
    await site.enable(conversation, *tools)
    return conversation


async def chat(site: Site, conversation: str) -> None:
    await site.post(f"/conversations/{conversation}/chat", {"content": "go"})


@pytest.mark.parametrize("tool", ["result_read", "result_search"])
async def test_a_result_of_another_conversation_cannot_be_read(
    site: Site, strict_llm: StrictLLM, ledger: Ledger, tool: str
) -> None:
    await site.add_ledger(ledger)
    strict_llm.then(call("big", chars=20_000), say("Long."))
    await chat(site, await conversation_with(site, "big"))
    [result_id] = re.findall(r'result_id "([\w-]+)"', strict_llm.requests[-1].results[0])
    more = {"query": "abcdef"} if tool == "result_search" else {}
    strict_llm.then(call(tool, result_id=result_id, **more), say("No."))
    await chat(site, await conversation_with(site, "big"))
    [shown] = strict_llm.requests[-1].results
    assert "There is no result" in shown and "abcdef" not in shown
