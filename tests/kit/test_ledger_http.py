"""The ledger server over streamable HTTP, against the real `mcp` client in both eras."""

import asyncio
import json

import httpx2
import mcp_types as types
import pytest
from mcp import Client, MCPError

from tests.kit.ledger.streamable import FAULTS
from tests.kit.ledger_file import Ledger
from tests.kit.ledger_http import ledger_http
from tests.kit.waiting import PATIENCE_S

ERAS = {"handshake": "2025-11-25", "stateless": "2026-07-28"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "hi"}}}
ENVELOPE = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def words(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, types.TextContent))


async def test_tools_run_with_progress_and_questions(ledger: Ledger, era: str) -> None:
    steps: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async def answer(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": "Ada", "number": 7})

    async with ledger_http(ledger, "--era", era) as url:
        async with Client(url, read_timeout_seconds=20, elicitation_callback=answer) as client:
            assert client.protocol_version == ERAS[era]
            assert words(await client.call_tool("record", {"effect_id": "a"})) == "recorded a"
            await client.call_tool("progress", {"steps": 2}, progress_callback=note)
            assert words(await client.call_tool("ask", {})) == "Ada wants 7"
            with pytest.raises(MCPError, match="refused"):
                await client.call_tool("raise_error", {})
    assert ledger.counts()["a"] == 1
    assert steps == [1, 2]


async def test_calls_overlap(ledger: Ledger, era: str) -> None:
    async with ledger_http(ledger, "--era", era) as url, Client(url) as client, asyncio.TaskGroup() as run:
        for number in range(4):
            run.create_task(client.call_tool("record_slow", {"effect_id": str(number), "gate": ledger.gate()}))
        await ledger.seen("started", times=4)
        ledger.open()
    assert ledger.most_at_once() == 4


async def test_a_cancelled_call_is_in_the_ledger(ledger: Ledger, era: str) -> None:
    async with ledger_http(ledger, "--era", era) as url, Client(url) as client:
        call = asyncio.create_task(client.call_tool("hang", {"effect_id": "h"}))
        await ledger.seen("started", "h")
        call.cancel()
        await ledger.seen("cancelled", "h")
        assert words(await client.call_tool("echo", {"text": "alive"})) == "alive"


async def test_a_change_of_tools_is_told(ledger: Ledger, era: str) -> None:
    changed = asyncio.Event()

    async def watch(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async with ledger_http(ledger, "--era", era) as url, Client(url, message_handler=watch) as client:
        if era == "stateless":
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("change_tools", {"name": "echo"})
                await anext(changes)
        else:
            await ledger.seen("listening")
            await client.call_tool("change_tools", {"name": "echo"})
        assert await asyncio.wait_for(changed.wait(), PATIENCE_S)


async def test_a_standing_stream_misses_no_change_once_its_headers_are_there(ledger: Ledger) -> None:
    params = {"name": "change_tools", "arguments": {"name": "echo"}}
    async with ledger_http(ledger) as url, httpx2.AsyncClient(timeout=PATIENCE_S) as http:
        opened = await http.post(url, json={**CALL, "method": "initialize", "params": {}})
        http.headers["Mcp-Session-Id"] = opened.headers["Mcp-Session-Id"]
        for _ in range(20):
            async with http.stream("GET", url) as stream:
                await http.post(url, json={**CALL, "params": params})
                lines = stream.aiter_lines()
                assert [await anext(lines), "list_changed" in await anext(lines)] == ["event: message", True]


async def test_headers_are_in_the_ledger_and_a_token_can_be_asked_for(ledger: Ledger) -> None:
    async with ledger_http(ledger, "--era", "stateless", "--bearer", "right") as url, httpx2.AsyncClient() as http:
        body = {**CALL, "params": {**CALL["params"], **ENVELOPE}}  # type: ignore[dict-item]
        assert (await http.post(url, json=body)).status_code == 401
        assert (await http.post(url, json=body, headers={"Authorization": "Bearer right"})).status_code == 200
    asked = [event["headers"] for event in ledger.events() if event["event"] == "request"]
    assert ["authorization" in headers for headers in asked] == [False, True]


async def test_a_handshake_session_must_be_known(ledger: Ledger) -> None:
    async with ledger_http(ledger) as url, httpx2.AsyncClient() as http:
        assert (await http.post(url, json=CALL, headers={"Mcp-Session-Id": "stranger"})).status_code == 404


EXPECTED = {"401": 401, "404": 404, "500": 500, "503": 503, "redirect": 302, "cut": 200, "text": 200, "gzip": 200}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_hits_the_call_it_was_meant_for(ledger: Ledger, fault: str) -> None:
    body = {**CALL, "params": {**CALL["params"], **ENVELOPE}}  # type: ignore[dict-item]
    options = ("--era", "stateless", "--http-fault", f"{fault}@2")
    async with ledger_http(ledger, *options) as url, httpx2.AsyncClient(timeout=20) as http:
        first, second, third = [await http.post(url, json=body) for _ in range(3)]
    for fine in (first, third):
        assert json.loads(fine.text.split("data: ")[1])["result"]["content"][0]["text"] == "hi"
    assert second.status_code == EXPECTED[fault]
    assert "result" not in second.text[:1000]
    assert (len(second.content) == 64 * 1024 * 1024) == (fault == "gzip")
    assert second.headers.get("retry-after") == ("1" if fault == "503" else None)
