"""Calls through the supervisor to the ledger server, in both eras: results, deadlines, cancels, questions, failures."""

import asyncio
import json

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import PATIENCE_S, turns_of_the_loop, until
from tests.servers.kit import ERAS, VERSIONS, alive, ledger_config, run, text_of
from windlass.core.errors import ToolError
from windlass.servers import EmbeddedPart, InputReply, LinkPart, MediaPart, Question, Servers, TextPart

pytestmark = pytest.mark.parametrize("era", ERAS)


async def test_the_era_is_found_out_and_the_tools_are_listed(servers: Servers, ledger: Ledger, era: str) -> None:
    await run(servers, ledger_config(ledger, "--era", era, "--page", "3"))
    status = servers.status("ledger")
    assert status.era == VERSIONS[era]
    assert status.program == "ledger 1.0.0" and status.pid and alive(status.pid)
    tools = {tool.name: tool for tool in servers.tools("ledger")}
    assert len(tools) == status.tools > 3
    assert tools["read_only"].read_only is True and tools["record"].read_only is None
    assert tools["destroy"].destructive is True and tools["idempotent"].idempotent is True


async def test_a_call_gives_its_result_and_carries_its_key(servers: Servers, ledger: Ledger, era: str) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    result = await servers.call("ledger", "record", '{"effect_id": "a"}', key="call_x_1_0")
    assert text_of(result) == "recorded a" and not result.failed
    (effect,) = ledger.effects()
    assert effect.meta["windlass/key"] == "call_x_1_0"


async def test_calls_overlap_up_to_the_limit_of_the_server(servers: Servers, ledger: Ledger, era: str) -> None:
    await run(servers, ledger_config(ledger, "--era", era, "--gate", ledger.gate(), parallel=3))
    async with asyncio.TaskGroup() as group:
        calls = [
            group.create_task(servers.call("ledger", "record_slow", json.dumps({"effect_id": str(n)})))
            for n in range(5)
        ]
        await ledger.seen("started", times=3)
        ledger.open()
    assert all(text_of(call.result()) for call in calls)
    assert ledger.most_at_once() == 3


async def test_an_error_result_is_a_result(servers: Servers, ledger: Ledger, era: str) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    result = await servers.call("ledger", "fail", '{"message": "no"}')
    assert result.failed and text_of(result) == "no"
    assert servers.status("ledger").errors == 1


@pytest.mark.parametrize("code", [-32000, -32602])
async def test_a_protocol_error_is_known_not_to_have_worked(
    servers: Servers, ledger: Ledger, era: str, code: int
) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    with pytest.raises(ToolError, match="refused by the server") as caught:
        await servers.call("ledger", "raise_error", json.dumps({"code": code}))
    assert (caught.value.code, caught.value.sent) == ("rpc_error", False)


async def test_progress_is_heard_and_renews_the_deadline(
    servers: Servers, ledger: Ledger, clock: LoopClock, era: str
) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    heard: list[tuple[float, float | None, str]] = []
    steps = {"steps": 4, "gate": ledger.gate()}

    def note(progress: float, total: float | None, message: str) -> None:
        heard.append((progress, total, message))
        clock.jump(60)  # the third step comes when the first deadline would have passed
        ledger.open(f"gate.{int(progress) + 1}")

    ledger.open("gate.1")
    result = await servers.call("ledger", "progress", json.dumps(steps), timeout_s=100, on_progress=note)
    assert text_of(result) == "4 steps done"
    assert heard == [(n, 4, f"step {n} of 4") for n in (1, 2, 3, 4)]


async def test_progress_does_not_renew_the_deadline_for_ever(
    servers: Servers, ledger: Ledger, clock: LoopClock, era: str
) -> None:
    await run(servers, ledger_config(ledger, "--era", era, timeout_s=100, longest_s=150))
    heard: list[float] = []

    def note(progress: float, total: float | None, message: str) -> None:
        heard.append(progress)
        clock.jump(60)
        if progress < 3:  # the third ends the call's 150 s; a fourth could overtake the deadline
            ledger.open(f"gate.{int(progress) + 1}")

    ledger.open("gate.1")
    with pytest.raises(ToolError) as caught:
        await servers.call("ledger", "progress", json.dumps({"steps": 1000, "gate": ledger.gate()}), on_progress=note)
    assert caught.value.code == "timeout" and heard == [1, 2, 3]


async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(
    servers: Servers, ledger: Ledger, clock: LoopClock, era: str
) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    call = asyncio.create_task(servers.call("ledger", "record_slow", '{"effect_id": "a"}', timeout_s=100))
    await ledger.seen("started", "a")
    clock.jump(100)
    with pytest.raises(ToolError, match="within 100 s") as caught:
        await call
    assert (caught.value.code, caught.value.sent) == ("timeout", True)
    await ledger.seen("cancelled", "a")
    assert text_of(await servers.call("ledger", "echo", '{"text": "still here"}')) == "still here"


async def test_a_cancelled_task_cancels_the_call_at_the_server(servers: Servers, ledger: Ledger, era: str) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    call = asyncio.create_task(servers.call("ledger", "record_slow", '{"effect_id": "a"}'))
    await ledger.seen("started", "a")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await ledger.seen("cancelled", "a")
    assert text_of(await servers.call("ledger", "echo", '{"text": "still here"}')) == "still here"


async def test_a_server_that_crashes_in_mid_call_leaves_its_outcome_open(
    servers: Servers, ledger: Ledger, era: str
) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    other = asyncio.create_task(servers.call("ledger", "record_slow", '{"effect_id": "other"}'))
    await ledger.seen("started", "other")
    with pytest.raises(ToolError) as caught:
        await servers.call("ledger", "crash", '{"effect_id": "a", "when": "after"}')
    assert (caught.value.code, caught.value.sent) == ("server_gone", True)
    with pytest.raises(ToolError) as caught_too:
        await other
    assert caught_too.value.sent
    assert servers.status("ledger").state == "failed"
    await until(lambda: bool(servers.status("ledger").reason), "the reason")
    assert "code 3: ledger: crashing as asked" in servers.status("ledger").reason


async def test_a_person_is_asked_and_the_clock_stands_still(
    servers: Servers, ledger: Ledger, clock: LoopClock, era: str
) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    asked: list[Question] = []

    async def answer(question: Question) -> InputReply:
        asked.append(question)
        clock.jump(1000)  # more than the whole deadline
        await turns_of_the_loop()
        return InputReply("accept", {"name": "Ada", "number": 3})

    result = await servers.call("ledger", "ask", "{}", timeout_s=100, on_input=answer)
    assert text_of(result) == "Ada wants 3"
    assert asked[0].message == "Who are you, and how many?"
    assert asked[0].schema is not None and asked[0].schema["required"] == ["name", "number"]


async def test_without_anyone_to_ask_the_question_is_cancelled(servers: Servers, ledger: Ledger, era: str) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    assert text_of(await servers.call("ledger", "ask", "{}")) == "the person said cancel"


async def test_a_question_ends_with_its_call(servers: Servers, ledger: Ledger, era: str) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    asked, dropped = asyncio.Event(), asyncio.Event()

    async def never(question: Question) -> InputReply:
        asked.set()
        try:
            return await asyncio.Future()
        finally:
            dropped.set()

    call = asyncio.create_task(servers.call("ledger", "ask", "{}", on_input=never))
    await asked.wait()
    assert not dropped.is_set()
    call.cancel()
    assert await asyncio.wait_for(dropped.wait(), PATIENCE_S)


async def test_a_changed_list_of_tools_is_followed(servers: Servers, ledger: Ledger, era: str) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    before = descriptions(servers)
    await servers.call("ledger", "change_tools", '{"name": "record", "description": "Something else."}')
    await until(lambda: descriptions(servers)["record"] == "Something else.", "the new description")
    assert {**descriptions(servers), "record": before["record"]} == before


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("audio", (MediaPart("audio", "audio/wav", "UklGRg=="),)),
        ("resource_link", (LinkPart("file:///docs/a.txt", "a.txt", mime="text/plain"),)),
        ("resource", (EmbeddedPart("file:///docs/a.txt", "text/plain", text="hello"),)),
        ("blob", (EmbeddedPart("file:///docs/a.bin", blob="AAEC"),)),
        ("empty", ()),
        ("blank", (TextPart(""),)),
        ("many", tuple(TextPart(f"block {n}") for n in range(100))),
        ("structured", ()),
    ],
)
async def test_every_kind_of_content_comes_through(
    servers: Servers, ledger: Ledger, era: str, kind: str, parts: tuple[object, ...]
) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    result = await servers.call("ledger", "odd", json.dumps({"kind": kind}))
    assert result.parts == parts
    assert result.structured == ({"temperature": 21.5, "unit": "C"} if kind == "structured" else None)


@pytest.mark.parametrize("text", ["[]", "3", "{", "null", ""])
async def test_arguments_are_an_object_or_nothing_is_sent(
    servers: Servers, ledger: Ledger, era: str, text: str
) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    if text == "":
        assert text_of(await servers.call("ledger", "echo", text)) == ""
        return
    with pytest.raises(ToolError) as caught:
        await servers.call("ledger", "record", text)
    assert (caught.value.code, caught.value.sent) == ("bad_arguments", False) and ledger.effects() == []


@pytest.mark.parametrize("kind", ["unknown", "malformed"])
async def test_a_malformed_result_may_have_worked(servers: Servers, ledger: Ledger, era: str, kind: str) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    with pytest.raises(ToolError) as caught:
        await servers.call("ledger", "odd", json.dumps({"kind": kind}))
    assert (caught.value.code, caught.value.sent) == ("bad_result", True)
    assert text_of(await servers.call("ledger", "echo", '{"text": "still here"}')) == "still here"


async def test_a_tool_that_breaks_its_output_schema_still_gives_its_result(
    servers: Servers, ledger: Ledger, era: str
) -> None:
    await run(servers, ledger_config(ledger, "--era", era))
    result = await servers.call("ledger", "wrong_output", "{}")
    assert text_of(result) == "seven" and result.structured == {"n": "seven"}


def descriptions(servers: Servers) -> dict[str, str]:
    return {tool.name: tool.description for tool in servers.tools("ledger")}
