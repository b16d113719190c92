"""`/v1` in whole: what becomes of each parameter, of structured output, of mixed replies, and of everything wrong."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openai import APIStatusError, AsyncOpenAI, BadRequestError, NotFoundError, UnprocessableEntityError

from tests.kit.ledger_file import Ledger
from tests.web.kit import TOKEN, Site, open_site
from windlass.config import LimitSettings, ServerSettings
from windlass.services.v1_parameters import PASSED, REFUSED
from windlass.testing import ChatRequest, StrictLLM, call, calls, error, heed, say, think
from windlass.web import openai_compat

HELLO: Any = [{"role": "user", "content": "Hello"}]
DOOR: Any = {
    "type": "function",
    "function": {"name": "open_door", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "number"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}
WEATHER: Any = {"type": "json_schema", "json_schema": {"name": "weather", "schema": SCHEMA, "strict": True}}
FITS = '{"city": "Nanaimo", "degrees": 12.5}'
EVERY_PARAMETER: dict[str, Any] = {
    "top_p": 0.9,
    "frequency_penalty": 0.5,
    "presence_penalty": -0.5,
    "logit_bias": {"50256": -100},
    "logprobs": True,
    "top_logprobs": 2,
    "seed": 7,
    "stop": ["###"],
    "reasoning_effort": "low",
    "verbosity": "low",
    "service_tier": "flex",
    "prediction": {"type": "content", "content": "Hello"},
    "web_search_options": {"search_context_size": "low"},
    "store": False,
    "metadata": {"a": "b"},
    "user": "u-1",
    "safety_identifier": "s-1",
    "prompt_cache_key": "k-1",
    "prompt_cache_retention": "24h",
    "parallel_tool_calls": False,
    "temperature": 0.25,
    "max_tokens": 900,
}


@asynccontextmanager
async def client_of(base_url: str, key: str = TOKEN) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(api_key=key, base_url=base_url, max_retries=0) as client:
        yield client


@asynccontextmanager
async def served(
    home: Path, llm: StrictLLM, ledger: Ledger | None = None, tools: str = "*"
) -> AsyncIterator[tuple[Site, AsyncOpenAI]]:
    argv = ledger.argv() if ledger else []
    servers = {"ledger": ServerSettings(command=argv[0], args=argv[1:], tools=tools, approval="auto")} if argv else {}
    async with open_site(home, llm, durability="normal", servers=servers) as site:
        if ledger:
            await site.app.servers.wait_ready("ledger", 20)
        async with client_of(f"{site.url}/v1") as client:
            yield site, client


async def answer(client: AsyncOpenAI, streamed: bool, **asked: Any) -> tuple[str, str, Any]:
    """The text, the finish reason and the probabilities of tokens, whichever way they come."""
    asked = {"model": "strict-model", "messages": HELLO, **asked}
    if not streamed:
        choice = (await client.chat.completions.create(**asked)).choices[0]
        return choice.message.content or "", choice.finish_reason, _tokens(choice.logprobs)
    stream = await client.chat.completions.create(**asked, stream=True)
    choices = [chunk.choices[0] async for chunk in stream if chunk.choices]
    found = [token for choice in choices if choice.logprobs for token in _tokens(choice.logprobs)]
    reasons = [choice.finish_reason for choice in choices if choice.finish_reason]
    return "".join(choice.delta.content or "" for choice in choices), reasons[-1], found


def _tokens(logprobs: Any) -> list[tuple[str, int]]:
    return [(one.token, len(one.top_logprobs)) for one in (logprobs.content if logprobs else None) or []]


@pytest.mark.parametrize("streamed", [False, True])
async def test_every_parameter_reaches_the_model_as_if_it_was_asked_straight(tmp_path: Path, streamed: bool) -> None:
    assert {one.name for one in PASSED} <= EVERY_PARAMETER.keys()
    asked = {**EVERY_PARAMETER, "tools": [DOOR]}
    async with StrictLLM(heed) as llm, served(tmp_path / "home", llm) as (_, client):
        async with client_of(llm.base_url) as straight:
            expected = await answer(straight, streamed, **asked)
        assert await answer(client, streamed, **asked) == expected
        assert '"web_search_options":' in expected[0] and len(expected[2]) == 2
        cut = {"max_completion_tokens": 1}
        assert await answer(client, streamed, **cut) == await answer(client, not streamed, **cut)
        assert (await answer(client, streamed, stop="lo"))[0] == 'Hel {"stop":"lo"}'


async def test_what_only_some_provider_knows_is_passed_on_and_wins_over_a_profile(tmp_path: Path) -> None:
    zai = StrictLLM([say("Yes.")], dialect="zai")
    async with zai as llm, open_site(tmp_path / "home", llm) as site, client_of(f"{site.url}/v1") as client:
        extra = {"thinking": {"type": "disabled"}, "do_sample": True}
        await client.chat.completions.create(model="", messages=HELLO, top_p=1.0, extra_body=extra)
        assert [llm.requests[0].body[name] for name in ("thinking", "do_sample", "top_p")] == [*extra.values(), 0.99]


@pytest.mark.parametrize("streamed", [False, True])
async def test_what_the_provider_refuses_is_a_400_that_names_it(tmp_path: Path, streamed: bool) -> None:
    async with StrictLLM(heed) as llm, served(tmp_path / "home", llm) as (_, client):
        for name, value in {"seed": "x", "top_k": 40, "thinking": {"type": "disabled"}}.items():
            with pytest.raises(BadRequestError, match=name):
                await answer(client, streamed, extra_body={name: value})
        assert len(llm.requests) == 3, "nothing is asked again without what the caller wanted"


REFUSALS: list[tuple[dict[str, Any], str]] = [
    *(({one.name: {"x": 1}}, one.name) for one in REFUSED),
    *(({name: 1}, name) for name in ("Model", "MESSAGES", "Tools", "\u017ftream", "Functions", "Windlass")),
    ({"n": 2}, "n"),
    ({"modalities": ["text", "audio"]}, "modalities"),
    ({"max_tokens": 5, "max_completion_tokens": 6}, "max_tokens"),
    ({"stream": True, "stream_options": {"include_everything": True}}, "stream_options"),
    ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools[0].type"),
    ({"tools": [DOOR, DOOR]}, "tools"),
    ({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}}, "tool_choice"),
    ({"response_format": {"type": "xml"}}, "response_format"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, "response_format"),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": 7}}}},
        "response_format",
    ),
    ({"windlass": {"tools": "everything"}}, "windlass.tools"),
    ({"windlass": {"tools": ["ledger.no_such_tool"]}}, "windlass.tools"),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
        "messages[0].content[0]",
    ),
    ({"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "messages[0].content[0]"),
    ({"messages": [{"role": "user", "content": [{"type": "file"}]}]}, "messages[0].content[0]"),
    ({"messages": [{"role": "function", "name": "x", "content": "y"}]}, "messages[0].role"),
    ({"messages": [*HELLO, {"role": "assistant", "function_call": {"name": "x"}}]}, "messages[1].function_call"),
    ({"messages": [{"role": "user", "content": "x", "weight": 1}]}, "messages[0].weight"),
    ({"messages": [{"role": "tool", "tool_call_id": "c", "content": "y"}]}, "messages[0]"),
    ({"messages": [{"role": "system", "content": "x"}]}, "messages"),
]


async def test_what_cannot_be_kept_is_refused_by_name_before_any_model_is_asked(
    site: Site, strict_llm: StrictLLM
) -> None:
    for given, param in REFUSALS:
        reply = await site.call("POST", "/v1/chat/completions", {"messages": HELLO, **given})
        assert (reply.status, reply.body["error"]["type"]) == (400, "invalid_request_error"), reply.text
        assert reply.body["error"]["param"] == param and param in reply.body["error"]["message"], reply.text
    assert strict_llm.requests == []


async def test_calls_without_an_answer_and_arguments_that_are_no_json_are_refused(site: Site) -> None:
    made = {"id": "c1", "type": "function", "function": {"name": "open_door", "arguments": "{}"}}
    broken = {**made, "function": {"name": "open_door", "arguments": "{n:"}}
    for one, path in ((made, "messages[1].tool_calls"), (broken, "messages[1].tool_calls[0].function.arguments")):
        history = [*HELLO, {"role": "assistant", "tool_calls": [one]}, *HELLO]
        reply = await site.call("POST", "/v1/chat/completions", {"messages": history})
        assert (reply.status, reply.body["error"]["param"]) == (400, path)


async def test_only_the_allowed_tools_are_offered(site: Site, strict_llm: StrictLLM) -> None:
    other = {"type": "function", "function": {"name": "close_door", "strict": True}}
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "close_door"}}]}
    strict_llm.then(call("close_door"))
    body = {
        "messages": HELLO,
        "tools": [DOOR, other],
        "tool_choice": {"type": "allowed_tools", "allowed_tools": allowed},
    }
    reply = await site.post("/v1/chat/completions", body)
    [sent] = strict_llm.requests
    assert (sent.tool_names, sent.tool_choice, sent.tools[0]["function"]["strict"]) == (
        ["close_door"],
        "required",
        True,
    )
    assert reply["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "close_door"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("beside", [False, True], ids=["further request", "beside tools"])
async def test_structured_output_runs_the_servers_tools_first(
    tmp_path: Path, ledger: Ledger, streamed: bool, beside: bool
) -> None:
    rest = [say(FITS)] if beside else [say("It is 12.5 degrees."), say(FITS)]
    async with StrictLLM([say("I will look. ") + call("record", effect_id="a"), *rest]) as llm:
        async with served(tmp_path / "home", llm, ledger) as (site, client):
            site.app.models.put(replace(site.app.models.config(), profile="openai" if beside else "default"))
            text, finish, _ = await answer(client, streamed, response_format=WEATHER)
    assert (json.loads(text), finish) == (json.loads(FITS), "stop")
    formats = [request.body.get("response_format") for request in llm.requests]
    assert formats == ([WEATHER, WEATHER] if beside else [None, None, WEATHER])
    assert [bool(request.tools) for request in llm.requests] == ([True, True] if beside else [True, True, False])
    assert "[Called record" in json.dumps(llm.requests[-1].messages) or beside
    assert ledger.counts() == {"a": 1}


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_that_does_not_fit_is_asked_for_once_more_and_then_fails(
    site: Site, strict_llm: StrictLLM, streamed: bool
) -> None:
    async with client_of(f"{site.url}/v1") as client:
        strict_llm.then(say('{"city": "Nanaimo"}'), say(f"```json\n{FITS}\n```"))
        text, _, _ = await answer(client, streamed, response_format=WEATHER)
        assert text == FITS
        assert "degrees" in strict_llm.requests[1].messages[-1]["content"]
        strict_llm.then(say("Twelve."), say('{"city": 7}'))
        with pytest.raises(UnprocessableEntityError, match="form that was asked for") as failed:
            await answer(client, streamed, response_format=WEATHER)
        assert failed.value.code == "bad_output" and len(strict_llm.requests) == 4
        strict_llm.then(say("refusal"), say(FITS))
        assert (await answer(client, streamed, response_format=WEATHER, logprobs=True))[0] == FITS, "a token like any"
        strict_llm.then(say('{"city": "Na').ending("length"))
        assert (await answer(client, streamed, response_format=WEATHER))[:2] == ('{"city": "Na', "length")


async def test_a_server_that_takes_no_response_format_is_asked_in_words(tmp_path: Path) -> None:
    def script(request: ChatRequest) -> Any:
        refused = "response_format" in request.body
        return error(400, None, "response_format: unknown parameter") if refused else say(FITS)

    async with StrictLLM(script) as llm, served(tmp_path / "home", llm) as (_, client):
        assert (await answer(client, False, response_format=WEATHER))[0] == FITS
        assert '"degrees"' in llm.requests[-1].messages[-1]["content"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_client_with_its_default_retries_runs_the_servers_tools_once(
    tmp_path: Path, ledger: Ledger, streamed: bool
) -> None:
    ends: dict[str, list[Any]] = {"a": [error(401, "invalid_api_key", "bad key")], "b": [say("no")] * 3}
    script = [one for effect, end in ends.items() for one in (call("record", effect_id=effect), *end)]
    async with StrictLLM(script) as llm, served(tmp_path / "home", llm, ledger) as (site, _):
        async with AsyncOpenAI(api_key=TOKEN, base_url=f"{site.url}/v1") as client:
            assert client.max_retries == 2
            for status, format in ((422, {}), (422, {"response_format": WEATHER})):
                with pytest.raises(APIStatusError) as failed:
                    await answer(client, streamed, **format)
                assert failed.value.status_code == status
    assert ledger.counts() == {"a": 1, "b": 1}


MIXED = think("Both.") + calls(call("record", effect_id="a"), call("open_door", n=1))


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_mixed_reply_gives_the_caller_its_own_call_and_comes_back_whole(
    tmp_path: Path, ledger: Ledger, streamed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    script = [call("record", effect_id="0"), MIXED, say("It is open."), say("As you wrote it.")]
    async with StrictLLM(script) as llm, served(tmp_path / "home", llm, ledger) as (site, client):
        with caplog.at_level(logging.INFO):
            made = await _handed_over(client, streamed)
        assert [one["function"]["name"] for one in made] == ["open_door"] and ledger.counts() == {"0": 1, "a": 1}
        assert not [one for one in caplog.records if one.levelno >= logging.WARNING]
        metrics = (await site.call("GET", "/metrics")).text
        assert "windlass_calls_handed_over_total 1" in metrics and "calls_cancelled" not in metrics
        said: Any = {"role": "assistant", "content": "my own words", "tool_calls": made}
        result: Any = {"role": "tool", "tool_call_id": made[0]["id"], "content": "it creaks"}
        done = await client.chat.completions.create(model="", messages=[*HELLO, said, result], tools=[DOOR])
        assert done.choices[0].message.content == "It is open."
        before, after = llm.requests[1].messages, llm.requests[2].messages
        assert after[: len(before)] == before, "the prompt extends the one of the turn that handed over"
        assert [one["function"]["name"] for one in after[len(before)]["tool_calls"]] == ["record", "open_door"]
        assert [one["content"] for one in after[-2:]][1] == "it creaks" and "recorded" in after[-2]["content"]
        (hidden, *_) = site.app.store.conversations.hidden(1e12)
        await site.app.store.conversations.delete(hidden)
        await client.chat.completions.create(model="", messages=[*HELLO, said, result], tools=[DOOR])
        assert [one["content"] for one in llm.requests[3].messages[-2:]] == ["my own words", "it creaks"]


async def test_a_turn_is_put_back_once_in_a_request(tmp_path: Path, ledger: Ledger) -> None:
    script = [call("record", effect_id="0"), MIXED, say("Open.")]
    async with StrictLLM(script) as llm, served(tmp_path / "home", llm, ledger) as (_, client):
        made = await _handed_over(client, False)
        said: Any = {"role": "assistant", "content": "my own words", "tool_calls": made}
        result: Any = {"role": "tool", "tool_call_id": made[0]["id"], "content": "it creaks"}
        await client.chat.completions.create(model="", messages=[*HELLO, *([said, result] * 9)], tools=[DOOR])
    called = [one["function"]["name"] for sent in llm.requests[2].messages for one in sent.get("tool_calls") or []]
    assert called == ["record", "record", *["open_door"] * 9]
    assert llm.requests[2].results.count("it creaks") == 9


async def _handed_over(client: AsyncOpenAI, streamed: bool) -> list[Any]:
    if not streamed:
        done = await client.chat.completions.create(model="", messages=HELLO, tools=[DOOR])
        return [one.model_dump() for one in done.choices[0].message.tool_calls or []]
    stream = await client.chat.completions.create(model="", messages=HELLO, tools=[DOOR], stream=True)
    found = [one async for chunk in stream for one in chunk.choices[0].delta.tool_calls or []]
    return [{"id": one.id, "type": "function", "function": one.function.model_dump()} for one in found if one.function]


CHOSEN = {
    "": {"echo", "open_door"},
    "none": {"open_door"},
    "persona": {"open_door"},
    "ledger.echo": {"echo", "open_door"},
    "ledger.ec*, ledger.record": {"echo", "record", "open_door"},
    "ledger.hang": {"hang", "open_door"},
}


async def test_a_request_chooses_the_servers_tools(tmp_path: Path, ledger: Ledger) -> None:
    async with StrictLLM(heed) as llm, served(tmp_path / "home", llm, ledger, "echo") as (_, client):
        for tools in CHOSEN:
            ways: Any = ({"extra_headers": {"x-windlass-tools": tools}}, {"extra_body": {"windlass": {"tools": tools}}})
            for way in ways:
                await client.chat.completions.create(model="", messages=HELLO, tools=[DOOR], **way)
        offered = [{name for name in sent.tool_names if not name.startswith("result_")} for sent in llm.requests]
        assert offered == [tools for tools in CHOSEN.values() for _ in range(2)]
        assert not any("windlass" in sent.body for sent in llm.requests)


@pytest.mark.parametrize(("approval", "expected"), [(None, {"0": 1, "2": 1, "3": 1}), ("ask", {})])
async def test_a_tool_counts_as_named_where_the_request_or_its_persona_names_it_in_full(
    tmp_path: Path, ledger: Ledger, approval: Any, expected: dict[str, int]
) -> None:
    """`record` has no hints and changes something: named it runs, switched on by a pattern it would ask."""
    command, *args = ledger.argv()
    servers = {"ledger": ServerSettings(command=command, args=args, tools="rec*", approval=approval)}
    script = [part for n in range(4) for part in (call("record", effect_id=f"{n}"), say("Done."))]
    async with StrictLLM(script) as llm, open_site(tmp_path / "home", llm, servers=servers) as site:
        await site.app.servers.wait_ready("ledger", 20)
        await site.post("/personas", {"name": "Recorder", "tools": ["ledger.record"]})
        recorder = f"windlass/{(await site.get('/personas'))['personas'][-1]['id']}"
        asked = [
            ("", "ledger.record"),
            ("", "ledger.rec*"),
            (recorder, "persona"),
            (recorder, ""),
        ]
        for model, tools in asked:
            body = {"messages": HELLO, "model": model, "windlass": {"tools": tools}}
            await site.post("/v1/chat/completions", body)
    assert ledger.counts() == expected


async def test_a_tool_that_takes_long_leaves_no_stream_silent(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_compat, "KEEP_ALIVE_S", 0.02)
    async with StrictLLM([call("progress", steps=2, gate=ledger.gate()), say("Done.")]) as llm:
        async with served(tmp_path / "home", llm, ledger) as (site, _):
            body, headers = {"messages": HELLO, "stream": True}, {"Authorization": f"Bearer {TOKEN}"}
            async with site.session.post(f"{site.url}/v1/chat/completions", json=body, headers=headers) as reply:
                for step in (1, 2):
                    await reply.content.readuntil(b": keep-alive\n\n")
                    ledger.open(f"gate.{step}")
                assert b'"content":"Done."' in await reply.content.read()


@pytest.mark.parametrize(
    ("method", "path", "options", "status"),
    [
        ("GET", "/v1/models", {"token": "wrong"}, 401),
        ("GET", "/v1/nothing", {}, 404),
        ("GET", "/v1/models/no/such/model", {}, 404),
        ("DELETE", "/v1/models", {}, 405),
        ("POST", "/v1/chat/completions", {"raw": b"{" + b" " * (5 << 20)}, 413),
        ("POST", "/v1/chat/completions", {"raw": b"x", "headers": {"Content-Type": "text/plain"}}, 415),
        ("POST", "/v1/chat/completions", {"raw": b"{"}, 400),
        ("POST", "/v1/chat/completions", {"raw": b"[]"}, 400),
        ("POST", "/v1/chat/completions", {"body": {}}, 400),
        ("POST", "/v1/embeddings", {"body": {"input": ""}}, 400),
    ],
)
async def test_every_refusal_under_v1_has_openais_form(
    site: Site, method: str, path: str, options: dict[str, Any], status: int
) -> None:
    reply = await site.call(method, path, **options)
    assert (reply.status, set(reply.body)) == (status, {"error"}), reply.text
    assert reply.body["error"].keys() == {"message", "type", "param", "code"}


async def test_a_model_is_retrieved_by_each_of_its_names(tmp_path: Path) -> None:
    async with StrictLLM(models=["strict-model", "org/large"]) as llm:
        async with served(tmp_path / "home", llm) as (_, client):
            for name in ("strict-model", "org/large", "windlass/assistant"):
                found = await client.models.retrieve(name)
                assert (found.id, found.object) == (name, "model")
            for name in ("nothing", "windlass/nobody"):
                with pytest.raises(NotFoundError) as refused:
                    await client.models.retrieve(name)
                assert refused.value.code == "model_not_found"


async def test_embeddings_are_those_of_the_provider(tmp_path: Path) -> None:
    async with StrictLLM(api_key="key-of-the-tests") as llm, served(tmp_path / "home", llm) as (site, client):
        async with client_of(llm.base_url, "key-of-the-tests") as straight:
            for asked in ({"dimensions": 3}, {"encoding_format": "base64"}, {}):
                wanted: Any = {"model": "strict-model", "input": ["a", "b"], **asked}
                expected, found = await straight.embeddings.create(**wanted), await client.embeddings.create(**wanted)
                assert [one.embedding for one in found.data] == [one.embedding for one in expected.data]
                assert (found.model, found.usage) == (expected.model, expected.usage)
        with pytest.raises(BadRequestError, match="encoding_format"):
            await client.embeddings.create(model="strict-model", input="a", encoding_format="hex")  # type: ignore[arg-type]
        assert llm.embedded[1]["encoding_format"] == "base64"
        site.app.models.put(replace(site.app.models.config(), api_key="sk-another-key"))
        refused = await site.call("POST", "/v1/embeddings", {"input": "a"})
        assert refused.status == 502 and "sk-another-key" not in refused.text and "127.0.0.1:" in refused.text
        reading = await site.call("POST", "/v1/embeddings", {"input": "a"}, token=site.token("read"))
        assert (reading.status, set(reading.body)) == (403, {"error"})


async def test_embeddings_are_part_of_the_days_budget(tmp_path: Path) -> None:
    async with StrictLLM() as llm, open_site(tmp_path / "home", llm, limits=LimitSettings(day_tokens=1)) as site:
        asked = {"model": "strict-model", "input": "some words"}
        replies = [await site.call("POST", "/v1/embeddings", asked) for _ in range(2)]
        assert [reply.status for reply in replies] == [200, 503], replies[0].text
        assert replies[1].body["error"]["code"] == "budget_spent" and len(llm.embedded) == 1
        assert (await site.call("POST", "/v1/chat/completions", {"messages": HELLO})).status == 503


async def test_a_reply_that_the_provider_filters_ends_as_it_does_straight(site: Site, strict_llm: StrictLLM) -> None:
    async with client_of(f"{site.url}/v1") as client:
        for streamed in (False, True):
            strict_llm.then(say("So far ").ending("content_filter"))
            assert (await answer(client, streamed))[:2] == ("So far ", "content_filter")


@pytest.mark.parametrize("streamed", [False, True])
async def test_thoughts_before_a_lone_end_tag_do_not_make_the_answer_come_twice(
    site: Site, strict_llm: StrictLLM, streamed: bool
) -> None:
    strict_llm.then(say("They ask for the capital. It is Paris.\n</think>\n", "Paris."))
    async with client_of(f"{site.url}/v1") as client:
        text = (await answer(client, streamed))[0]
    assert text.endswith("\nParis." if streamed else "Paris.") and text.count("Paris.") == (2 if streamed else 1)


async def test_a_stream_names_the_fallback_that_answers(tmp_path: Path) -> None:
    first_down = StrictLLM([error(401, "invalid_api_key", "no such key")])
    async with first_down as first, StrictLLM([say("From the second.")]) as second:
        async with open_site(tmp_path / "home", first) as site, client_of(f"{site.url}/v1") as client:
            own = site.app.models.config()
            site.app.models.put(replace(own, id="second", name="second", base_url=second.base_url, model="m2"))
            site.app.models.put(replace(own, fallback=("second/m2",)))
            stream = await client.chat.completions.create(model="", messages=HELLO, stream=True)
            models = [chunk.model async for chunk in stream]
    assert models[-1] == "m2"


async def test_a_request_without_a_system_message_of_the_same_prompt_each_time(
    site: Site, strict_llm: StrictLLM
) -> None:
    """Ids of calls in the history stay as the caller has them, so that providers find the prompt in their cache."""
    made = {"id": "call_abc", "type": "function", "function": {"name": "open_door", "arguments": "{}"}}
    history = [*HELLO, {"role": "assistant", "content": None, "tool_calls": [made]}]
    history.append({"role": "tool", "tool_call_id": "call_abc", "content": "open"})
    strict_llm.then(say("One."), say("Two."))
    await asyncio.gather(*(site.post("/v1/chat/completions", {"messages": history}) for _ in range(2)))
    first, second = (request.messages for request in strict_llm.requests)
    assert first == second and first[-1]["tool_call_id"] == "call_abc"
