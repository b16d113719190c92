"""An import is all there or not at all, whenever the process ends."""

from pathlib import Path

import aiohttp
import pytest

from tests.kit.windlass_process import WindlassProcess

MESSAGES = [{"role": "user", "content": f"message {n}"} for n in range(5)]


async def test_an_import_that_a_kill_cut_in_two_is_gone_at_the_next_start(tmp_path: Path) -> None:
    server = WindlassProcess(tmp_path / "home", verb="demo")
    await server.start(WINDLASS_FAULT="rows_written:3:kill")
    with pytest.raises(aiohttp.ClientError):
        await server.call("POST", "/conversations/import", {"messages": MESSAGES})
    await server.ended()
    await server.start()
    try:
        listed = (await server.get("/conversations"))["conversations"]
        assert listed == []
        await server.post("/conversations/import", {"messages": MESSAGES})
    finally:
        await server.stop()
    await server.start()
    try:
        (kept,) = (await server.get("/conversations"))["conversations"]
        messages = (await server.get(f"/conversations/{kept['id']}/messages"))["messages"]
        assert [message["content"] for message in messages] == [message["content"] for message in MESSAGES]
    finally:
        await server.stop()
