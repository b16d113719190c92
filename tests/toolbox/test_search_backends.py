"""Every backend is listed once, in the order in which `auto` asks them, under the name that the settings use."""

from typing import Any, get_args, get_type_hints

import pytest

from tests.kit.zai_search import KEY, RemoteSearch, zai_origin
from windlass.config import WebSearchSettings
from windlass.core.errors import ToolError
from windlass.providers import Models, ProviderConfig
from windlass.search.backend import Backend
from windlass.servers import Servers
from windlass.testing import StrictLLM
from windlass.toolbox.search_backends import SearchBackends

ZAI = "https://proxy.test/z/api/coding/paas/v4"
ELSEWHERE = "https://api.openai.com/v1"


def test_the_settings_name_every_backend_and_no_other() -> None:
    names = set(get_args(get_type_hints(WebSearchSettings)["backend"]))
    assert names - {"auto", "off"} == set(listed(WebSearchSettings(mcp_tool="web.search")))


def test_auto_asks_what_the_operator_configured_then_zai_then_the_keyless_engines() -> None:
    keys = {"brave_key": "b", "tavily_key": "t", "exa_key": "e", "serper_key": "s"}
    everything = WebSearchSettings(searxng_url="http://a.test", **keys)  # type: ignore[arg-type]
    keyed = ["brave", "searxng", "tavily", "exa", "serper"]
    assert asked(everything, ZAI) == [*keyed, "zai", "zai-mcp", "ddgs"]
    assert asked(everything, ELSEWHERE) == [*keyed, "ddgs"]
    assert asked(WebSearchSettings(), ZAI) == ["zai", "zai-mcp", "ddgs"]
    assert listed(WebSearchSettings(mcp_tool="web.search"))[2] == "mcp"


def test_queries_go_to_keyless_engines_only_where_the_operator_lets_them() -> None:
    assert asked(WebSearchSettings(keyless=True), ELSEWHERE) == ["ddgs"]
    assert asked(WebSearchSettings(keyless=False), ELSEWHERE) == []
    assert asked(WebSearchSettings(keyless=False), ZAI) == ["zai", "zai-mcp"]


@pytest.mark.parametrize(
    ("settings", "says"),
    [({}, True), ({"keyless": True}, False), ({"keyless": False}, False), ({"backend": "brave"}, False)],
)
def test_the_choice_is_mentioned_until_it_is_made(settings: dict[str, Any], says: bool) -> None:
    assert WebSearchSettings(**settings).says_keyless == says


@pytest.mark.parametrize("tool", ["webSearchPrime", "web_search_prime"])
async def test_zais_remote_search_is_asked_with_the_providers_key(tool: str) -> None:
    remote = RemoteSearch([{"title": "Nanaimo", "link": "https://a.test/", "content": "7 degrees. " * 3000}], tool)
    async with zai_origin(remote) as llm:
        [hit] = await zai_mcp(llm.base_url, KEY).search("weather in Nanaimo", 5)
        assert (hit.title, hit.url) == ("Nanaimo", "https://a.test/")
        assert len(hit.text) > 30_000  # a long answer is read whole
        await zai_mcp(llm.base_url, KEY).search("纳奈莫天气", 5)
    assert [(one["search_query"], one["location"]) for one in remote.asked] == [
        ("weather in Nanaimo", "us"),
        ("纳奈莫天气", "cn"),
    ]


async def test_a_key_that_the_remote_search_refuses_is_a_failure_without_the_key() -> None:
    async with zai_origin(RemoteSearch()) as llm:
        with pytest.raises(ToolError, match=r"Z\.AI's MCP search cannot be used: .* 401") as refused:
            await zai_mcp(llm.base_url, "not-the-key").search("weather", 5)
    assert refused.value.code == "search_failed" and "not-the-key" not in str(refused.value)


async def test_an_origin_without_remote_search_is_a_failure() -> None:
    async with StrictLLM([], dialect="zai") as llm:
        with pytest.raises(ToolError, match=r"Z\.AI's MCP search cannot be used"):
            await zai_mcp(llm.base_url, KEY).search("weather", 5)


def test_a_tool_is_a_backend_only_when_one_is_named() -> None:
    assert "mcp" not in listed(WebSearchSettings())


def zai_mcp(base_url: str, key: str) -> Backend:
    made = SearchBackends(WebSearchSettings(), Models(), Servers()).backends(
        ProviderConfig("p", base_url=base_url, api_key=key)
    )
    return next(backend for backend in made if backend.name == "zai-mcp")


def asked(settings: WebSearchSettings, base_url: str) -> list[str]:
    search = SearchBackends(settings, Models(), Servers()).for_provider(
        ProviderConfig("p", base_url=base_url, api_key="k")
    )
    return [backend.name for backend in search.backends]


def listed(settings: WebSearchSettings) -> list[str]:
    backends = SearchBackends(settings, Models(), Servers())
    return [backend.name for backend in backends.backends(ProviderConfig("p"))]
