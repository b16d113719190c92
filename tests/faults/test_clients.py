"""More than one client, and one that does not read."""

import asyncio
from pathlib import Path

from tests.faults.watching import watching
from tests.kit.waiting import PATIENCE_S
from tests.kit.windlass_process import windlass
from tests.web.kit import TOKEN, open_site
from windlass.testing import Gate, StrictLLM, say, wait_for


async def test_two_clients_see_one_log(tmp_path: Path) -> None:
    gate = Gate()
    async with StrictLLM([say("One ", wait_for(gate), "answer.")]) as llm, open_site(tmp_path, llm) as site:
        conversation = await site.conversation()
        path = f"/conversations/{conversation}/events"
        async with site.events(path) as first, site.events(path) as second:
            asking = asyncio.create_task(site.post(f"/conversations/{conversation}/chat", {"content": "Hello"}))
            await gate.reached()
            late = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Me too"})
            gate.open()
            answer = await asking
            seen = [[(e.id, e.event) for e in await tab.until("turn_finished") if e.id] for tab in (first, second)]
    assert (late.status, late.body["error"]["detail"]["turn_id"]) == (409, answer["turn_id"])
    assert seen[0] == seen[1] and seen[0][-1][1] == "turn_finished"


async def test_a_reader_that_does_not_read_holds_up_nobody(tmp_path: Path) -> None:
    """It fills its socket, the run goes on, and when it reads again it misses nothing durable."""
    words = [f"{n} " * 40 for n in range(4000)]
    async with StrictLLM([say(*words), say("Done.")]) as llm, open_site(tmp_path, llm) as site:
        conversation = await site.conversation()
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port, limit=1024)
        head = f"GET /conversations/{conversation}/events HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n"
        writer.write(f"{head}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
        await reader.readuntil(b"retry: 1000")
        for text in ("first", "second"):
            answer = await site.post(f"/conversations/{conversation}/chat", {"content": text})
            assert answer["outcome"] == "answered"
        log = [event for turn in await _turns(site, conversation) for event in turn]
        body = b""
        async with asyncio.timeout(PATIENCE_S):
            while f"id: {log[-1]['id']}\n".encode() not in body:
                body += await reader.read(1 << 20)
        writer.close()
    ids = [int(line[4:]) for line in body.split(b"\n") if line.startswith(b"id: ")]
    assert ids == [event["id"] for event in log]


async def _turns(site: object, conversation: str) -> list[list[dict[str, int]]]:
    get = site.get  # type: ignore[attr-defined]
    turns = (await get(f"/conversations/{conversation}/turns"))["turns"]
    return [(await get(f"/turns/{turn['id']}/log"))["events"] for turn in turns]


async def test_a_client_that_waits_through_a_restart_goes_on(tmp_path: Path) -> None:
    async with windlass(tmp_path / "home", "--no-auth") as server:
        (tmp_path / "home" / "token").write_text("none")
        conversation = (await server.post("/conversations", {}))["conversation"]["id"]
        async with watching(server, conversation) as client:
            await server.post(f"/conversations/{conversation}/chat", {"content": "/think once"})
            first = client.last
            await server.kill()
            await server.start()
            await server.post(f"/conversations/{conversation}/chat", {"content": "/think again"})
            await client.saw(first + 4)
    assert [number for number, *_ in client.transcript.seen] == list(range(1, client.last + 1))
