"""The model that heeds every parameter: its answers differ when one of them is missing, and wrong ones are refused."""

from typing import Any

import aiohttp
import pytest

from windlass.testing import StrictLLM, heed

HELLO = [{"role": "user", "content": "Hello there"}]
DOOR = {"type": "function", "function": {"name": "open_door", "parameters": {"type": "object", "properties": {}}}}


async def ask(llm: StrictLLM, **parameters: Any) -> Any:
    body = {"model": "strict-model", "messages": HELLO, **parameters}
    async with (
        aiohttp.ClientSession(headers={"Authorization": "Bearer k"}) as session,
        session.post(f"{llm.base_url}/chat/completions", json=body) as answer,
    ):
        return await answer.json()


async def test_each_parameter_shows_in_the_answer() -> None:
    async with StrictLLM(heed) as llm:
        bare = (await ask(llm))["choices"][0]
        assert (bare["message"]["content"], bare["finish_reason"], bare["logprobs"]) == ("Hello there {}", "stop", None)
        seeded = await ask(llm, seed=3, service_tier="flex", n=2)
        assert (seeded["system_fingerprint"], seeded["service_tier"], len(seeded["choices"])) == ("3", "flex", 2)
        cut = (await ask(llm, max_tokens=1))["choices"][0]
        assert (cut["message"]["content"], cut["finish_reason"]) == ("Hello", "length")
        [token, *_] = (await ask(llm, logprobs=True, top_logprobs=2))["choices"][0]["logprobs"]["content"]
        assert (token["token"], len(token["top_logprobs"])) == ("Hello ", 2)
        called = await ask(llm, tools=[DOOR], tool_choice="required")
        assert called["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "open_door"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"seed": "x"}, "seed"),
        ({"n": 0}, "n"),
        ({"stop": []}, "stop"),
        ({"presence_penalty": 3}, "presence_penalty"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"parallel_tool_calls": False}, "parallel_tool_calls"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "response_format"),
        ({"top_k": 40}, "top_k"),
    ],
)
async def test_a_value_that_a_provider_would_refuse_is_refused_by_name(wrong: dict[str, Any], named: str) -> None:
    async with StrictLLM(heed) as llm:
        assert named in (await ask(llm, **wrong))["error"]["message"]
