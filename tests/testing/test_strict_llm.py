"""The strict model server, driven by the `openai` package so that it is no invention of ours."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest
import pytest_asyncio
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessage

from tests.kit.waiting import PATIENCE_S, turns_of_the_loop
from windlass.testing import (
    Gate,
    StrictLLM,
    Usage,
    by_round,
    call,
    error,
    hang,
    headers,
    loop,
    raw_call,
    raw_chunks,
    raw_delta,
    raw_event,
    say,
    stream_error,
    think,
    wait_for,
)
from windlass.testing.recording import RecordedRequest
from windlass.testing.replies import Scripted, ScriptedReply

TOOLS: Any = [
    {"type": "function", "function": {"name": "list_directory", "parameters": {"type": "object", "properties": {}}}}
]
HELLO: Any = [{"role": "user", "content": "hello"}]


class Asker:
    """The `openai` package without its retries."""

    def __init__(self, llm: StrictLLM, key: str = "sk-test") -> None:
        self.sdk = openai.AsyncOpenAI(base_url=llm.base_url, api_key=key, max_retries=0)

    async def whole(self, messages: Any = HELLO, **options: Any) -> ChatCompletion:
        answer = await self.sdk.chat.completions.create(model="m", messages=messages, **options)
        assert isinstance(answer, ChatCompletion)
        return answer

    async def stream(self, messages: Any = HELLO, **options: Any) -> AsyncIterator[ChatCompletionChunk]:
        stream = await self.sdk.chat.completions.create(model="m", messages=messages, stream=True, **options)
        async with stream:
            async for chunk in stream:
                yield chunk

    async def streamed(self, messages: Any = HELLO, **options: Any) -> list[ChatCompletionChunk]:
        return [chunk async for chunk in self.stream(messages, **options)]


@pytest_asyncio.fixture
async def asker(strict_llm: StrictLLM) -> AsyncIterator[Asker]:
    asker = Asker(strict_llm)
    yield asker
    await asker.sdk.close()


def text_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def calls_of(chunks: list[ChatCompletionChunk]) -> dict[int, tuple[str, str, str]]:
    """Index to id, name and joined arguments, as a client of the wire must put them together."""
    found: dict[int, tuple[str, str, str]] = {}
    for chunk in chunks:
        for delta in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
            call_id, name, arguments = found.get(delta.index, ("", "", ""))
            function = delta.function
            assert function is not None
            found[delta.index] = (
                delta.id or call_id,
                function.name or name,
                arguments + (function.arguments or ""),
            )
    return found


def history(message: ChatCompletionMessage, *results: str) -> Any:
    reply = message.model_dump(exclude_none=True)
    answers = [
        {"role": "tool", "tool_call_id": made["id"], "content": result}
        for made, result in zip(reply["tool_calls"], results, strict=True)
    ]
    return [*HELLO, reply, *answers]


async def test_a_tool_round_runs_whole(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then(call("list_directory", path="/docs") + call("list_directory", path="/b"), say("Two files."))
    first = await asker.whole(tools=TOOLS)
    assert first.choices[0].finish_reason == "tool_calls"
    made = first.choices[0].message.tool_calls or []
    assert [json.loads(c.function.arguments) for c in made if c.type == "function"] == [
        {"path": "/docs"},
        {"path": "/b"},
    ]
    second = await asker.whole(history(first.choices[0].message, "a.txt", "b.txt"), tools=TOOLS)
    assert second.choices[0].message.content == "Two files."
    assert second.choices[0].finish_reason == "stop"
    assert strict_llm.requests[1].results == ["a.txt", "b.txt"]
    assert strict_llm.unused == []


async def test_a_tool_round_runs_streamed(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then((say("I look. ") + call("list_directory", path="/docs") + call("list_directory")).in_pieces(3))
    chunks = await asker.streamed(tools=TOOLS)
    assert text_of(chunks) == "I look. "
    assert calls_of(chunks) == {
        0: ("call_0_0", "list_directory", '{"path": "/docs"}'),
        1: ("call_0_1", "list_directory", "{}"),
    }
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


async def test_text_comes_in_the_pieces_it_was_said_in(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then(say("one ", "two ", "three"), say("abcdef").in_pieces(4))
    assert [c.choices[0].delta.content for c in await asker.streamed()] == ["", "one ", "two ", "three", None]
    assert [c.choices[0].delta.content for c in await asker.streamed()] == ["", "abcd", "ef", None]


@pytest.mark.parametrize("sizes", [(1,), (2, 3), (7, 1, 100), (100_000,)])
async def test_the_stream_reads_the_same_in_any_chunking(
    strict_llm: StrictLLM, asker: Asker, sizes: tuple[int, ...]
) -> None:
    reply = think("hm") + say("é ", "日本 ", "🙂") + call("list_directory", path="ü")
    strict_llm.then(reply.in_bytes(*sizes))
    chunks = await asker.streamed(tools=TOOLS)
    assert text_of(chunks) == "é 日本 🙂"
    assert calls_of(chunks)[0][2] == '{"path": "ü"}'


async def test_the_bytes_are_written_in_the_sizes_asked_for(strict_llm: StrictLLM) -> None:
    strict_llm.then(say("hello").in_bytes(5, 2))
    async with aiohttp.ClientSession(headers={"Authorization": "Bearer k"}) as session:
        body = {"model": "m", "messages": HELLO, "stream": True}
        async with session.post(f"{strict_llm.base_url}/chat/completions", json=body) as response:
            sizes = [len(data) async for data, ends in response.content.iter_chunks() if ends]
    assert sizes[:4] == [5, 2, 5, 2]


async def test_reasoning_is_sent_apart(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then(think("hm ", "so") + say("yes"), think("hm") + say("yes"))
    deltas = [chunk.choices[0].delta.model_dump() for chunk in await asker.streamed()]
    assert "".join(delta.get("reasoning_content") or "" for delta in deltas) == "hm so"
    whole = (await asker.whole()).choices[0].message.model_dump()
    assert (whole["content"], whole["reasoning_content"]) == ("yes", "hm")


async def test_usage_comes_when_asked_for(strict_llm: StrictLLM, asker: Asker) -> None:
    reply = say("yes").using(Usage(prompt=10, completion=5, cached=4, reasoning=2))
    strict_llm.then(reply, reply, reply, say("no").using(None))
    whole = (await asker.whole()).usage
    assert whole and whole.total_tokens == 15
    assert whole.prompt_tokens_details and whole.prompt_tokens_details.cached_tokens == 4
    assert whole.completion_tokens_details and whole.completion_tokens_details.reasoning_tokens == 2
    assert [chunk.usage for chunk in await asker.streamed() if chunk.usage] == []
    last = (await asker.streamed(stream_options={"include_usage": True}))[-1]
    assert (last.choices, last.usage and last.usage.prompt_tokens) == ([], 10)
    assert (await asker.whole()).usage is None


async def test_a_pause_holds_the_stream_until_its_gate_opens(strict_llm: StrictLLM, asker: Asker) -> None:
    gate = Gate()
    strict_llm.then(say("before", wait_for(gate), "after"))
    seen: list[str] = []
    async for chunk in asker.stream():
        seen.append(chunk.choices[0].delta.content or "")
        if seen[-1] == "before":
            await gate.reached()
            assert "after" not in seen
            gate.open()
    assert seen == ["", "before", "after", ""]


async def test_an_event_is_a_gate_too_and_holds_a_whole_answer(strict_llm: StrictLLM, asker: Asker) -> None:
    event = asyncio.Event()
    strict_llm.then(say("a", wait_for(event), "b"))
    async with asyncio.TaskGroup() as run:
        answer = run.create_task(asker.whole())
        await strict_llm.arrived(1)
        assert not answer.done()
        event.set()
    assert answer.result().choices[0].message.content == "ab"


async def test_headers_go_out_before_a_silence(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then(headers() + hang())
    stream = await asker.sdk.chat.completions.create(model="m", messages=HELLO, stream=True)
    assert stream.response.status_code == 200
    await stream.close()
    await strict_llm.dropped(0)


async def test_a_silence_before_the_headers_is_noticed_as_dropped(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then(hang())
    asking = asyncio.create_task(asker.whole())
    await strict_llm.arrived(1)
    noticed = asyncio.create_task(strict_llm.dropped(0))
    await turns_of_the_loop()
    assert not noticed.done()
    asking.cancel()
    await asyncio.wait_for(noticed, PATIENCE_S)


async def test_a_hanging_reply_does_not_hold_the_server_open() -> None:
    async with StrictLLM([say("a") + hang()]) as llm:
        asker = Asker(llm)
        chunks = asker.stream()
        await anext(chunks)
    with pytest.raises(openai.APIConnectionError):
        _ = [chunk async for chunk in chunks]
    await asker.sdk.close()


async def test_a_cut_drops_the_connection(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then(say("abc", "def").cut_after(400))
    chunks: list[ChatCompletionChunk] = []
    with pytest.raises(openai.APIConnectionError):
        async for chunk in asker.stream():
            chunks.append(chunk)
    assert text_of(chunks) == "abc"


async def read_raw(llm: StrictLLM, stream: bool = True) -> bytes:
    body = {"model": "m", "messages": HELLO, "stream": stream}
    async with aiohttp.ClientSession(headers={"Authorization": "Bearer k"}) as session:
        async with session.post(f"{llm.base_url}/chat/completions", json=body) as response:
            return await response.read()


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("count", [0, 1, 50, 150])
async def test_a_clean_cut_gives_exactly_that_many_bytes(strict_llm: StrictLLM, count: int, stream: bool) -> None:
    strict_llm.then(say("abc"), say("abc").cut_after(count, cleanly=True))
    whole = await read_raw(strict_llm, stream)
    cut = await read_raw(strict_llm, stream)
    assert len(cut) == count
    assert cut.replace(b"chatcmpl-1", b"chatcmpl-0") == whole[:count]


async def test_endings_can_be_spoilt(strict_llm: StrictLLM) -> None:
    strict_llm.then(
        say("a").ending("length"), say("a").ending(None, done=False), say("a") + stream_error("1302", "slow")
    )
    assert b'"finish_reason":"length"' in await read_raw(strict_llm)
    unfinished = await read_raw(strict_llm)
    assert b"[DONE]" not in unfinished and unfinished.count(b"data:") == 2
    failed = await read_raw(strict_llm)
    assert b'data: {"error": {"code": "1302", "message": "slow"}}\n\n' in failed
    assert b'"finish_reason":"stop"' not in failed


async def test_deltas_can_be_anything(strict_llm: StrictLLM) -> None:
    strict_llm.then(raw_delta(tool_calls=[{"function": {"name": "x"}}]) + raw_event("{broken"))
    body = await read_raw(strict_llm)
    assert b'"delta":{"tool_calls":[{"function":{"name":"x"}}]}' in body
    assert b"data: {broken\n\n" in body


async def test_ids_and_arguments_are_sent_as_they_stand(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then(raw_call("a", "{", id="same") + raw_call("b", "", id="same") + raw_call("c", "null", id=""))
    assert calls_of(await asker.streamed(tools=TOOLS)) == {
        0: ("same", "a", "{"),
        1: ("same", "b", ""),
        2: ("", "c", "null"),
    }


async def test_an_error_has_the_status_code_and_headers_of_the_script(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then(error(429, "rate_limit_exceeded", "slow down", {"Retry-After": "7"}), error(503, None, "busy"))
    with pytest.raises(openai.RateLimitError, match="slow down") as caught:
        await asker.whole()
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.code == "rate_limit_exceeded"
    with pytest.raises(openai.InternalServerError, match="busy"):
        await asker.whole()


async def test_a_body_can_be_anything(strict_llm: StrictLLM) -> None:
    strict_llm.then(raw_chunks(b"<html>", b"</html>", status=200, content_type="text/html"))
    assert await read_raw(strict_llm) == b"<html></html>"
    strict_llm.then(raw_chunks(b"data: {", cut=True))
    with pytest.raises(aiohttp.ClientPayloadError):
        await read_raw(strict_llm)


async def test_a_bad_history_is_refused_with_the_place(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then(call("list_directory"), say("never said"))
    first = await asker.whole(tools=TOOLS)
    with pytest.raises(openai.BadRequestError, match=r"messages\[1\]: no tool message answers 'call_0_0'") as caught:
        await asker.whole(history(first.choices[0].message, "a")[:-1], tools=TOOLS)
    assert caught.value.type == "invalid_request_error"
    assert len(strict_llm.unused) == 1
    assert len(strict_llm.refused) == 1
    strict_llm.refused.clear()


async def test_a_call_against_tool_choice_none_is_the_scripts_mistake(strict_llm: StrictLLM, asker: Asker) -> None:
    strict_llm.then(call("list_directory"), call("list_directory").anyway())
    with pytest.raises(openai.BadRequestError, match="tool_choice is none"):
        await asker.whole(tools=TOOLS, tool_choice="none")
    answer = await asker.whole(tools=TOOLS, tool_choice="none")
    assert answer.choices[0].message.tool_calls
    strict_llm.refused.clear()


async def test_a_request_beyond_the_script_is_refused(strict_llm: StrictLLM, asker: Asker) -> None:
    with pytest.raises(openai.BadRequestError, match="no reply for request 0"):
        await asker.whole()
    assert strict_llm.refused == ["the script has no reply for request 0"]
    strict_llm.refused.clear()


async def test_a_body_that_is_no_json_is_refused(strict_llm: StrictLLM) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{strict_llm.base_url}/chat/completions", data=b"{") as response:
            assert response.status == 400
    assert strict_llm.requests == []


async def test_keys_and_models_can_be_checked() -> None:
    async with StrictLLM([say("hi")], api_key="right", models=["m", "n"]) as llm:
        right, wrong = Asker(llm, "right"), Asker(llm, "wrong")
        with pytest.raises(openai.AuthenticationError) as caught:
            await wrong.whole()
        assert caught.value.code == "invalid_api_key"
        with pytest.raises(openai.AuthenticationError):
            await wrong.sdk.models.list()
        with pytest.raises(openai.NotFoundError) as missing:
            await right.sdk.chat.completions.create(model="other", messages=HELLO)
        assert missing.value.code == "model_not_found"
        assert [model.id async for model in right.sdk.models.list()] == ["m", "n"]
        assert (await right.whole()).choices[0].message.content == "hi"
        assert llm.requests[-1].headers["authorization"] == "Bearer right"
        await right.sdk.close()
        await wrong.sdk.close()


async def test_a_request_without_a_key_is_refused(strict_llm: StrictLLM) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{strict_llm.base_url}/chat/completions", json={"messages": []}) as response:
            assert response.status == 401
    strict_llm.refused.clear()


async def test_a_script_can_be_a_function_of_the_request() -> None:
    def shout(request: RecordedRequest) -> ScriptedReply:
        return say(request.user_text.upper())

    async def shout_later(request: RecordedRequest) -> Scripted:
        await turns_of_the_loop()
        return error(500, None, "no") if request.number else shout(request)

    async with StrictLLM(shout) as llm, StrictLLM(shout_later) as later:
        asker, patient = Asker(llm), Asker(later)
        texts = [f"text {n}" for n in range(20)]
        answers = await asyncio.gather(*(asker.whole([{"role": "user", "content": text}]) for text in texts))
        assert [answer.choices[0].message.content for answer in answers] == [text.upper() for text in texts]
        assert (await patient.whole()).choices[0].message.content == "HELLO"
        with pytest.raises(openai.InternalServerError):
            await patient.whole()
        await asker.sdk.close()
        await patient.sdk.close()


async def drive(asker: Asker, **options: Any) -> list[ChatCompletionMessage]:
    """The plainest tool loop there is."""
    messages = list(HELLO)
    replies: list[ChatCompletionMessage] = []
    while not replies or replies[-1].tool_calls:
        replies.append((await asker.whole(messages, tools=TOOLS, **options)).choices[0].message)
        messages.append(replies[-1].model_dump(exclude_none=True))
        messages += [{"role": "tool", "tool_call_id": c.id, "content": "x"} for c in replies[-1].tool_calls or []]
    return replies


async def test_the_loop_calls_for_so_many_rounds_and_then_answers() -> None:
    async with StrictLLM(loop("list_directory", {"path": "/"}, rounds=2, parallel=3, answer="Done.")) as llm:
        asker = Asker(llm)
        conversations = await asyncio.gather(*(drive(asker) for _ in range(5)))
        assert all([len(reply.tool_calls or []) for reply in one] == [3, 3, 0] for one in conversations)
        assert all(one[-1].content == "Done." for one in conversations)
        assert (await drive(asker, tool_choice="none"))[0].content == "Done."
        await asker.sdk.close()


async def test_replies_by_round_depend_on_the_request_alone() -> None:
    async with StrictLLM(by_round(call("list_directory"), say("first "), say("second"))) as llm:
        asker = Asker(llm)
        replies = await drive(asker)
        assert [bool(one.tool_calls) for one in replies] == [True, False]
        again = await asker.whole([*HELLO, {"role": "assistant", "content": "first"}, *HELLO], tools=TOOLS)
        assert again.choices[0].message.tool_calls
        await asker.sdk.close()
