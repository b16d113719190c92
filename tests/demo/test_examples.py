"""What the demo advertises works, through the real loop and the real server."""

from collections.abc import AsyncIterator

import pytest_asyncio

from windlass import Windlass, load_config
from windlass.providers.demo import EXAMPLES


@pytest_asyncio.fixture
async def w() -> AsyncIterator[Windlass]:
    async with Windlass(config=load_config(demo=True)) as opened:
        yield opened


async def test_every_example_it_gives_can_be_typed_as_it_stands(w: Windlass) -> None:
    turn = await w.ask("\n".join(EXAMPLES.values()), approve=lambda call: True)
    assert {call.name: call.state for call in turn.calls} == dict.fromkeys(EXAMPLES, "ok")
    assert turn.outcome == "answered" and turn.sources


async def test_every_tool_of_the_server_has_an_example_and_is_on_in_a_new_conversation(w: Windlass) -> None:
    conversation_id = await w.begin()
    assert {tool.tool_name for tool in await w.tools.enabled(conversation_id)} == EXAMPLES.keys()


async def test_only_what_changes_something_asks(w: Windlass) -> None:
    turn = await w.ask("\n".join(EXAMPLES.values()))
    assert [call.name for call in turn.pending_calls] == ["write_note"]
