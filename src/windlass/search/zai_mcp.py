"""Z.AI's remote MCP server for web search, which its coding plan includes: at the origin of the chat endpoint, with the
same key. The MCP client is passed in; this file knows which tool to call, and how."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Protocol
from urllib.parse import urlsplit

from windlass.core.errors import ToolError, WindlassError
from windlass.core.messages import ToolOutput
from windlass.core.values import value_object
from windlass.search.backend import Hit, failed
from windlass.search.mcp import Arguments, MCPTool, Schema

PATH = "/api/mcp/web_search_prime/mcp"
_TOOLS = ("webSearchPrime", "web_search_prime")  # both names are in use
_HAN = re.compile(r"[\u3400-\u9fff]")


class RemoteTools(Protocol):
    """An open session with an MCP server: the schemas of its tools by name, and a way to call them."""

    @property
    def schemas(self) -> Mapping[str, Schema]: ...

    async def call(self, tool: str, arguments: Arguments) -> ToolOutput: ...


Use = Callable[[RemoteTools], Awaitable[list[Hit]]]
Connect = Callable[[str, Mapping[str, str], Use], Awaitable[list[Hit]]]  # with an address and headers


@value_object
class ZaiMCP:
    """`base_url` is the provider's chat base, "" where the provider is another."""

    connect: Connect = field(repr=False)
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    name: str = "zai-mcp"

    def ready(self) -> str | None:
        return None if self.api_key and self.base_url else "zai-mcp needs a Z.AI provider with a key"

    async def search(self, query: str, count: int) -> list[Hit]:
        async def use(remote: RemoteTools) -> list[Hit]:
            return await _tool_in(remote, query).search(query, count)

        parts = urlsplit(self.base_url)
        url, headers = f"{parts.scheme}://{parts.netloc}{PATH}", {"Authorization": f"Bearer {self.api_key}"}
        try:
            return await self.connect(url, headers, use)
        except ToolError:
            raise
        except WindlassError as error:
            raise failed("Z.AI's MCP search", f"cannot be used: {error.message}") from error


def _tool_in(remote: RemoteTools, query: str) -> MCPTool:
    known = [name for name in _TOOLS if name in remote.schemas] or list(remote.schemas)[:1]
    if not known:
        raise failed("Z.AI's MCP search", "lists no tools")
    tool, schema = known[0], remote.schemas[known[0]]

    async def call(arguments: Arguments) -> ToolOutput:
        return await remote.call(tool, {**arguments, **_region(schema, query)})

    return MCPTool(tool, call, lambda: None, lambda: schema)


def _region(schema: Schema, query: str) -> Arguments:
    """Unless it is told otherwise, it searches from China."""
    properties = schema.get("properties")
    takes = isinstance(properties, dict) and "location" in properties
    return {"location": "us"} if takes and not _HAN.search(query) else {}
