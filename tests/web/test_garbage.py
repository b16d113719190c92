"""What a turn leaves behind goes at once. Circles would wait for the garbage collector, which makes everybody wait."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.kit.ledger_file import Ledger
from tests.web.kit import Site
from windlass.testing import StrictLLM, call, say, think


@contextmanager
def left_to_the_collector() -> Iterator[list[str]]:
    """The types of our own objects that nothing but the collector freed, filled in at the end."""
    found: list[str] = []
    gc.collect()
    gc.garbage.clear()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        names = {f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.garbage}
        found += sorted(name for name in names if name.startswith("windlass.") and "testing" not in name)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_turn_leaves_no_circles(site: Site, strict_llm: StrictLLM, ledger: Ledger, streamed: bool) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation()
    await site.enable(id, "echo")
    strict_llm.then(*(think("Hm.") + call("echo", text="hi"), say("Hello ", "world")) * 2)
    with left_to_the_collector() as left:
        await site.get("/health")  # while the collector ran, the server may have closed the idle connection
        await _turn(site, id, streamed)
        await _turn(site, id, streamed)
    assert left == []


async def _turn(site: Site, conversation_id: str, streamed: bool) -> None:
    path = f"/conversations/{conversation_id}/chat"
    if not streamed:
        await site.post(path, {"content": "Go"})
        return
    async with site.events(path, method="POST", body={"content": "Go"}) as stream:
        await stream.until("turn_finished")
