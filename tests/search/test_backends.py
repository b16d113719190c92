"""Every backend passes one suite, against a server that answers in the shape its service documents."""

import html
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import aiohttp
import pytest
from aiohttp import web
from ddgs.engines.mojeek import Mojeek

from tests.kit.ports import refusing_port
from tests.search.kit import Answer, says, site
from windlass.core.errors import ToolError
from windlass.core.messages import SourceLink, ToolOutput
from windlass.search.backend import Backend, Hit
from windlass.search.brave import Brave
from windlass.search.builtin import PROVIDER_SEARCH, Builtin
from windlass.search.ddgs import DDGS
from windlass.search.exa import Exa
from windlass.search.mcp import Arguments, MCPTool
from windlass.search.searxng import SearXNG
from windlass.search.serper import Serper
from windlass.search.tavily import Tavily
from windlass.search.zai import ZAI

FOUND = [
    Hit("Nanaimo weather", "https://weather.test/nanaimo", "Rain, 7 degrees & wind", "2026-02-10"),
    Hit("Wetter für Nanaimo", "http://wetter.test/?q=a&b=c", "Regen", "2026-02-09"),
    Hit("天气", "https://tianqi.test/", "雨", "2026-02-08"),
]


@dataclass(frozen=True)
class Service:
    """A backend, how its service writes hits, and where it puts the query."""

    make: Callable[[str], Backend]
    write: Callable[[Sequence[Hit]], str]
    query: Callable[[web.Request, bytes], str]
    dates: bool = True
    kind: str = "application/json"
    reports_failures: bool = True


def in_url(request: web.Request, body: bytes) -> str:
    return request.query["q"]


def brave_body(hits: Sequence[Hit]) -> str:
    results = [
        {
            "title": hit.title,
            "url": hit.url,
            "is_source_local": False,
            "description": html.escape(hit.text).replace("Rain", "<strong>Rain</strong>"),
            "page_age": hit.published,
            "language": "en",
            "family_friendly": True,
            "type": "search_result",
            "meta_url": {"scheme": "https", "netloc": "weather.test"},
        }
        for hit in hits
    ]
    return json.dumps({"type": "search", "query": {"original": "q"}, "web": {"type": "search", "results": results}})


def searxng_body(hits: Sequence[Hit]) -> str:
    results = [
        {
            "url": hit.url,
            "title": hit.title,
            "content": html.escape(hit.text),
            "publishedDate": hit.published,
            "engine": "duckduckgo",
            "parsed_url": ["https", "weather.test", "/", "", "", ""],
            "score": 1.5,
            "category": "general",
        }
        for hit in hits
    ]
    return json.dumps({"query": "q", "number_of_results": 0, "results": results, "answers": [], "suggestions": []})


def zai_body(hits: Sequence[Hit]) -> str:
    results = [
        {
            "title": hit.title,
            "link": hit.url,
            "content": html.escape(hit.text),
            "media": "weather.test",
            "icon": "",
            "refer": f"ref_{n}",
            "publish_date": hit.published,
        }
        for n, hit in enumerate(hits, 1)
    ]
    return json.dumps({"id": "1", "created": 1, "search_intent": [], "search_result": results})


def tavily_body(hits: Sequence[Hit]) -> str:
    results = [
        {
            "title": hit.title,
            "url": hit.url,
            "content": html.escape(hit.text),
            "score": 0.9,
            "raw_content": None,
            "published_date": hit.published,
        }
        for hit in hits
    ]
    return json.dumps({"query": "q", "answer": None, "images": [], "results": results, "response_time": 1.1})


def exa_body(hits: Sequence[Hit]) -> str:
    results = [
        {
            "id": hit.url,
            "title": hit.title,
            "url": hit.url,
            "publishedDate": hit.published,
            "author": None,
            "score": 0.3,
            "text": "The whole page",
            "highlights": [html.escape(hit.text)],
            "highlightScores": [0.5],
        }
        for hit in hits
    ]
    return json.dumps({"requestId": "r1", "resolvedSearchType": "neural", "results": results})


def serper_body(hits: Sequence[Hit]) -> str:
    organic = [
        {"title": hit.title, "link": hit.url, "snippet": hit.text, "date": hit.published, "position": n}
        for n, hit in enumerate(hits, 1)
    ]
    return json.dumps({"searchParameters": {"q": "q", "type": "search"}, "organic": organic, "credits": 1})


def mojeek_body(hits: Sequence[Hit]) -> str:
    items = "".join(
        f"<li><h2><a href='{html.escape(hit.url)}'>{html.escape(hit.title)}</a></h2>"
        f"<p class='s'>{html.escape(hit.text)}</p></li>"
        for hit in hits
    )
    return f"<html><body><ul class='results-standard'>{items}</ul></body></html>"


def mcp_json_body(hits: Sequence[Hit]) -> str:
    entries = [
        {"title": hit.title, "url": hit.url, "snippet": html.escape(hit.text), "date": hit.published} for hit in hits
    ]
    return json.dumps({"results": entries})


def mcp_tool(base_url: str) -> MCPTool:
    """The tool's server is the stub: what matters here is what the backend makes of its answer."""

    async def call(arguments: Arguments) -> ToolOutput:
        async with aiohttp.ClientSession() as session:
            try:
                async with session.get(base_url, params={"q": str(arguments["query"])}) as response:
                    return ToolOutput(await response.text(), failed=response.status != 200)
            except aiohttp.ClientError as error:
                raise ToolError(str(error), cause="server_gone") from error

    return MCPTool("brave.search", call, lambda: None, lambda: {"properties": {"query": {"type": "string"}}})


def in_body(name: str) -> Callable[[web.Request, bytes], str]:
    return lambda request, body: str(json.loads(body)[name])


SERVICES = {
    "brave": Service(lambda url: Brave("key", url), brave_body, in_url),
    "searxng": Service(SearXNG, searxng_body, in_url),
    "tavily": Service(lambda url: Tavily("key", url), tavily_body, in_body("query")),
    "exa": Service(lambda url: Exa("key", url), exa_body, in_body("query")),
    "serper": Service(lambda url: Serper("key", url), serper_body, in_body("q")),
    "zai": Service(lambda url: ZAI("key", url), zai_body, in_body("search_query")),
    "mcp": Service(mcp_tool, mcp_json_body, in_url),
    "ddgs": Service(lambda url: DDGS("mojeek", 5), mojeek_body, in_url, False, "text/html", False),
}


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> Service:
    return SERVICES[request.param]


@pytest.fixture
def point_engine_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """`ddgs` has its engines' addresses in their classes; all else of it is the real package."""
    return lambda url: monkeypatch.setattr(Mojeek, "search_url", url)


async def asked(
    service: Service, answer: Answer, point: Callable[[str], None], query: str = "weather", count: int = 5
) -> tuple[list[Hit], str]:
    async with site(answer) as stub:
        point(stub.url(path="/search"))
        hits = await service.make(stub.url(path="/")).search(query, count)
        return hits, service.query(stub.requests[0], stub.bodies[0])


async def test_hits_are_read_as_plain_values(service: Service, point_engine_at: Callable[[str], None]) -> None:
    hits, _ = await asked(service, says(service.write(FOUND), kind=service.kind), point_engine_at)
    expected = FOUND if service.dates else [Hit(hit.title, hit.url, hit.text) for hit in FOUND]
    assert sorted(hits, key=str) == sorted(expected, key=str)


async def test_no_more_hits_than_asked_for(service: Service, point_engine_at: Callable[[str], None]) -> None:
    many = [Hit(f"Title {n}", f"https://a.test/{n}", "text") for n in range(30)]
    hits, _ = await asked(service, says(service.write(many), kind=service.kind), point_engine_at, count=4)
    assert len(hits) == 4


async def test_only_web_addresses_each_once(service: Service, point_engine_at: Callable[[str], None]) -> None:
    odd = [*FOUND, *FOUND, Hit("x", "javascript:alert(1)", "x"), Hit("x", "", "x"), Hit("x", "file:///etc", "x")]
    hits, _ = await asked(service, says(service.write(odd), kind=service.kind), point_engine_at, count=10)
    assert sorted(hit.url for hit in hits) == sorted(hit.url for hit in FOUND)


@pytest.mark.parametrize("query", ["weather in Nanaimo?", "a&b=c #1 100%", "天气 in Köln", '"exact words" -not'])
async def test_the_query_arrives_as_it_is(service: Service, point_engine_at: Callable[[str], None], query: str) -> None:
    _, arrived = await asked(service, says(service.write(FOUND), kind=service.kind), point_engine_at, query)
    assert arrived == query


async def test_finding_nothing_is_no_failure(service: Service, point_engine_at: Callable[[str], None]) -> None:
    answer = says(service.write([]), kind=service.kind)
    if service.reports_failures:
        assert (await asked(service, answer, point_engine_at))[0] == []
    else:
        with pytest.raises(ToolError, match="may be refusing us"):
            await asked(service, answer, point_engine_at)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 429, 500, 503])
async def test_a_refusal_says_who_refused(
    service: Service, point_engine_at: Callable[[str], None], status: int
) -> None:
    body = json.dumps({"error": {"code": "1113", "message": "no money"}})
    with pytest.raises(ToolError) as refused:
        await asked(service, says(body, status=status, kind="application/json"), point_engine_at)
    assert refused.value.code == "search_failed"
    assert any(
        name in refused.value.message
        for name in ("Brave", "SearXNG", "Tavily", "Exa", "Serper", "Z.AI", "The tool brave.search", "Keyless")
    )


@pytest.mark.parametrize(
    "body", ["", "<html>hello", "[]", "null", '{"web": 1, "results": 1, "search_result": 1}', "[" * 5000]
)
async def test_an_answer_of_another_shape_gives_no_hits(
    service: Service, point_engine_at: Callable[[str], None], body: str
) -> None:
    try:
        hits, _ = await asked(service, says(body, kind=service.kind), point_engine_at)
    except ToolError as error:
        assert error.code == "search_failed"
    else:
        assert hits == []


async def test_an_unreachable_service_is_a_failure(service: Service, point_engine_at: Callable[[str], None]) -> None:
    with refusing_port() as port, pytest.raises(ToolError) as failed:
        url = f"http://127.0.0.1:{port}/"
        point_engine_at(url)
        await service.make(url).search("weather", 5)
    assert failed.value.code == "search_failed"


def test_a_configured_backend_is_ready(service: Service) -> None:
    assert service.make("http://127.0.0.1/").ready() is None


@pytest.mark.parametrize(
    ("backend", "why"),
    [
        (Brave(), "web_search.brave_key"),
        (SearXNG(), "web_search.searxng_url"),
        (Tavily(), "web_search.tavily_key"),
        (Exa(), "web_search.exa_key"),
        (Serper(), "web_search.serper_key"),
        (DDGS(allowed=False), "web_search.keyless"),
        (ZAI(base_url="https://api.z.ai"), "Z.AI provider"),
        (ZAI(api_key="key"), "Z.AI provider"),
        (Builtin(), "no search tool of its own"),
        (MCPTool("a.b", mcp_tool("").call, lambda: "the server a is not running", lambda: {}), "not running"),
    ],
)
def test_a_backend_that_is_not_ready_says_what_it_needs(backend: Backend, why: str) -> None:
    assert why in (backend.ready() or "")


def test_keys_do_not_show_in_logs() -> None:
    backends = [Brave("secret"), Tavily("secret"), Exa("secret"), Serper("secret"), ZAI("secret")]
    assert "secret" not in "".join(map(repr, backends))


async def test_what_is_searched_for_is_not_logged(
    service: Service, point_engine_at: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await asked(service, says(service.write(FOUND), kind=service.kind), point_engine_at, "a-private-matter")
    with pytest.raises(ToolError):
        await asked(service, says(status=500), point_engine_at, "a-private-matter")
    point_engine_at("http://127.0.0.1:9/")
    with pytest.raises(ToolError):
        await service.make("http://127.0.0.1:9/").search("a-private-matter", 5)
    assert "a-private-matter" not in caplog.text


@pytest.mark.parametrize(
    ("make", "body", "path", "header", "sent"),
    [
        (Tavily, tavily_body, "/search", ("Authorization", "Bearer key"), {"query": "wind", "max_results": 4}),
        (
            Exa,
            exa_body,
            "/search",
            ("x-api-key", "key"),
            {"query": "wind", "numResults": 4, "contents": {"highlights": True, "text": {"maxCharacters": 1000}}},
        ),
        (Serper, serper_body, "/search", ("X-API-KEY", "key"), {"q": "wind", "num": 4}),
    ],
)
async def test_a_preset_is_asked_as_its_service_documents(
    make: Callable[[str, str], Backend],
    body: Callable[[Sequence[Hit]], str],
    path: str,
    header: tuple[str, str],
    sent: dict[str, object],
) -> None:
    async with site(says(body(FOUND), kind="application/json")) as stub:
        await make("key", stub.url()).search("wind", 4)
        request = stub.requests[0]
        assert (request.method, request.path, request.headers[header[0]]) == ("POST", path, header[1])
        assert json.loads(stub.bodies[0]) == sent


async def test_the_box_that_google_shows_first_is_a_hit_where_it_has_a_link() -> None:
    box = {"title": "Weather", "answer": "7°C", "link": "https://box.test/"}
    found = json.dumps({"answerBox": box, **json.loads(serper_body(FOUND))})
    async with site(says(found, kind="application/json")) as stub:
        assert (await Serper("key", stub.url()).search("wind", 2))[0] == Hit("Weather", "https://box.test/", "7°C")


async def test_brave_is_asked_with_its_key_and_within_its_limits() -> None:
    async with site(says(brave_body(FOUND), kind="application/json")) as stub:
        await Brave("key", stub.url()).search("word " * 100, 99)
        request = stub.requests[0]
        assert (request.path, request.headers["X-Subscription-Token"]) == ("/res/v1/web/search", "key")
        assert (len(request.query["q"].split()), request.query["count"]) == (50, "20")


async def test_brave_joins_its_extra_snippets() -> None:
    result = {
        "title": "t",
        "url": "https://a.test/",
        "description": "one",
        "extra_snippets": ["two", "three"],
        "age": "3 days ago",
    }
    async with site(says(json.dumps({"web": {"results": [result]}}), kind="application/json")) as stub:
        [hit] = await Brave("key", stub.url()).search("q", 5)
        assert (hit.text, hit.published) == ("one two three", "3 days ago")


async def test_searxng_without_json_says_what_to_change() -> None:
    async with site(says("Forbidden", status=403)) as stub:
        with pytest.raises(ToolError, match=r"settings\.yml"):
            await SearXNG(stub.url()).search("q", 5)


async def test_zai_is_asked_as_documented_and_may_answer_with_one_object() -> None:
    one = {"search_result": {"title": "t", "link": "https://a.test/", "content": "c", "publish_date": None}}
    async with site(says(json.dumps(one), kind="application/json")) as stub:
        hits = await ZAI("key", stub.url(path="/api/paas/v4")).search("weather", 7)
        assert hits == [Hit("t", "https://a.test/", "c")]
        assert stub.requests[0].path == "/api/paas/v4/web_search"
        assert stub.requests[0].headers["Authorization"] == "Bearer key"
        sent = json.loads(stub.bodies[0])
        assert (sent["search_query"], sent["count"], sent["search_engine"]) == ("weather", 7, "search-prime")


@pytest.mark.parametrize("status", [200, 429])
async def test_an_error_of_zai_keeps_its_code_and_message(status: int) -> None:
    body = json.dumps({"error": {"code": "1113", "message": "Insufficient balance"}})
    async with site(says(body, status=status, kind="application/json")) as stub:
        with pytest.raises(ToolError, match="1113: Insufficient balance"):
            await ZAI("key", stub.url()).search("q", 5)


@pytest.mark.parametrize(
    ("output", "hits"),
    [
        (ToolOutput('[{"link": "https://a.test/", "title": "A", "content": "c"}]'), [Hit("A", "https://a.test/", "c")]),
        (
            ToolOutput(json.dumps(json.dumps([{"link": "https://a.test/", "name": "A"}]))),
            [Hit("A", "https://a.test/")],
        ),
        (
            ToolOutput("Title: A page\nURL: https://a.test/x.\nSome words\n\n2. Other\nhttps://b.test/"),
            [
                Hit("A page", "https://a.test/x", "Title: A page URL: https://a.test/x. Some words"),
                Hit("Other", "https://b.test/", "2. Other https://b.test/"),
            ],
        ),
        (ToolOutput("words", sources=(SourceLink("A", "https://a.test/"),)), [Hit("A", "https://a.test/")]),
        (ToolOutput("nothing that could be cited"), []),
    ],
)
async def test_an_mcp_tool_may_answer_in_many_ways(output: ToolOutput, hits: list[Hit]) -> None:
    async def call(arguments: Arguments) -> ToolOutput:
        assert arguments == {"q": "weather"}
        return output

    assert await MCPTool("a.b", call, lambda: None, lambda: {}, argument="q").search("weather", 5) == hits


TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "argument"),
    [
        ({"properties": {"search_query": TEXT, "location": TEXT}, "required": ["search_query"]}, "search_query"),
        ({"properties": {"topic": TEXT, "count": NUMBER, "text": TEXT}, "required": ["topic", "count"]}, "topic"),
        ({"properties": {"lang": TEXT, "q": TEXT}, "required": ["lang", "q"]}, "q"),
        ({"properties": {"site": TEXT, "searchQuery": {"type": ["string", "null"]}}}, "searchQuery"),
        ({"properties": {"text": TEXT, "query": {"anyOf": [TEXT, {"type": "null"}]}}}, "query"),
        ({"properties": {"words": {"anyOf": [TEXT, {"type": "array"}]}}, "required": ["words"]}, "words"),
        ({"properties": {"query": {"description": "What to look for."}}}, "query"),
    ],
)
async def test_the_argument_for_the_question_is_found_in_the_tools_schema(
    schema: dict[str, object], argument: str
) -> None:
    sent: list[Arguments] = []

    async def call(arguments: Arguments) -> ToolOutput:
        sent.append(arguments)
        return ToolOutput("[]")

    await MCPTool("a.b", call, lambda: None, lambda: schema).search("weather", 5)
    assert sent == [{argument: "weather"}]


@pytest.mark.parametrize(
    ("schema", "setting", "message"),
    [
        ({"properties": {"from": TEXT, "to": TEXT}, "required": ["from", "to"]}, "", "It takes from, to."),
        ({"properties": {"query": {"type": "object"}}, "required": ["query"]}, "", "It takes query."),
        ({"properties": {"query": NUMBER}}, "", "It takes query."),
        ({"properties": "odd", "required": 5}, "", "It takes no arguments."),
        ({}, "", "It takes no arguments."),
        ({"properties": {"query": TEXT}}, "serch", "has no argument 'serch'. It takes query."),
    ],
)
async def test_an_argument_that_cannot_be_found_is_asked_for_by_the_settings_name(
    schema: dict[str, object], setting: str, message: str
) -> None:
    async def call(arguments: Arguments) -> ToolOutput:
        raise AssertionError("nothing is sent under a guessed name")

    with pytest.raises(ToolError) as refused:
        await MCPTool("a.b", call, lambda: None, lambda: schema, setting).search("weather", 5)
    assert message in refused.value.message and 'argument = "..." under [web_search]' in refused.value.message


async def test_the_providers_own_search_is_not_run_here() -> None:
    assert Builtin(offers=True).ready() is None
    with pytest.raises(ToolError):
        await Builtin(offers=True).search("q", 5)


def test_the_providers_own_tool_is_written_as_it_documents() -> None:
    entry = json.loads(PROVIDER_SEARCH.entry)
    assert entry["type"] == "web_search" and entry["web_search"]["enable"] == "True"
    assert PROVIDER_SEARCH.server == "windlass"  # a call of it is run here
