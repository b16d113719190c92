"""Every backend is listed once, in the order in which `auto` asks them, under the name that the settings use."""

from typing import get_args, get_type_hints

from windlass.config import WebSearchSettings
from windlass.providers import Models, ProviderConfig
from windlass.servers import Servers
from windlass.toolbox.search_backends import SearchBackends


def test_the_settings_name_every_backend_and_no_other() -> None:
    names = set(get_args(get_type_hints(WebSearchSettings)["backend"]))
    assert names - {"auto", "off"} == set(listed(WebSearchSettings(mcp_tool="web.search")))


def test_the_keyless_backend_comes_after_those_the_operator_configured() -> None:
    assert listed(WebSearchSettings(mcp_tool="web.search")) == ["brave", "searxng", "mcp", "zai", "ddgs", "builtin"]


def test_a_tool_is_a_backend_only_when_one_is_named() -> None:
    assert "mcp" not in listed(WebSearchSettings())


def listed(settings: WebSearchSettings) -> list[str]:
    backends = SearchBackends(settings, Models(), Servers())
    return [backend.name for backend in backends.backends(ProviderConfig("p"))]
