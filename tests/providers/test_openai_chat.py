"""The chat wire against the strict server: what is sent, what is heard, what comes back."""

import asyncio
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import until
from tests.providers.kit import SERVER_HEAD, TOOLS, Recorder, ask, chat_with, raw_server, talking
from windlass.core.errors import ModelError
from windlass.core.messages import ChatMessage, PastTurn, ToolCall, Toolset, Usage
from windlass.core.ports import CallDelta, DraftCall, ReasoningDelta, TextDelta
from windlass.providers.failures import Patience
from windlass.search.builtin import PROVIDER_SEARCH
from windlass.testing import Gate, StrictLLM, call, error, hang, headers, raw_chunks, say, think, wait_for
from windlass.testing import Usage as WireUsage

EMPTY = b'data: {"model":"m","choices":[{"delta":{"content":""},"finish_reason":null}]}\n\n'
FINISHED = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'


async def test_text_is_heard_as_it_grows_and_given_whole() -> None:
    async with StrictLLM([say("Hello ", "world").using(WireUsage(7, 3, 2, 1))]) as llm, chat_with(llm.base_url) as chat:
        recorder = Recorder()
        reply = await chat.reply(ask("Hi", tools=Toolset(), attempt=2), recorder)
    assert reply.text == "Hello world"
    assert (reply.finish, reply.model, reply.repairs, reply.raw) == ("stop", "strict-model", (), "")
    assert reply.usage == Usage(7, 3, 2, 1)
    assert recorder.events == [TextDelta(2, "Hello "), TextDelta(2, "world")]
    assert "tools" not in llm.requests[0].body
    assert llm.requests[0].headers["authorization"] == "Bearer key-for-tests"


@pytest.mark.parametrize("end", ["", "/", "//"])
async def test_a_request_goes_below_the_base_url_with_the_key_as_bearer(end: str) -> None:
    async with StrictLLM([say("Hi")]) as llm, chat_with(llm.base_url + end) as chat:
        await chat.reply(ask(), Recorder())
    [request] = llm.requests
    assert request.path == urlsplit(llm.base_url).path + "/chat/completions"
    assert request.headers["authorization"] == "Bearer key-for-tests"
    assert request.headers["content-type"] == "application/json"


async def test_calls_come_with_their_wire_ids_and_are_heard() -> None:
    script = [call("get_weather", city="Oslo") + call("get_time")]
    async with StrictLLM(script) as llm, chat_with(llm.base_url) as chat:
        recorder = Recorder()
        reply = await chat.reply(ask(), recorder)
    assert reply.calls == (
        DraftCall("get_weather", '{"city": "Oslo"}', "call_0_0"),
        DraftCall("get_time", "{}", "call_0_1"),
    )
    assert reply.finish == "tool_calls"
    assert CallDelta(1, 0, "get_weather", '{"city": "Oslo"}') in recorder.events


async def test_reasoning_is_heard_apart_from_the_answer() -> None:
    async with StrictLLM([think("Hm. ") + say("Yes.")]) as llm, chat_with(llm.base_url) as chat:
        recorder = Recorder()
        reply = await chat.reply(ask(), recorder)
    assert (reply.reasoning, reply.text) == ("Hm. ", "Yes.")
    assert recorder.events == [ReasoningDelta(1, "Hm. "), TextDelta(1, "Yes.")]


async def test_a_whole_turn_goes_back_in_the_order_providers_want() -> None:
    past = PastTurn("turn-0", (ChatMessage("user", "Earlier"), ChatMessage("assistant", "Indeed")))
    made = ToolCall("call_x_1_0", "get_weather", '{"city":"Oslo"}', wire_id="wire-1")
    request = ask(
        "Weather?",
        ChatMessage("assistant", None, (made,), reasoning="Look it up."),
        ChatMessage("tool", "Rain", call_id="call_x_1_0", name="get_weather"),
        past=(past,),
        system="Be brief.",
        choice="none",
        temperature=0.5,
    )
    async with StrictLLM([say("Rain.")]) as llm, chat_with(llm.base_url) as chat:
        await chat.reply(request, Recorder())
    body = llm.requests[0].body
    assert [message["role"] for message in body["messages"]] == [
        *("system", "user", "assistant"),
        *("user", "assistant", "tool"),
    ]
    assert body["messages"][4]["tool_calls"][0]["id"] == body["messages"][5]["tool_call_id"] == "call_x_1_0"
    assert (body["tool_choice"], body["temperature"], body["stream"]) == ("none", 0.5, True)
    assert body["stream_options"] == {"include_usage": True}
    assert llm.requests[0].tool_names == [tool.name for tool in TOOLS.tools]


async def test_glm_gets_its_own_fields_and_its_reasoning_back() -> None:
    made = ToolCall("call_x_1_0", "get_time")
    request = ask(
        "Time?",
        ChatMessage("assistant", None, (made,), reasoning="Look."),
        ChatMessage("tool", "12:00", call_id="call_x_1_0"),
        temperature=0,
    )
    async with StrictLLM([say("Noon.")], dialect="zai", coding_plan=True) as llm:
        async with chat_with(llm.base_url, model="glm-4.7") as chat:
            await chat.reply(request, Recorder())
    body = llm.requests[0].body
    assert body["thinking"] == {"type": "enabled"}
    assert body["tool_stream"] is True
    assert (body["temperature"], body["do_sample"]) == (0.01, False)
    assert body["messages"][1]["reasoning_content"] == "Look."
    assert "stream_options" not in body


async def test_an_answer_that_is_not_streamed_is_taken_whole() -> None:
    body = b'{"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"model":"m"}'
    script = [raw_chunks(body[:20], body[20:], content_type="application/json")]
    async with StrictLLM(script) as llm, chat_with(llm.base_url) as chat:
        reply = await chat.reply(ask(), Recorder())
    assert (reply.text, reply.finish, reply.model) == ("Hi", "stop", "m")


async def test_a_stream_torn_into_single_bytes_gives_the_same_reply() -> None:
    script = [think("Hé") + say("Grüße ", "🌍") + call("get_weather", city="Tromsø")]
    async with StrictLLM([script[0].in_bytes(1)]) as llm, chat_with(llm.base_url) as chat:
        reply = await chat.reply(ask(), Recorder())
    assert (reply.text, reply.reasoning, reply.calls[0].arguments) == ("Grüße 🌍", "Hé", '{"city": "Tromsø"}')


async def test_a_finish_reason_is_enough_when_the_stream_ends_without_done() -> None:
    async with StrictLLM([say("Hi").ending("stop", done=False)]) as llm, chat_with(llm.base_url) as chat:
        assert (await chat.reply(ask(), Recorder())).text == "Hi"


async def test_a_server_that_stays_on_the_line_after_the_end_is_not_waited_for() -> None:
    async def never_hangs_up(writer: asyncio.StreamWriter) -> None:
        writer.write(SERVER_HEAD + FINISHED)
        await asyncio.Event().wait()

    patient = Patience(silence_s=60, linger_s=0.05)
    async with raw_server(never_hangs_up) as base_url, chat_with(base_url, patience=patient) as chat:
        async with asyncio.timeout(50):
            assert (await chat.reply(ask(), Recorder())).text == "Hi"


async def test_a_connection_cut_after_the_end_loses_nothing() -> None:
    async def cut(writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n"
        writer.write(head + FINISHED)
        await writer.drain()

    async with raw_server(cut) as base_url, chat_with(base_url) as chat:
        assert (await chat.reply(ask(), Recorder())).text == "Hi"


async def test_a_cut_stream_is_an_error_that_keeps_what_was_said() -> None:
    async with StrictLLM([say("Hello ", "world").cut_after(420)]) as llm, chat_with(llm.base_url) as chat:
        with pytest.raises(ModelError) as caught:
            await chat.reply(ask(), Recorder())
    assert (caught.value.code, caught.value.retryable) == ("interrupted", True)
    assert caught.value.partial == "Hello "


async def test_silence_after_the_headers_is_a_timeout() -> None:
    brief = Patience(silence_s=0.05, backoff_s=0)
    async with StrictLLM([headers() + hang()]) as llm, chat_with(llm.base_url, patience=brief) as chat:
        with pytest.raises(
            ModelError, match=r"Timeout: strict-model at 127.0.0.1:\d+ sent nothing for 0\.05 s"
        ) as caught:
            await chat.reply(ask(), Recorder())
    assert (caught.value.code, caught.value.retryable) == ("timeout", False)


async def test_no_answer_at_all_is_a_timeout() -> None:
    brief = Patience(connect_s=0.05, first_byte_s=0.05, backoff_s=0)
    async with StrictLLM([hang()]) as llm, chat_with(llm.base_url, patience=brief) as chat:
        with pytest.raises(ModelError, match=r"Timeout: strict-model at 127.0.0.1:\d+ did not answer within 0\.05 s"):
            await chat.reply(ask(), Recorder())


@pytest.mark.parametrize("sign", [b": still here\n\n", b'data: {"choices":[]}\n\n', EMPTY, b"\n", b"d"])
async def test_signs_of_life_do_not_stop_the_clock(sign: bytes) -> None:
    brief = Patience(silence_s=0.2, backoff_s=0)

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(SERVER_HEAD)
        while True:
            writer.write(sign)
            await writer.drain()
            await asyncio.sleep(0.01)  # often within the silence that is allowed

    async with raw_server(drip) as base_url, chat_with(base_url, patience=brief) as chat:
        with pytest.raises(ModelError, match=r"Timeout: strict-model at 127.0.0.1:\d+ sent nothing"):
            await chat.reply(ask(), Recorder())


async def test_a_reply_without_end_is_a_timeout_however_much_it_says(clock: LoopClock) -> None:
    patience = Patience(silence_s=60, total_s=100, backoff_s=0)
    recorder = Recorder()

    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(SERVER_HEAD)
        for word in range(1, 4):
            writer.write(b'data: {"choices":[{"delta":{"content":"and "}}]}\n\n')
            await until(lambda: len(recorder.events) == word, "the word to be heard")  # noqa: B023 - waited for here
            clock.jump(40)
        await asyncio.Event().wait()

    async with raw_server(talk) as base_url, chat_with(base_url, patience=patience) as chat:
        with pytest.raises(
            ModelError, match=r"Timeout: the reply of strict-model at 127.0.0.1:\d+ was not finished within 100 s"
        ) as caught:
            await chat.reply(ask(), recorder)
    assert caught.value.partial == "and and and "


async def test_the_key_is_in_no_error() -> None:
    script = [error(401, "invalid_api_key", "Incorrect API key provided: abc123def456")]
    async with StrictLLM(script) as llm, chat_with(llm.base_url, api_key="abc123def456") as chat:
        with pytest.raises(ModelError) as caught:
            await chat.reply(ask(), Recorder())
    assert "abc123def456" not in caught.value.message + str(caught.value)
    assert "HTTP 401" in caught.value.message


async def test_a_server_that_cannot_stream_is_asked_for_a_whole_answer() -> None:
    refusal = error(400, None, "This model does not support streaming.")
    async with StrictLLM([refusal, say("Hi")]) as llm, chat_with(llm.base_url) as chat:
        with pytest.raises(ModelError) as caught:
            await chat.reply(ask(), Recorder())
        assert caught.value.retryable
        assert (await chat.reply(ask(attempt=2), Recorder())).text == "Hi"
    assert "stream" not in llm.requests[1].body


async def test_a_field_the_server_refuses_is_left_out_the_next_time() -> None:
    refusal = error(400, None, "Unsupported value: 'temperature' does not support 0.3 with this model.")
    async with StrictLLM([refusal, say("Hi")]) as llm, chat_with(llm.base_url) as chat:
        with pytest.raises(ModelError) as caught:
            await chat.reply(ask(temperature=0.3), Recorder())
        assert caught.value.retryable
        assert (await chat.reply(ask(temperature=0.3, attempt=2), Recorder())).text == "Hi"
    assert "temperature" not in llm.requests[1].body


async def test_a_kept_connection_that_was_closed_meanwhile_costs_nothing() -> None:
    answer = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(answer)
    served: list[int] = []

    async def once_per_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for nth in (0, 1):
            request = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(request.lower().partition(b"content-length: ")[2].partition(b"\r")[0]))
            served.append(nth)
            if nth == 0:
                writer.write(head + answer)

    async with talking(once_per_connection) as port, chat_with(f"http://127.0.0.1:{port}/v1") as chat:
        assert (await chat.reply(ask(), Recorder())).text == "Hi"
        assert (await chat.reply(ask(), Recorder())).text == "Hi"
    assert served == [0, 1, 0]


async def test_a_fresh_connection_that_is_dropped_is_not_asked_again() -> None:
    served: list[int] = []

    async def drop(writer: asyncio.StreamWriter) -> None:
        served.append(1)

    async with raw_server(drop) as base_url, chat_with(base_url) as chat:
        with pytest.raises(ModelError) as caught:
            await chat.reply(ask(), Recorder())
    assert (caught.value.code, caught.value.retryable, served) == ("interrupted", True, [1])


async def test_a_cancelled_request_hangs_up_and_gives_its_place_back() -> None:
    gate = Gate()
    async with StrictLLM([say("a", wait_for(gate), "b")]) as llm, chat_with(llm.base_url) as chat:
        asking = asyncio.create_task(chat.reply(ask(), Recorder()))
        await gate.reached()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await llm.dropped(0)
        assert chat.limiter.active == 0


async def test_no_request_goes_out_without_a_model_name() -> None:
    async with StrictLLM([say("Hi")]) as llm, chat_with(llm.base_url, model="") as chat:
        with pytest.raises(ModelError) as caught:
            await chat.reply(ask(), Recorder())
        assert (caught.value.code, caught.value.retryable, llm.requests) == ("model_required", False, [])
        assert "LLM_MODEL" in caught.value.hint
        assert (await chat.reply(ask(model="strict-model"), Recorder())).text == "Hi"


@pytest.mark.parametrize(
    ("message", "parameters", "kept"),
    [
        ("1210 API parameter top_p is invalid", '{"top_p":0.5}', True),
        ("1210 API parameters are wrong", "", False),
        ("web_search is not available on this plan", '{"top_p":0.5}', False),
    ],
)
async def test_a_callers_bad_parameter_does_not_switch_the_providers_search_off(
    message: str, parameters: str, kept: bool
) -> None:
    asked = ask("Hello", tools=Toolset("h", (PROVIDER_SEARCH,)))
    asked = replace(asked, settings=replace(asked.settings, model="glm-4.7", parameters=parameters))
    async with (
        StrictLLM([error(400, None, message)], dialect="zai") as llm,
        chat_with(llm.base_url, profile="glm") as chat,
    ):
        with pytest.raises(ModelError):
            await chat.reply(asked, Recorder())
        assert (b'"type":"web_search"' in chat.body(asked)) == kept
