"""Which search backends a turn may use: the operator's choice, and what the turn's own provider offers."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from windlass.config import WebSearchSettings as SearchConfig
from windlass.config import resolve_secret
from windlass.core.errors import ToolError
from windlass.core.events import Settings
from windlass.core.messages import ToolOutput
from windlass.core.values import value_object
from windlass.providers import Models, ProviderConfig
from windlass.search.backend import Backend, Hit
from windlass.search.brave import Brave
from windlass.search.builtin import BUILTIN, Builtin, searches_itself
from windlass.search.ddgs import DDGS
from windlass.search.exa import Exa
from windlass.search.intent import backend_at
from windlass.search.mcp import Arguments, MCPTool, Schema
from windlass.search.page import Page
from windlass.search.search import SearchCaps, WebSearch, chosen
from windlass.search.searxng import SearXNG
from windlass.search.serper import Serper
from windlass.search.tavily import Tavily
from windlass.search.zai import ZAI, is_zai
from windlass.search.zai_mcp import Use, ZaiMCP
from windlass.servers import CallResult, Servers, Visit, visit
from windlass.servers.redaction import Redaction
from windlass.toolbox.results import not_kept, text_of, tool_output


@value_object
class SearchBackends:
    config: SearchConfig
    models: Models
    servers: Servers
    secret: Callable[[str], str] = resolve_secret

    def for_turn(self, settings: Settings) -> WebSearch:
        """Without the provider's own: where a call is made, that one was asked with the reply before."""
        search = self.for_provider(self.models.config(settings.provider))
        return replace(search, backends=tuple(one for one in search.backends if one.name != BUILTIN))

    def for_provider(self, provider: ProviderConfig) -> WebSearch:
        backends = chosen(backend_at(self.config.backend, provider.base_url), self.backends(provider))
        return WebSearch(backends, self._fetch, SearchCaps(seconds=self.config.timeout_s, pages=self.config.pages))

    async def _fetch(self, url: str) -> Page:
        late = await asyncio.to_thread(import_module, "windlass.search.guard")  # with it comes a whole HTTP client
        page: Page = await late.FetchGuard(allow=frozenset(self.config.allow_hosts)).fetch(url)
        return page

    def problem(self, provider: str = "") -> str:
        """Why a turn with this provider cannot search, as a sentence for a person; "" when it can."""
        if self.config.backend == "off":
            return "The web search is off in windlass.toml."
        asked = self.for_provider(self.models.config(provider)).backends
        if not asked:
            return "No web search is configured. Set web_search.backend, or install ddgs."
        why = [reason for backend in asked if (reason := backend.ready())]
        return f"{why[0][:1].upper()}{why[0][1:]}." if len(why) == len(asked) else ""

    def backends(self, provider: ProviderConfig) -> tuple[Backend, ...]:
        """Every backend, in the order in which `auto` asks them. A new one needs its file in `search/`, its settings
        under `[web_search]`, and its line here."""
        zai = (provider.api_key, provider.base_url) if is_zai(provider.base_url) else ("", "")
        return (
            Brave(self.secret(self.config.brave_key)),
            SearXNG(self.config.searxng_url),
            *((self._mcp(self.config.mcp_tool),) if self.config.mcp_tool else ()),
            Tavily(self.secret(self.config.tavily_key)),
            Exa(self.secret(self.config.exa_key)),
            Serper(self.secret(self.config.serper_key)),
            ZAI(*zai),
            ZaiMCP(self._connect, *zai),
            DDGS(allowed=self.config.keyless is not False),
            Builtin(offers=searches_itself(provider.base_url)),
        )

    async def _connect(self, url: str, headers: Mapping[str, str], use: Use) -> list[Hit]:
        return await visit(url, headers, lambda visited: use(_VisitedTools(visited, self.servers.redaction)))

    def _mcp(self, named: str) -> MCPTool:
        server, _, tool = named.partition(".")

        def missing() -> str | None:
            if all(server not in (config.slug, config.id) for config in self.servers.configs()):
                return f"there is no server {server!r} for web_search.mcp_tool"
            state = self.servers.status(server).state
            if state != "running":
                return f"the server {server!r} is {state}"
            if all(tool != one.name for one in self.servers.tools(server)):
                return f"the server {server!r} has no tool {tool!r} for web_search.mcp_tool"
            return None

        def schema() -> Mapping[str, Any]:
            found = next((one for one in self.servers.tools(server) if one.name == tool), None)
            return (found.input_schema if found else None) or {}

        return MCPTool(named, self._caller(server, tool), missing, schema, self.config.argument)

    def _caller(self, server: str, tool: str) -> Callable[[Arguments], Awaitable[ToolOutput]]:
        async def call(arguments: Arguments) -> ToolOutput:
            result = await self.servers.call(server, tool, json.dumps(arguments), safe=True)
            return await _search_output(result, self.servers.redaction)

        return call


class _VisitedTools:
    """A visited server as the backends of `search/` see it."""

    def __init__(self, visited: Visit, redaction: Redaction) -> None:
        self.schemas: dict[str, Schema] = {tool.name: tool.input_schema or {} for tool in visited.tools}
        self._visited = visited
        self._redaction = redaction

    async def call(self, tool: str, arguments: Arguments) -> ToolOutput:
        return await _search_output(await self._visited.call(tool, arguments), self._redaction)


async def _search_output(result: CallResult, redaction: Redaction) -> ToolOutput:
    """The whole text, however long: a shortened one could not be read as JSON any more."""
    output = await tool_output(result, not_kept, redaction, untrusted=True)
    if output.failed:
        raise ToolError(output.text, cause="search_failed")
    whole = output.text if result.spilled else await redaction.long_text(text_of(result))
    return replace(output, text=whole)
