"""Scripts from JSON, and the server in a process of its own."""

import json
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.kit.llm_process import llm_process
from tests.kit.waiting import until
from windlass.testing import StrictLLM, call, error, hang, headers, raw_call, say, think, wait_for
from windlass.testing.recording import RecordedRequest, read_recording
from windlass.testing.scripts import script_from_file, script_from_json

HELLO: Any = [{"role": "user", "content": "hello"}]
TOOLS: Any = [{"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}]
CALLED = [*HELLO, {"role": "assistant", "tool_calls": [{"id": "1"}]}, {"role": "tool", "content": "r"}]


def request(messages: Any, **body: Any) -> RecordedRequest:
    return RecordedRequest(0, "/", {}, {"messages": messages, **body})


@pytest.mark.parametrize(
    ("item", "reply"),
    [
        ({"say": "hi"}, say("hi")),
        ({"think": "hm"}, think("hm")),
        ({"call": "echo", "arguments": {"text": "x"}}, call("echo", text="x")),
        ({"call": "echo", "arguments": "{", "id": "i"}, raw_call("echo", "{", id="i")),
        ({"call": "echo"}, call("echo")),
        ({"wait_for": "/tmp/x"}, wait_for(Path("/tmp/x"))),
        ({"parts": [{"headers": True}, {"say": "a"}, {"hang": True}]}, headers() + say("a") + hang()),
        ({"say": "hi", "in_pieces": 2, "in_bytes": [1, 2]}, say("hi").in_pieces(2).in_bytes(1, 2)),
        ({"say": "hi", "cut_after": 9, "finish_reason": None}, say("hi").cut_after(9).ending(None)),
        ({"call": "echo", "anyway": True}, call("echo").anyway()),
        (
            {"error": {"status": 429, "code": "1302", "message": "slow", "headers": {"Retry-After": "1"}}},
            error(429, "1302", "slow", {"Retry-After": "1"}),
        ),
    ],
)
def test_a_reply_is_read_from_json(item: object, reply: object) -> None:
    assert script_from_json([item]) == [reply]


@pytest.mark.parametrize("script", [{"replies": []}, [{"tell": "hi"}], "hi"])
def test_what_is_no_script_is_named(script: object) -> None:
    with pytest.raises(ValueError, match="not a"):
        script_from_json(script)


def test_functions_are_read_from_json(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps({"by_round": [{"call": "echo"}, {"say": "done"}]}))
    by_round = script_from_file(file)
    looped = script_from_json({"loop": {"tool": "echo", "rounds": 1, "answer": "done"}})
    for script in (by_round, looped):
        assert callable(script)
        assert script(request(HELLO)) == call("echo")
        assert script(request(CALLED)) == say("done")
        assert script(request([*CALLED, *HELLO])) == call("echo")


def test_a_request_knows_its_last_exchange() -> None:
    asked = request([*CALLED, *CALLED[1:], {"role": "user", "content": "new"}, *CALLED[1:]], tools=TOOLS)
    assert (asked.rounds, asked.results, asked.user_text) == (1, ["r"], "new")
    assert (asked.tool_names, asked.tool_choice, asked.stream) == (["echo"], "auto", False)


async def test_requests_are_recorded_in_a_file(tmp_path: Path) -> None:
    async with StrictLLM([say("a"), say("b")], record=tmp_path / "requests") as llm:
        async with openai.AsyncOpenAI(base_url=llm.base_url, api_key="k") as sdk:
            for _ in range(2):
                await sdk.chat.completions.create(model="m", messages=HELLO)
        assert read_recording(tmp_path / "requests") == llm.requests
    assert llm.requests[1].messages == HELLO


async def test_the_server_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    script = [{"call": "echo"}, {"parts": [{"say": "before"}, {"wait_for": str(gate)}, {"say": "after"}]}]
    async with llm_process(script, tmp_path, "--api-key", "right") as llm:
        async with openai.AsyncOpenAI(base_url=llm.base_url, api_key="right", max_retries=0) as sdk:
            first = await sdk.chat.completions.create(model="m", messages=HELLO, tools=TOOLS)
            assert first.choices[0].message.tool_calls
            seen = []
            async for chunk in await sdk.chat.completions.create(model="m", messages=HELLO, stream=True):
                seen.append(chunk.choices[0].delta.content)
                if seen[-1] == "before":
                    await until((tmp_path / "gate.reached").exists)
                    gate.touch()
            assert seen == ["", "before", "after", None]
            with pytest.raises(openai.BadRequestError):
                await sdk.chat.completions.create(model="m", messages=HELLO)
        async with openai.AsyncOpenAI(base_url=llm.base_url, api_key="wrong") as stranger:
            with pytest.raises(openai.AuthenticationError):
                await stranger.models.list()
        assert (await llm.arrived(3)).number == 2


async def test_a_process_can_speak_zai(tmp_path: Path) -> None:
    async with llm_process({"loop": {}}, tmp_path, "--dialect", "zai", "--coding-plan") as llm:
        assert llm.base_url.endswith("/api/coding/paas/v4")
