"""The loop over HTTP with a real MCP server: rounds, limits, parallel calls, tools that fail in every way."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess, model_settings, windlass
from windlass.testing import StrictLLM, call, raw_call, say


def with_ledger(home: Path, ledger: Ledger, **settings: object) -> None:
    """The operator's own file, so that nothing needs to be confirmed."""
    command, *args = ledger.argv()
    table = {"command": command, "args": args, "tools": "*", "approval": "auto", **settings}
    lines = ["[servers.ledger]", *(f"{name} = {_toml(value)}" for name, value in table.items())]
    home.mkdir(parents=True, exist_ok=True)
    (home / "windlass.toml").write_text("\n".join(lines))


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(one)}" for name, one in value.items()) + "}"
    return json.dumps(value)


@pytest.fixture
async def server(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> AsyncIterator[WindlassProcess]:
    with_ledger(tmp_path / "home", ledger)
    async with windlass(tmp_path / "home", env=model_settings(strict_llm.base_url)) as process:
        await process.running("ledger")
        yield process


async def chat(server: WindlassProcess, content: str = "go", **more: object) -> dict[str, Any]:
    conversation = (await server.post("/conversations", {}))["conversation"]["id"]
    said = await server.call("POST", f"/conversations/{conversation}/chat", {"content": content, **more})
    assert isinstance(said.body, dict)
    return {**said.body, "status": said.status, "conversation": conversation}


async def results(server: WindlassProcess, answer: dict[str, Any]) -> list[str]:
    messages = (await server.get(f"/conversations/{answer['conversation']}/messages"))["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


async def test_ten_rounds_then_the_forced_answer(server: WindlassProcess, strict_llm: StrictLLM) -> None:
    strict_llm.then(*(call("echo", text=str(n)) for n in range(10)), say("What I found so far."))
    answer = await chat(server)
    assert (answer["status"], answer["success"], answer["outcome"], answer["rounds"]) == (200, False, "limit", 10)
    assert answer["assistant_message"]["content"] == "What I found so far."
    last = strict_llm.requests[-1]
    assert last.tool_choice == "none"
    assert last.tool_names == strict_llm.requests[0].tool_names


async def test_calls_returned_to_the_forced_request_are_not_run_and_it_is_no_success(
    server: WindlassProcess, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    late = call("record", effect_id="late").anyway()
    strict_llm.then(*(call("echo", text=str(n)) for n in range(2)), late, late)
    answer = await chat(server, max_rounds=2)
    assert (answer["success"], answer["outcome"], answer["assistant_message"]) == (False, "limit", None)
    assert "instead of answering" in answer["error"]["message"] and "The answer" not in answer["error"]["message"]
    assert not ledger.counts() and not strict_llm.unused


async def test_a_model_that_goes_on_calling_at_the_limit_is_asked_once_more_without_tools(
    server: WindlassProcess, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    late = call("record", effect_id="late").anyway()
    strict_llm.then(*(call("echo", text=str(n)) for n in range(2)), late, say("What I found so far."))
    answer = await chat(server, max_rounds=2)
    assert (answer["success"], answer["outcome"]) == (False, "limit")
    assert answer["assistant_message"]["content"] == "What I found so far."
    last = strict_llm.requests[-1]
    assert not last.tools and "tool_choice" not in last.body
    assert {message["role"] for message in last.messages} == {"system", "user", "assistant"}
    assert not ledger.counts() and not strict_llm.refused


async def test_a_single_round_is_the_seeds(server: WindlassProcess, strict_llm: StrictLLM) -> None:
    strict_llm.then(call("echo", text="a"), say("done"), call("echo", text="a"), call("echo", text="b"))
    answered = await chat(server, max_rounds=1)
    assert (answered["success"], answered["outcome"]) == (True, "answered")
    refused = await chat(server, max_rounds=1)
    assert (refused["success"], refused["outcome"]) == (False, "limit")
    assert refused["error"]["message"] == "Multi-round tool calls not supported"


async def test_eight_calls_of_one_reply_overlap(server: WindlassProcess, strict_llm: StrictLLM, ledger: Ledger) -> None:
    """They wait for one gate, which opens once all eight have begun: one after another they would never end."""
    gate = ledger.gate()
    calls = [call("record_slow", effect_id=f"e{n}", gate=gate) for n in range(8)]
    strict_llm.then(sum(calls[1:], calls[0]), say("done"))
    conversation = (await server.post("/conversations", {}))["conversation"]["id"]
    chatting = asyncio.create_task(server.post(f"/conversations/{conversation}/chat", {"content": "go"}))
    for n in range(8):
        await ledger.seen("started", f"e{n}")
    ledger.open()
    assert (await chatting)["outcome"] == "answered"
    assert ledger.most_at_once() == 8
    assert set(ledger.counts().values()) == {1}


async def test_tools_fail_in_every_way_and_the_turn_goes_on(server: WindlassProcess, strict_llm: StrictLLM) -> None:
    strict_llm.then(
        call("fail")
        + call("raise_error")
        + call("reccord", effect_id="x")
        + raw_call("echo", '{"text": 1')
        + raw_call("echo", '{"text": 7}'),
        say("Nothing worked."),
    )
    answer = await chat(server)
    assert (answer["status"], answer["outcome"]) == (200, "answered")
    told = [json.loads(text)["error"] for text in await results(server, answer)]
    assert len(told) == 5
    assert "record" in told[2]
    assert "/text" in told[4]
    turn = (await server.get(f"/turns/{answer['turn_id']}"))["turn"]
    assert {one["state"] for one in turn["calls"]} == {"error"}


async def test_an_empty_result_says_so(server: WindlassProcess, strict_llm: StrictLLM) -> None:
    strict_llm.then(call("odd", kind="empty"), say("done"))
    assert await results(server, await chat(server)) == ["(no output)"]


async def test_the_operators_limits_hold_for_repeats_results_and_messages(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    home = tmp_path / "home"
    with_ledger(home, ledger)
    limits = "\n[limits]\nrepeats = 2\nresult_chars = 2000\nmessage_chars = 1000\nbad_arguments = 1\n"
    with (home / "windlass.toml").open("a") as file:
        file.write(limits)
    async with windlass(home, env=model_settings(strict_llm.base_url)) as server:
        await server.running("ledger")
        strict_llm.then(call("echo", text="pending"), call("echo", text="pending"), say("Still pending."))
        polled = await chat(server)
        assert (polled["outcome"], polled["error"]["code"]) == ("limit", "repeats")
        strict_llm.then(call("echo", text="x" * 5000), say("Long."))
        [shown] = await results(server, await chat(server))
        assert len(shown) <= 2000 and "characters left out" in shown
        strict_llm.then(raw_call("echo", '{"text": 7}'), say("I cannot."))
        assert (await chat(server))["error"]["code"] == "bad_arguments"
        refused = await chat(server, "y" * 1001)
        assert (refused["status"], refused["error"]["code"]) == (422, "message_too_long")
        assert "limits.message_chars" in refused["error"]["hint"] and not strict_llm.unused
