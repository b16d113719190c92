"""The Z.AI dialect, driven by Z.AI's own package. The package is synchronous, so its calls run in threads."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import zai
from zai.core import APIReachLimitError, APIRequestFailedError, APIStatusError

from windlass.testing import StrictLLM, call, error, say, think
from windlass.testing.scripts import Script

TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}]
SEARCH = {"type": "web_search", "web_search": {"enable": "True", "search_engine": "search_pro"}}
HELLO = [{"role": "user", "content": "weather?"}]
FOUND = [
    {"title": "Weather", "content": "Sunny.", "link": "https://w.example", "media": "", "icon": "", "refer": "ref_1"}
]


class Asker:
    def __init__(self, llm: StrictLLM, sdk: zai.ZaiClient) -> None:
        self.llm, self.sdk = llm, sdk

    async def whole(self, messages: Any = HELLO, **options: Any) -> Any:
        return await asyncio.to_thread(self.sdk.chat.completions.create, model="glm-4.7", messages=messages, **options)

    async def streamed(self, **options: Any) -> list[Any]:
        def read() -> list[Any]:
            return list(self.sdk.chat.completions.create(model="glm-4.7", messages=HELLO, stream=True, **options))

        return await asyncio.to_thread(read)


@asynccontextmanager
async def asking(script: Script = (), **options: Any) -> AsyncIterator[Asker]:
    async with StrictLLM(script, dialect="zai", **options) as llm:
        with zai.ZaiClient(api_key="key", base_url=llm.base_url, max_retries=0) as sdk:
            yield Asker(llm, sdk)


async def test_a_tool_round_runs_with_reasoning() -> None:
    async with asking([think("hm") + call("get_weather", city="Rome"), say("Sunny.")]) as asker:
        first = (await asker.whole(tools=TOOLS, thinking={"type": "enabled"})).choices[0]
        assert (first.finish_reason, first.message.reasoning_content) == ("tool_calls", "hm")
        made = first.message.tool_calls[0]
        calls = [{"id": made.id, "type": "function", "function": made.function.model_dump()}]
        reply = {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": calls}
        result = {"role": "tool", "tool_call_id": made.id, "content": "sun"}
        second = await asker.whole([*HELLO, reply, result], tools=TOOLS)
        assert second.choices[0].message.content == "Sunny."
        assert asker.llm.refused == []


async def test_a_stream_ends_with_usage_in_its_last_chunk() -> None:
    async with asking([think("hm") + say("Sun", "ny.")]) as asker:
        chunks = await asker.streamed()
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == "Sunny."
    assert "".join(c.choices[0].delta.reasoning_content or "" for c in chunks) == "hm"
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert chunks[-1].usage.total_tokens > 0


@pytest.mark.parametrize(("tool_stream", "deltas"), [(True, 7), (False, 1)])
async def test_arguments_are_streamed_only_when_asked(tool_stream: bool, deltas: int) -> None:
    async with asking([call("get_weather", city="Rome").in_pieces(3)]) as asker:
        chunks = await asker.streamed(tools=TOOLS, tool_stream=tool_stream)
    pieces = [c.choices[0].delta.tool_calls[0].function.arguments for c in chunks if c.choices[0].delta.tool_calls]
    assert "".join(piece or "" for piece in pieces) == '{"city": "Rome"}'
    assert len(pieces) == deltas


async def test_thinking_can_be_disabled() -> None:
    async with asking([think("hm") + say("yes")]) as asker:
        answer = await asker.whole(thinking={"type": "disabled"})
    assert answer.choices[0].message.reasoning_content is None


async def test_errors_have_a_code_in_a_string() -> None:
    async with asking([error(429, "1113", "insufficient balance")]) as asker:
        with pytest.raises(APIReachLimitError) as caught:
            await asker.whole()
    assert caught.value.response.json() == {"error": {"code": "1113", "message": "insufficient balance"}}


@pytest.mark.parametrize(("options", "code"), [({"top_k": 1}, "1210"), ({"temperature": 1}, "1210")])
async def test_bad_parameters_are_refused(options: dict[str, Any], code: str) -> None:
    async with asking([say("hi")]) as asker:
        with pytest.raises(APIRequestFailedError) as caught:
            await asker.whole(extra_body=options)
    assert caught.value.response.json()["error"]["code"] == code


async def test_the_package_moves_a_temperature_into_the_open_interval() -> None:
    async with asking([say("hi")]) as asker:
        await asker.whole(temperature=1.0)
        assert asker.llm.requests[0].body["temperature"] == 0.99


async def test_a_bad_history_is_refused() -> None:
    async with asking([say("hi")]) as asker:
        with pytest.raises(APIRequestFailedError) as caught:
            await asker.whole([*HELLO, {"role": "tool", "tool_call_id": "x", "content": "y"}])
    assert caught.value.response.json()["error"]["code"] == "1214"


async def test_an_unknown_model_is_refused() -> None:
    async with asking([say("hi")], models=["glm-5"]) as asker:
        with pytest.raises(APIRequestFailedError) as caught:
            await asker.whole()
    assert caught.value.response.json()["error"]["code"] == "1211"


async def test_the_built_in_search_answers_with_its_sources() -> None:
    async with asking([say("Sunny [1]."), say("Sunny [1].")], search=FOUND) as asker:
        whole = await asker.whole(tools=[SEARCH])
        last = (await asker.streamed(tools=[SEARCH]))[-1]
    assert whole.model_dump()["web_search"] == FOUND
    assert last.model_dump()["web_search"] == FOUND


async def test_the_coding_plan_has_no_built_in_search() -> None:
    async with asking([say("hi")], coding_plan=True, search=FOUND) as asker:
        with pytest.raises(APIStatusError) as caught:
            await asker.whole(tools=[SEARCH])
        assert caught.value.response.json()["error"]["code"] == "1210"
        assert (await asker.whole(tools=TOOLS)).choices[0].message.content == "hi"
        assert "/coding/" in asker.llm.base_url


async def test_the_search_endpoint_finds_what_the_script_says() -> None:
    def find(query: str) -> list[dict[str, str]]:
        return [{**FOUND[0], "title": query} for _ in range(20)]

    async with asking(search=find) as asker:
        found = await asyncio.to_thread(
            asker.sdk.web_search.web_search, search_engine="search-prime", search_query="rain", count=3
        )
        results: Any = found.search_result  # typed as one object there, though it is a list
        assert [result.title for result in results] == ["rain"] * 3
        assert asker.llm.searches[0]["search_query"] == "rain"


@pytest.mark.parametrize(
    "options",
    [{"search_query": ""}, {"search_engine": ""}, {"count": 51}, {"search_recency_filter": "x"}, {"content_size": "x"}],
)
async def test_a_bad_search_is_refused(options: dict[str, Any]) -> None:
    request = {"search_engine": "search-prime", "search_query": "rain", **options}
    async with asking(search=FOUND) as asker:
        with pytest.raises(APIRequestFailedError) as caught:
            await asyncio.to_thread(lambda: asker.sdk.web_search.web_search(**request))
    assert caught.value.response.json()["error"]["code"] == "1210"
