"""Search through a tool of an MCP server, named by the operator. The call itself is passed in: this file knows neither
servers nor their protocol, only what a search tool's result looks like."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import msgspec

from windlass.core.errors import ToolError
from windlass.core.messages import ToolOutput
from windlass.core.values import value_object
from windlass.search.backend import Hit, failed, tidy_hits

Arguments = dict[str, object]
Schema = Mapping[str, Any]
_USUAL = ("query", "searchquery", "q", "text")  # in any spelling, the likeliest first
_LINK = re.compile(r"https?://[^\s<>\"'()\[\]]{3,2000}")
_LISTS = ("results", "search_result", "web_results", "organic", "items", "hits", "data")
_DEPTH = 4


@value_object
class MCPTool:
    """`call` runs the tool; `missing` says why it cannot be run now, None when it can; `schema` is that of its
    arguments, of which the operator may name the one for the question: `argument`."""

    tool: str
    call: Callable[[Arguments], Awaitable[ToolOutput]]
    missing: Callable[[], str | None]
    schema: Callable[[], Schema]
    argument: str = ""
    name: str = "mcp"

    def ready(self) -> str | None:
        return self.missing()

    async def search(self, query: str, count: int) -> list[Hit]:
        argument = self._argument()
        try:
            output = await self.call({argument: query})
        except ToolError as error:
            raise failed(f"The tool {self.tool}", f"failed: {error.message}") from error
        if output.failed:
            raise failed(f"The tool {self.tool}", f"failed: {output.text[:200]}")
        return tidy_hits(_structured(output.text) or [*_mentioned(output.text), *_linked(output)], count)

    def _argument(self) -> str:
        properties = _properties(self.schema())
        if self.argument and (self.argument in properties or not properties):
            return self.argument
        if found := "" if self.argument else _question_in(self.schema()):
            return found
        problem = f"has no argument {self.argument!r}" if self.argument else "has no argument that is clearly the query"
        takes = ", ".join(properties) or "no arguments"
        setting = 'Name it with argument = "..." under [web_search] in windlass.toml'
        raise failed(f"The tool {self.tool}", f"{problem}. It takes {takes}. {setting}")


def _question_in(schema: Schema) -> str:
    """A usual name that is required, the only required text, or any usual name, in this order; "" for none."""
    texts = [name for name, one in _properties(schema).items() if _may_be_text(one)]
    listed = schema.get("required")
    required = [name for name in texts if isinstance(listed, list) and name in listed]
    only = required[0] if len(required) == 1 else ""
    return _usual(required) or only or _usual(texts)


def _properties(schema: Schema) -> dict[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _may_be_text(schema: object) -> bool:
    """One without a type takes anything."""
    if not isinstance(schema, dict):
        return schema is True
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list):
        return any(_may_be_text(one) for one in choices)
    kind = schema.get("type", None if "$ref" in schema else "string")
    return kind == "string" or (isinstance(kind, list) and "string" in kind)


def _usual(names: list[str]) -> str:
    plain = {name.lower().replace("_", "").replace("-", ""): name for name in reversed(names)}
    return next((plain[usual] for usual in _USUAL if usual in plain), "")


def _structured(text: str) -> list[Hit]:
    try:
        return list(_objects(msgspec.json.decode(text), _DEPTH))
    except (msgspec.DecodeError, RecursionError):
        return []


def _objects(value: object, depth: int) -> Iterator[Hit]:
    """Objects with an address in a list, at the top or under one of the usual names."""
    if isinstance(value, str) and depth == _DEPTH:  # some servers send JSON packed in a JSON string
        yield from _structured(value)
    elif isinstance(value, list) and depth:
        for entry in value:
            yield from _objects(entry, depth - 1)
    elif isinstance(value, dict) and depth:
        url = _first(value, "url", "link", "href")
        if url:
            text = _first(value, "content", "snippet", "description", "text", "body")
            date = _first(value, "published", "publish_date", "publishedDate", "page_age", "date")
            yield Hit(_first(value, "title", "name"), url, text, date)
        for name in _LISTS:
            yield from _objects(value.get(name), depth - 1)


def _first(entry: dict[str, object], *names: str) -> str:
    return next((text for name in names if isinstance(text := entry.get(name), str)), "")


def _linked(output: ToolOutput) -> Iterator[Hit]:
    return (Hit(source.title, source.url) for source in output.sources)


def _mentioned(text: str) -> Iterator[Hit]:
    """Each paragraph with a link is a hit, its first line the title."""
    for paragraph in re.split(r"\n\s*\n", text):
        if link := _LINK.search(paragraph):
            title = paragraph.strip().partition("\n")[0].lstrip("#*-0123456789. ").removeprefix("Title:").strip()
            yield Hit(title[:200], link[0].rstrip(".,;:!?"), paragraph)
