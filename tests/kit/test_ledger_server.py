"""The ledger server against the real `mcp` client, in both eras."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.kit.ledger.tools import ODD, TOOLS
from tests.kit.ledger_file import Ledger

ERAS = {"handshake": "2025-11-25", "stateless": "2026-07-28"}
KEY = cast(types.RequestParamsMeta, {"key": "k-1"})  # an open map, which mypy does not know yet
Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def connect(ledger: Ledger, era: str) -> Connect:
    @asynccontextmanager
    async def connected(*options: str, **client: Any) -> AsyncIterator[Client]:
        command, *args = ledger.argv("--era", era, *options)
        transport = stdio_client(StdioServerParameters(command=command, args=args))
        async with Client(transport, read_timeout_seconds=20, **client) as opened:
            yield opened

    return connected


def words(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, types.TextContent))


async def test_the_client_finds_out_the_era(connect: Connect, era: str) -> None:
    async with connect() as client:
        assert client.protocol_version == ERAS[era]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_an_older_handshake_version_can_be_pinned(ledger: Ledger, version: str) -> None:
    command, *args = ledger.argv("--version", version)
    async with Client(stdio_client(StdioServerParameters(command=command, args=args))) as client:
        assert client.protocol_version == version
        assert words(await client.call_tool("echo", {"text": "hi"})) == "hi"


async def test_every_tool_of_the_table_is_listed(connect: Connect) -> None:
    async with connect() as client:
        listed = await client.list_tools()
    assert {tool.name for tool in listed.tools} == {*TOOLS, "change_tools"}


async def test_hints_are_honest(connect: Connect) -> None:
    async with connect() as client:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    assert hints["record"] is None
    assert hints["read_only"] and hints["read_only"].read_only_hint is True
    assert hints["idempotent"] and hints["idempotent"].idempotent_hint is True
    assert hints["destroy"] and hints["destroy"].destructive_hint is True


async def test_an_effect_is_in_the_ledger_with_the_callers_key(connect: Connect, ledger: Ledger) -> None:
    async with connect() as client:
        result = await client.call_tool("record", {"effect_id": "a"}, meta=KEY)
        assert words(result) == "recorded a"
        [effect] = ledger.effects()
    assert (effect.effect_id, effect.tool, dict(effect.meta)) == ("a", "record", {"key": "k-1"})
    assert effect.ended is not None and effect.started <= effect.ended
    assert ledger.counts() == {"a": 1}


async def test_calls_overlap(connect: Connect, ledger: Ledger) -> None:
    async with connect() as client, asyncio.TaskGroup() as run:
        for number in range(8):
            arguments = {"effect_id": str(number), "gate": ledger.gate()}
            run.create_task(client.call_tool("record_slow", arguments))
        await ledger.seen("started", times=8)
        ledger.open()
    assert ledger.most_at_once() == 8
    assert all(effect.ended for effect in ledger.effects())


async def test_calls_one_after_the_other_do_not_overlap(connect: Connect, ledger: Ledger) -> None:
    async with connect() as client:
        for number in range(3):
            await client.call_tool("record", {"effect_id": str(number)})
    assert ledger.most_at_once() == 1


async def test_the_gate_of_the_command_line_holds_slow_tools(connect: Connect, ledger: Ledger) -> None:
    async with connect("--gate", ledger.gate("shared")) as client, asyncio.TaskGroup() as run:
        call = run.create_task(client.call_tool("record_slow", {"effect_id": "a"}))
        await ledger.seen("started", "a")
        assert not call.done()
        ledger.open("shared")
    assert words(call.result()) == "recorded a slowly"


async def test_a_named_pipe_is_a_gate_too(connect: Connect, ledger: Ledger) -> None:
    pipe = ledger.gate("pipe")
    os.mkfifo(pipe)
    async with connect() as client, asyncio.TaskGroup() as run:
        run.create_task(client.call_tool("record_slow", {"effect_id": "a", "gate": pipe}))
        await ledger.seen("started", "a")
        await asyncio.to_thread(Path(pipe).write_bytes, b"!")
    assert ledger.effects()[0].ended


async def test_a_failing_tool_gives_an_error_result(connect: Connect) -> None:
    async with connect() as client:
        result = await client.call_tool("fail", {"message": "no paper"})
    assert result.is_error and words(result) == "no paper"


async def test_a_missing_argument_gives_an_error_result(connect: Connect, ledger: Ledger) -> None:
    async with connect() as client:
        result = await client.call_tool("record", {})
    assert result.is_error and "effect_id" in words(result)
    assert ledger.effects() == []


async def test_a_protocol_error_is_raised(connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(MCPError, match="not today"):
            await client.call_tool("raise_error", {"message": "not today"})
        with pytest.raises(MCPError, match="Unknown tool: nope"):
            await client.call_tool("nope", {})


async def test_progress_is_reported_step_by_step(connect: Connect, ledger: Ledger) -> None:
    steps: asyncio.Queue[tuple[float, float | None, str | None]] = asyncio.Queue()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        await steps.put((progress, total, message))

    async with connect() as client, asyncio.TaskGroup() as run:
        arguments = {"steps": 2, "gate": ledger.gate("step")}
        run.create_task(client.call_tool("progress", arguments, progress_callback=note))
        ledger.open("step.1")
        assert await steps.get() == (1, 2, "step 1 of 2")
        assert steps.empty()
        ledger.open("step.2")
        assert await steps.get() == (2, 2, "step 2 of 2")


async def test_a_person_is_asked(connect: Connect, ledger: Ledger) -> None:
    asked: list[types.ElicitRequestParams] = []

    async def answer(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params)
        return types.ElicitResult(action="accept", content={"name": "Ada", "number": 7})

    async with connect(elicitation_callback=answer) as client:
        assert words(await client.call_tool("ask", {})) == "Ada wants 7"
    [form] = asked
    assert isinstance(form, types.ElicitRequestFormParams)
    assert set(form.requested_schema["properties"]) == {"name", "number"}


async def test_a_person_may_decline(connect: Connect) -> None:
    async def decline(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="decline")

    async with connect(elicitation_callback=decline) as client:
        assert words(await client.call_tool("ask", {})) == "the person said decline"


async def test_a_cancelled_call_is_in_the_ledger_and_the_server_goes_on(connect: Connect, ledger: Ledger) -> None:
    async with connect() as client:
        call = asyncio.create_task(client.call_tool("hang", {"effect_id": "h"}))
        await ledger.seen("started", "h")
        call.cancel()
        await ledger.seen("cancelled", "h")
        assert words(await client.call_tool("echo", {"text": "alive"})) == "alive"
    assert ledger.effects()[0].cancelled


async def test_a_stubborn_call_ignores_the_cancel(connect: Connect, ledger: Ledger) -> None:
    async with connect() as client:
        arguments = {"effect_id": "s", "gate": ledger.gate(), "stubborn": True}
        call = asyncio.create_task(client.call_tool("record_slow", arguments))
        await ledger.seen("started", "s")
        call.cancel()
        await client.call_tool("echo", {})
        ledger.open()
        await ledger.seen("ended", "s")
    assert "cancelled" not in [event["event"] for event in ledger.events()]


async def test_a_crash_ends_the_server_before_the_effect(connect: Connect, ledger: Ledger) -> None:
    async with connect() as client:
        with pytest.raises(MCPError, match="closed"):
            await client.call_tool("crash", {"effect_id": "x"})
    assert ledger.counts() == {}


async def test_a_crash_after_the_effect_leaves_it_in_the_ledger(connect: Connect, ledger: Ledger) -> None:
    async with connect() as client:
        with pytest.raises(MCPError, match="closed"):
            await client.call_tool("crash", {"effect_id": "x", "when": "after"})
    assert ledger.counts() == {"x": 1}


@pytest.mark.parametrize("kind", sorted(ODD.keys() - {"unknown", "malformed"}))
async def test_odd_content_is_valid(connect: Connect, kind: str) -> None:
    async with connect() as client:
        result = await client.call_tool("odd", {"kind": kind})
    assert [block.model_dump(by_alias=True, exclude_none=True, mode="json") for block in result.content] == ODD[kind]


async def test_structured_content_comes_through(connect: Connect) -> None:
    async with connect() as client:
        result = await client.call_tool("odd", {"kind": "structured"})
    assert result.structured_content == {"temperature": 21.5, "unit": "C"}


async def test_a_big_result_has_the_size_asked_for(connect: Connect) -> None:
    async with connect() as client:
        assert len(words(await client.call_tool("big", {"chars": 100_001}))) == 100_001
        assert len((await client.call_tool("big", {"chars": 300, "kind": "blocks"})).content) == 300
        rows = (await client.call_tool("big", {"chars": 3200, "kind": "structured"})).structured_content
    assert rows is not None and len(rows["rows"]) == 100


async def test_a_tool_that_breaks_its_output_schema_is_noticed(connect: Connect) -> None:
    async with connect() as client:
        await client.list_tools()
        with pytest.raises(RuntimeError, match="wrong_output"):
            await client.call_tool("wrong_output", {})


async def test_tools_change_under_the_client(connect: Connect, era: str) -> None:
    changed = asyncio.Event()

    async def watch(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async with connect(message_handler=watch) as client:
        if era == "stateless":
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("change_tools", {"name": "echo", "description": "New words."})
                await anext(changes)
        else:
            await client.call_tool("change_tools", {"name": "echo", "description": "New words."})
        await changed.wait()
        listed = {tool.name: tool.description for tool in (await client.list_tools()).tools}
        assert listed["echo"] == "New words."
        await client.call_tool("change_tools", {"name": "record", "remove": True})
        assert "record" not in {tool.name for tool in (await client.list_tools()).tools}


async def test_the_offer_follows_the_options(connect: Connect, tmp_path: Path) -> None:
    odd_tool = {"name": "näme with spaces", "description": "d", "inputSchema": {"type": "object"}}
    definitions = tmp_path / "tools.json"
    definitions.write_text(json.dumps([odd_tool]))
    options = ("--only", "echo", "--extra", "7", "--tools", str(definitions), "--describe", "echo=Other", "--page", "4")
    async with connect(*options) as client:
        first = await client.list_tools()
        second = await client.list_tools(cursor=first.next_cursor)
        third = await client.list_tools(cursor=second.next_cursor)
        assert words(await client.call_tool("extra_0003", {"text": "three"})) == "three"
    names = [tool.name for page in (first, second, third) for tool in page.tools]
    assert names == ["echo", *(f"extra_{n:04}" for n in range(7)), odd_tool["name"]]
    assert first.tools[0].description == "Other"
    assert third.next_cursor is None
