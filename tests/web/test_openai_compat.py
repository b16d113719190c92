"""`/v1` as strangers use it: the real SDKs, unchanged."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from openai import AsyncOpenAI, BadRequestError, NotFoundError, OpenAIError
from zai import ZaiClient

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import until
from tests.web.kit import TOKEN, Site, open_site
from windlass.config import ServerSettings
from windlass.testing import Gate, StrictLLM, Usage, call, calls, error, loop, say, think, wait_for

OWN_TOOL = {
    "type": "function",
    "function": {
        "name": "open_door",
        "description": "Open a door.",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    },
}
HELLO: Any = [{"role": "user", "content": "Hello"}]
CALL_OF_BEFORE = {"id": "call-1", "type": "function", "function": {"name": "open_door", "arguments": '{"n": 1}'}}


@pytest_asyncio.fixture
async def equipped(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> AsyncIterator[Site]:
    """With a server whose tools are on by default, as the operator's file would have it."""
    command, *args = ledger.argv()
    servers = {"ledger": ServerSettings(command=command, args=args, tools="[er]*", approval="auto")}
    async with open_site(tmp_path / "home", strict_llm, durability="normal", servers=servers) as site:
        await site.app.servers.wait_ready("ledger", 20)
        yield site


@pytest_asyncio.fixture
async def client(equipped: Site) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(api_key=TOKEN, base_url=f"{equipped.url}/v1", max_retries=0) as opened:
        yield opened


async def test_a_plain_completion_runs_the_servers_tools_inside(
    client: AsyncOpenAI, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    strict_llm.then(
        call("record", effect_id="a"),
        call("record", effect_id="b"),
        (think("Hm.") + say("Done.")).using(Usage(10, 5)),
    )

    done = await client.chat.completions.create(model="strict-model", messages=HELLO)

    choice = done.choices[0]
    assert (choice.message.content, choice.finish_reason, choice.message.role) == ("Done.", "stop", "assistant")
    assert choice.message.tool_calls is None
    assert done.object == "chat.completion" and done.model == "strict-model" and done.id.startswith("chatcmpl-")
    assert done.usage is not None and done.usage.total_tokens > 15
    assert ledger.counts() == {"a": 1, "b": 1}


async def test_a_streamed_completion_says_the_same_and_ends_with_usage(
    client: AsyncOpenAI, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    strict_llm.then(call("record", effect_id="a"), say("One ", "two."))

    stream = await client.chat.completions.create(
        model="", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]

    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "One two."
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].usage is not None and chunks[-1].choices == []
    assert len({chunk.id for chunk in chunks}) == 1
    assert ledger.counts() == {"a": 1}


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_callers_own_tools_are_handed_back_and_their_results_taken(
    client: AsyncOpenAI, strict_llm: StrictLLM, streamed: bool
) -> None:
    strict_llm.then(calls(call("open_door", n=1), call("open_door", n=2)), say("Both open."))
    tools: Any = [OWN_TOOL]
    asked = await _calls(client, streamed, tools)

    assert [(name, json.loads(arguments)) for _, name, arguments in asked] == [
        ("open_door", {"n": 1}),
        ("open_door", {"n": 2}),
    ]
    made = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id, name, arguments in asked
    ]
    messages: Any = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": made},
        *({"role": "tool", "tool_call_id": id, "content": "open"} for id, _, _ in asked),
    ]
    done = await client.chat.completions.create(model="strict-model", messages=messages, tools=tools)

    assert done.choices[0].message.content == "Both open."
    assert strict_llm.requests[1].results == ["open", "open"]


async def _calls(client: AsyncOpenAI, streamed: bool, tools: Any) -> list[tuple[str, str, str]]:
    if not streamed:
        done = await client.chat.completions.create(model="strict-model", messages=HELLO, tools=tools)
        assert done.choices[0].finish_reason == "tool_calls"
        found: list[Any] = done.choices[0].message.tool_calls or []
        return [(one.id, one.function.name, one.function.arguments) for one in found]
    stream = await client.chat.completions.create(model="strict-model", messages=HELLO, tools=tools, stream=True)
    chunks = [chunk async for chunk in stream]
    assert [c.choices[0].finish_reason for c in chunks][-1] == "tool_calls"
    found = [one for chunk in chunks for one in chunk.choices[0].delta.tool_calls or []]
    assert [one.index for one in found] == [0, 1]
    return [(one.id, one.function.name, one.function.arguments) for one in found]


async def test_a_call_that_would_ask_is_refused_with_the_reason(
    client: AsyncOpenAI, equipped: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await equipped.call("PUT", "/policy", {"rules": [{"tool": "record", "then": "ask"}]})
    strict_llm.then(call("record", effect_id="a"), say("I may not."))

    done = await client.chat.completions.create(model="strict-model", messages=HELLO)

    assert done.choices[0].message.content == "I may not."
    assert "error" in strict_llm.requests[1].results[0]
    assert ledger.effects() == []


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_tool_that_asks_a_person_is_told_that_nobody_is_there(
    client: AsyncOpenAI, equipped: Site, strict_llm: StrictLLM, streamed: bool
) -> None:
    await equipped.post("/personas", {"name": "Asker", "tools": ["ledger.ask"]})
    persona = (await equipped.get("/personas"))["personas"][-1]["id"]
    strict_llm.then(call("ask"), say("Nobody answered."))

    async with asyncio.timeout(90):
        if streamed:
            stream = await client.chat.completions.create(model=f"windlass/{persona}", messages=HELLO, stream=True)
            said = "".join([c.choices[0].delta.content or "" async for c in stream])
        else:
            done = await client.chat.completions.create(model=f"windlass/{persona}", messages=HELLO)
            said = done.choices[0].message.content or ""

    assert said == "Nobody answered."


async def test_a_tool_of_the_callers_takes_the_place_of_a_servers_of_that_name(
    client: AsyncOpenAI, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    own: Any = {"type": "function", "function": {**OWN_TOOL["function"], "name": "record"}}  # type: ignore[dict-item]
    strict_llm.then(call("record", n=1))

    done = await client.chat.completions.create(model="strict-model", messages=HELLO, tools=[own])

    assert done.choices[0].finish_reason == "tool_calls"
    offered = [tool["function"]["name"] for tool in strict_llm.requests[0].body["tools"]]
    assert offered.count("record") == 1 and ledger.effects() == []


async def test_a_persona_of_ones_own_is_listed_as_a_model(client: AsyncOpenAI, equipped: Site) -> None:
    persona = (await equipped.post("/personas", {"name": "Clerk"}))["persona"]["id"]

    listed = [model.id for model in (await client.models.list()).data]

    assert f"windlass/{persona}" in listed and listed.count("windlass/assistant") == 1


async def test_errors_come_in_openais_form(client: AsyncOpenAI, equipped: Site, strict_llm: StrictLLM) -> None:
    strict_llm.then(error(401, None, "bad key"), error(401, None, "bad key"))

    for streamed in (False, True):
        with pytest.raises(OpenAIError, match="rejected the API key"):
            answer: Any = await client.chat.completions.create(
                model="strict-model",
                messages=HELLO,
                stream=streamed,
            )
            async for _ in answer:
                pass
    async with AsyncOpenAI(api_key="wrong", base_url=f"{equipped.url}/v1", max_retries=0) as stranger:
        with pytest.raises(OpenAIError, match="access token"):
            await stranger.models.list()
    with pytest.raises(OpenAIError, match="messages"):
        await client.chat.completions.create(model="strict-model", messages=[])
    with pytest.raises(OpenAIError, match="no persona nobody"):
        await client.chat.completions.create(model="windlass/nobody", messages=HELLO)
    bare = await equipped.call("POST", "/v1/chat/completions", {"messages": 7})
    assert bare.status == 400 and set(bare.body["error"]) == {"message", "type", "code", "param"}


@pytest.mark.parametrize("model", ["nothing-like-it", "windlass/nobody"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_model_that_is_not_there_is_not_found_in_openais_words(
    client: AsyncOpenAI, strict_llm: StrictLLM, model: str, streamed: bool
) -> None:
    with pytest.raises(NotFoundError) as refused:
        await client.chat.completions.create(model=model, messages=HELLO, stream=streamed)
    error: Any = refused.value.body
    assert (error["code"], error["type"], error["param"]) == ("model_not_found", "invalid_request_error", "model")
    assert strict_llm.requests == []


async def test_a_model_that_its_own_server_does_not_know_is_not_found_either(
    client: AsyncOpenAI, strict_llm: StrictLLM
) -> None:
    strict_llm.then(error(404, "model_not_found", "The model does not exist."))
    with pytest.raises(NotFoundError) as refused:
        await client.chat.completions.create(model="strict/nothing-like-it", messages=HELLO)
    assert refused.value.code == "model_not_found"


@pytest.mark.parametrize("model", ["", "strict-model", "strict-model:latest", "strict/strict-model"])
async def test_a_model_is_found_by_each_of_its_names(client: AsyncOpenAI, strict_llm: StrictLLM, model: str) -> None:
    strict_llm.then(say("Here."))
    done = await client.chat.completions.create(model=model, messages=HELLO)
    assert done.choices[0].message.content == "Here."


async def test_more_than_one_answer_is_refused_and_not_quietly_left_out(client: AsyncOpenAI) -> None:
    with pytest.raises(BadRequestError, match="n: "):
        await client.chat.completions.create(model="strict-model", messages=HELLO, n=2)


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
async def test_the_length_of_a_reply_is_limited_as_the_caller_says(
    client: AsyncOpenAI, strict_llm: StrictLLM, field: str
) -> None:
    strict_llm.then(call("record", effect_id="a"), say("Short.").ending("length"))
    limit: Any = {field: 7}
    done = await client.chat.completions.create(model="strict-model", messages=HELLO, **limit)
    assert [request.body["max_tokens"] for request in strict_llm.requests] == [7, 7]
    assert done.choices[0].finish_reason == "length"
    none: Any = {field: 0}
    with pytest.raises(BadRequestError, match=field):
        await client.chat.completions.create(model="strict-model", messages=HELLO, **none)


CHOICES: Any = {"required": "required", "named": {"type": "function", "function": {"name": "open_door"}}}


@pytest.mark.parametrize("choice", CHOICES)
async def test_a_call_the_caller_insists_on_is_of_the_callers_own_tools(
    client: AsyncOpenAI, strict_llm: StrictLLM, choice: str
) -> None:
    other: Any = {"type": "function", "function": {"name": "close_door", "parameters": {"type": "object"}}}
    own: Any = [OWN_TOOL, other]
    strict_llm.then(call("open_door", n=1), say("It is open."))
    done = await client.chat.completions.create(
        model="strict-model", messages=HELLO, tools=own, tool_choice=CHOICES[choice]
    )
    [made] = done.choices[0].message.tool_calls or []
    sent = strict_llm.requests[0]
    offered = [tool["function"]["name"] for tool in sent.body["tools"]]
    assert sent.tool_choice == "required" and made.type == "function" and made.function.name == "open_door"
    assert offered == (["open_door", "close_door"] if choice == "required" else ["open_door"])


@pytest.mark.parametrize("choice", [*CHOICES.values(), "sometimes", {"type": "function"}], ids=str)
async def test_a_choice_among_tools_that_were_not_given_is_refused(client: AsyncOpenAI, choice: Any) -> None:
    with pytest.raises(BadRequestError, match="tool_choice"):
        await client.chat.completions.create(model="strict-model", messages=HELLO, tool_choice=choice)


@pytest.mark.parametrize("model", ["strict-model", "windlass/researcher"])
async def test_d7_a_caller_who_wants_no_tools_gets_an_answer_without_any(
    client: AsyncOpenAI, strict_llm: StrictLLM, ledger: Ledger, model: str
) -> None:
    own: Any = [OWN_TOOL]
    before: Any = [
        {"role": "user", "content": "Open door 1."},
        {"role": "assistant", "tool_calls": [CALL_OF_BEFORE]},
        {"role": "tool", "tool_call_id": "call-1", "content": "open"},
        {"role": "user", "content": "What happened in the news today?"},
    ]
    strict_llm.then(say("It is open."))
    done = await client.chat.completions.create(model=model, messages=before, tools=own, tool_choice="none")
    [sent] = strict_llm.requests
    assert "tools" not in sent.body and "tool_choice" not in sent.body
    assert (done.choices[0].message.content, done.choices[0].message.tool_calls) == ("It is open.", None)
    assert ledger.counts() == {}


async def test_the_name_of_who_says_something_goes_along(client: AsyncOpenAI, strict_llm: StrictLLM) -> None:
    strict_llm.then(say("Hello Ada."))
    messages: Any = [{"role": "user", "content": "Hello", "name": "ada lovelace"}]
    await client.chat.completions.create(model="strict-model", messages=messages)
    assert strict_llm.requests[0].messages[-1] == {"role": "user", "content": "Hello", "name": "ada_lovelace"}


async def test_models_and_personas_are_listed(client: AsyncOpenAI) -> None:
    names = [model.id async for model in client.models.list()]
    assert names == ["strict-model", "windlass/assistant", "windlass/librarian", "windlass/researcher"]


async def test_a_provider_that_is_gone_is_listed_by_its_model_and_not_asked_each_time(
    client: AsyncOpenAI, equipped: Site
) -> None:
    asked: list[asyncio.StreamWriter] = []

    def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(writer)
        writer.close()

    gone = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{gone.sockets[0].getsockname()[1]}/v1"
    await equipped.post("/providers", {"name": "Gone", "base_url": address, "model": "ghost"})

    lists = [[model.id async for model in client.models.list()] for _ in range(3)]

    gone.close()
    assert len(asked) == 1
    assert all(any(name.endswith("/ghost") for name in names) for names in lists)


async def test_a_persona_speaks_with_its_own_prompt_and_the_callers(client: AsyncOpenAI, strict_llm: StrictLLM) -> None:
    strict_llm.then(say("Shh."))
    messages: Any = [{"role": "system", "content": "Whisper."}, *HELLO]

    await client.chat.completions.create(model="windlass/librarian", messages=messages)

    system = strict_llm.requests[0].messages[0]["content"]
    assert "librarian" in system and "Whisper." in system


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_turn_ends_when_the_caller_goes(equipped: Site, strict_llm: StrictLLM, streamed: bool) -> None:
    gate = Gate()
    strict_llm.then(say("One ", wait_for(gate), "two"))
    body = {"messages": HELLO, "stream": streamed}
    request = asyncio.create_task(equipped.call("POST", "/v1/chat/completions", body))
    await gate.reached()
    request.cancel()
    await strict_llm.dropped(0)
    (hidden,) = equipped.app.store.conversations.hidden(1e12)
    (turn,) = equipped.app.store.conversations.turns(hidden)
    await equipped.app.runner.settled(turn.id, 10)
    assert (await equipped.get(f"/turns/{turn.id}"))["turn"]["outcome"] == "stopped"


async def test_a_reply_that_broke_off_is_not_said_twice(client: AsyncOpenAI, strict_llm: StrictLLM) -> None:
    strict_llm.then(say("Hello ", "world, how are you?").cut_after(420), say("Hello ", "world!"))

    stream = await client.chat.completions.create(model="strict-model", messages=HELLO, stream=True)
    said = [chunk.choices[0].delta.content async for chunk in stream if chunk.choices[0].delta.content]

    assert said[0] == "Hello " and "".join(said) == "Hello world!"
    assert len(strict_llm.requests) == 2


async def test_hidden_turns_are_not_listed_nor_run_on_after_a_restart(tmp_path: Path, strict_llm: StrictLLM) -> None:
    gate = Gate()
    strict_llm.then(say("One ", wait_for(gate), "two"))
    async with open_site(tmp_path / "home", strict_llm) as site:
        request = asyncio.create_task(site.call("POST", "/v1/chat/completions", {"messages": HELLO}))
        await gate.reached()
        assert (await site.get("/conversations"))["count"] == 0
        (hidden,) = site.app.store.conversations.hidden(1e12)
        (turn,) = site.app.store.conversations.turns(hidden)
        await site.app.runner.drain(0)
        request.cancel()
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.app.runner.settled(turn.id, 10)
        assert (await site.get(f"/turns/{turn.id}"))["turn"]["outcome"] == "stopped"
    assert len(strict_llm.requests) == 1


async def test_hidden_turns_are_gone_after_a_day(
    tmp_path: Path, strict_llm: StrictLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict_llm.then(say("A secret number: 7315."))
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.post("/v1/chat/completions", {"messages": HELLO})
        conversation = await site.conversation(title="Stays")
        await site.app.services.retention.purge()
        assert site.app.store.conversations.hidden(1e12), "a day is not over"
    monkeypatch.setattr("windlass.services.retention.HIDDEN_S", 0)
    async with open_site(tmp_path / "home", strict_llm) as site:
        hidden = site.app.store.conversations.hidden
        await until(lambda: not hidden(1e12), "the tidying at the start")
        assert [one["id"] for one in (await site.get("/conversations"))["conversations"]] == [conversation]
    assert not [file for file in (tmp_path / "home").rglob("*") if file.is_file() and b"7315" in file.read_bytes()]


async def test_the_zai_sdk_completes_two_rounds_streamed_and_not(tmp_path: Path, ledger: Ledger) -> None:
    command, *args = ledger.argv()
    servers = {"ledger": ServerSettings(command=command, args=args, tools="*", approval="auto")}
    script = loop("echo", {"text": "x"}, rounds=2, answer="Done.")
    async with StrictLLM(script) as llm, open_site(tmp_path / "home", llm, servers=servers) as site:
        await site.app.servers.wait_ready("ledger", 20)
        whole, streamed = await asyncio.to_thread(_with_zai, f"{site.url}/v1/")
    assert (whole, streamed) == ("Done.", "Done.")
    assert len(llm.requests) == 6


async def test_the_zai_sdk_is_handed_its_own_tools_and_gives_their_results(site: Site, strict_llm: StrictLLM) -> None:
    strict_llm.then(call("open_door", n=1), say("It is open."))
    assert await asyncio.to_thread(_door_with_zai, f"{site.url}/v1/") == "It is open."
    assert strict_llm.requests[1].results == ["open"]


def _door_with_zai(base_url: str) -> str:
    client = ZaiClient(api_key=TOKEN, base_url=base_url)
    messages: Any = HELLO
    tools: Any = [OWN_TOOL]
    asked: Any = client.chat.completions.create(model="strict-model", messages=messages, tools=tools)
    message = asked.choices[0].message
    [made] = message.tool_calls
    assert (made.function.name, json.loads(made.function.arguments)) == ("open_door", {"n": 1})
    messages = [*HELLO, message.model_dump(), {"role": "tool", "tool_call_id": made.id, "content": "open"}]
    done: Any = client.chat.completions.create(model="strict-model", messages=messages, tools=tools)
    client.close()  # type: ignore[no-untyped-call]
    return str(done.choices[0].message.content)


@pytest.mark.parametrize("streamed", [False, True])
async def test_sources_come_as_annotations(tmp_path: Path, streamed: bool) -> None:
    asked: Any = [{"role": "user", "content": "/search_docs query=approval"}]
    async with open_site(tmp_path / "home") as site:
        await site.app.servers.wait_ready("demo", 20)
        async with AsyncOpenAI(api_key=TOKEN, base_url=f"{site.url}/v1", max_retries=0) as client:
            if streamed:
                stream = await client.chat.completions.create(model="demo", messages=asked, stream=True)
                deltas = [chunk.choices[0].delta.model_dump() async for chunk in stream if chunk.choices]
                [found] = [delta["annotations"] for delta in deltas if delta.get("annotations")]
            else:
                done = await client.chat.completions.create(model="demo", messages=asked)
                found = [one.model_dump() for one in done.choices[0].message.annotations or []]
    assert [(one["type"], one["url_citation"]["title"]) for one in found] == [
        ("url_citation", "Approval of tool calls")
    ]
    assert found[0]["url_citation"]["url"].startswith("https://modelcontextprotocol.io/")


def _with_zai(base_url: str) -> tuple[str, str]:
    client = ZaiClient(api_key=TOKEN, base_url=base_url)
    messages: Any = HELLO
    whole: Any = client.chat.completions.create(model="strict-model", messages=messages)
    chunks: Iterator[Any] = client.chat.completions.create(model="strict-model", messages=messages, stream=True)  # type: ignore[assignment]
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    client.close()  # type: ignore[no-untyped-call]
    return whole.choices[0].message.content, streamed
