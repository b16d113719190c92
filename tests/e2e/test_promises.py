"""The ways in which a model promises a search and makes none. None of them is the end of the turn: the search is made,
and the answer has its sources. The provider is Z.AI's wire, with its own search (builtin) or without."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.search.kit import Site as Engine
from tests.search.kit import says, site
from tests.web.kit import Site, open_site
from windlass.config import WebSearchSettings
from windlass.testing import Reply, StrictLLM, call, raw_call, say, think
from windlass.testing.replies import Scripted

QUESTION = "what's the weather in Nanaimo?"
FOUND = json.dumps(
    {"results": [{"url": "http://10.0.0.7/nanaimo", "title": "Nanaimo weather", "content": "Rain, 7 °C"}]}
)
ANSWER = "It rains in Nanaimo, 7 °C [1]."
MARKUP = "<tool_call>web_search\n<arg_key>query</arg_key>\n<arg_value>weather Nanaimo</arg_value>\n</tool_call>"
NOTHING = Reply(()).ending("tool_calls")


@pytest.mark.parametrize(
    ("replies", "queries"),
    [
        ([say("I'll search for that...")], [QUESTION]),
        ([think("The person wants the web, so I will call web_search.")], [QUESTION]),
        ([say(MARKUP)], ["weather Nanaimo"]),
        ([say('{"name": "web_search", "arguments": {"query": "weather Nanaimo"}}')], [QUESTION]),
        ([call("web_search", query="weather Nanaimo")], ["weather Nanaimo"]),
        ([NOTHING], [QUESTION]),
        ([raw_call("web_search", '{"query": "weather Nan')], [QUESTION]),
        ([call("web_search", q="weather Nanaimo")], [QUESTION]),
        ([call("web_search", query="weather", count=500), say("Sunny, I believe.")], [QUESTION]),
        ([say("It is sunny in Nanaimo, I believe.")], [QUESTION]),
        (
            [call("web_search", query="a"), say("Let me search for more..."), call("web_search", query="b")],
            ["a", "b"],
        ),
        ([call("web_search", query="a"), say("I'll look that up."), say("Let me search again.")], ["a"]),
    ],
    ids=[
        *("words only", "reasoning only", "markup", "JSON as text", "a function call", "a finish without a call"),
        *("broken arguments", "another argument", "arguments out of bounds", "an answer from memory"),
        *("a promise after the search, then kept", "two promises after the search"),
    ],
)
@pytest.mark.parametrize("backend", ["auto", "builtin"])
async def test_a_promise_is_not_the_end(
    tmp_path: Path, backend: Any, replies: list[Scripted], queries: list[str]
) -> None:
    """With `builtin` the provider's own search finds nothing, each time."""
    async with StrictLLM([*replies, say(ANSWER)], dialect="zai") as llm, site(says(FOUND, kind=JSON)) as engine:
        async with searching(tmp_path, llm, engine, backend) as windlass:
            answer = await ask(windlass)
    assert (answer["searched"], answer["assistant_message"]["content"]) == (True, ANSWER)
    assert [source["url"] for source in answer["sources"]] == ["http://10.0.0.7/nanaimo"]
    assert [request.query["q"] for request in engine.requests] == queries
    assert {tool["type"] for tool in llm.requests[0].tools} == {"web_search" if backend == "builtin" else "function"}
    assert answer["outcome"] == "answered"
    assert not llm.unused and not llm.refused


async def test_a_model_that_only_promises_ends_in_words_that_say_so(tmp_path: Path) -> None:
    promises = [say(f"Let me search for more, {word}...") for word in ("soon", "now", "again")]
    script = [call("web_search", query="a"), *promises]
    async with StrictLLM(script, dialect="zai") as llm, site(says(FOUND, kind=JSON)) as engine:
        async with searching(tmp_path, llm, engine) as windlass:
            answer = await ask(windlass)
            log = (await windlass.get(f"/turns/{answer['turn_id']}/log"))["events"]
    assert (answer["outcome"], answer["error"]["code"]) == ("limit", "promises")
    assert answer["message"] == "The model announced a search again and again without making it."
    replies = [event for event in log if event["event"] == "model_replied"]
    assert [reply.get("promised", False) for reply in replies] == [False, True, True, True]
    assert [request.tool_choice for request in llm.requests] == ["auto", "auto", "auto", "none"]
    assert "You announced a search but made no call." in str(llm.requests[2].messages[-1]["content"])


async def test_a_provider_that_refuses_its_own_search_is_asked_again_without_it(tmp_path: Path) -> None:
    script = [call("web_search", query="weather Nanaimo"), say(ANSWER), say("Hello.")]
    async with StrictLLM(script, dialect="zai", search=None) as llm, site(says(FOUND, kind=JSON)) as engine:
        async with searching(tmp_path, llm, engine, "builtin") as windlass:
            answer = await ask(windlass)
    assert (answer["outcome"], answer["searched"]) == ("answered", True)
    assert [tool["type"] for request in llm.requests for tool in request.tools] == [
        "web_search",
        "function",
        "function",
    ]
    assert llm.refused == ["tools: this plan has no built-in web_search"]


async def test_the_references_of_the_providers_search_become_numbers(tmp_path: Path) -> None:
    links = ["http://10.0.0.7/a", "http://10.0.0.7/b", "http://10.0.0.7/a", "http://10.0.0.7/c"]
    found = [{"title": f"T{n}", "link": link, "refer": f"ref_{n}"} for n, link in enumerate(links, 1)]
    text = "Rain [ref_1], wind【ref_2】, 7 °C [ref_3, ref_4] and [ref_9]."
    async with StrictLLM([say(text).in_pieces(3)], dialect="zai", search=found) as llm, site(says(FOUND)) as engine:
        async with searching(tmp_path, llm, engine, "builtin") as windlass:
            answer = await ask(windlass)
    assert answer["assistant_message"]["content"] == "Rain [1], wind[2], 7 °C [1, 3] and [ref_9]."
    assert [source["url"] for source in answer["sources"]] == ["http://10.0.0.7/a", "http://10.0.0.7/b", links[3]]


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("searxng", "The web search failed. SearXNG answered HTTP 500: broken."),
        ("off", "Web search is off, so no search was made."),
    ],
)
async def test_a_search_that_failed_or_is_off_shows_in_the_message(tmp_path: Path, backend: Any, message: str) -> None:
    script = [say("I'll search."), say("I could not search.")] if backend != "off" else [say("I could not search.")]
    async with StrictLLM(script, dialect="zai") as llm, site(says("broken", status=500)) as engine:
        async with searching(tmp_path, llm, engine, backend) as windlass:
            answer = await ask(windlass)
            turn = (await windlass.get(f"/turns/{answer['turn_id']}"))["turn"]
    assert (answer["searched"], answer["message"], turn["message"]) == (False, message, message)


async def test_a_turn_that_wanted_no_search_may_announce_one(tmp_path: Path) -> None:
    async with StrictLLM([say("Let me search for that.")], dialect="zai") as llm, site(says(FOUND)) as engine:
        async with searching(tmp_path, llm, engine) as windlass:
            answer = await ask(windlass, QUESTION)
    assert (answer["outcome"], answer["message"]) == ("answered", "Chat completed successfully")


JSON = "application/json"


def searching(home: Path, llm: StrictLLM, engine: Engine, backend: Any = "auto") -> Any:
    settings = WebSearchSettings(backend=backend, searxng_url=engine.url())
    return open_site(home / "home", llm, durability="normal", web_search=settings)


async def ask(windlass: Site, text: str = f"// {QUESTION}") -> dict[str, Any]:
    conversation = await windlass.conversation()
    return dict(await windlass.post(f"/conversations/{conversation}/chat", {"content": text}))


async def test_a_search_tool_of_an_api_client_is_its_own_affair(tmp_path: Path) -> None:
    parameters = {"type": "object", "properties": {"q": {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "web_search", "parameters": parameters}}
    asked = {
        "model": "windlass/researcher",
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": [tool],
    }
    script = [call("web_search", q="weather"), say("I'll search for that.")]
    async with StrictLLM(script, dialect="zai") as llm, site(says(FOUND, kind=JSON)) as engine:
        async with searching(tmp_path, llm, engine) as windlass:
            handed = (await windlass.post("/v1/chat/completions", asked))["choices"][0]["message"]
            told = (await windlass.post("/v1/chat/completions", asked))["choices"][0]["message"]
    assert handed["tool_calls"][0]["function"]["arguments"] == '{"q": "weather"}'
    assert told["content"] == "I'll search for that." and not engine.requests
