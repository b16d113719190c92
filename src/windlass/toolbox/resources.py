"""The resources of a chat's servers, for the model: two built-in tools, which find and read them. Each call is judged
as one of the server it names: a rule for that server holds for its resources too. They are listed by a tool and not in
its description: thousands would not fit there, what servers write would stand outside the fence, and each new resource
would move the prompt."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import unquote

from windlass.core.messages import ToolCall, ToolSpec
from windlass.servers import ServerConfig
from windlass.servers.catalogue import Catalogue
from windlass.servers.offered import ListedResource, ListedTemplate, ReadResource
from windlass.servers.values import CallResult, EmbeddedPart, LinkPart, MediaPart, Part, TextPart

BUILT_IN = "windlass"
RESOURCE_LIST, RESOURCE_READ = "resource_list", "resource_read"
RESOURCE_TOOLS = frozenset({RESOURCE_LIST, RESOURCE_READ})
MOST_SHOWN = 100
LONGEST_SHOWN = 200  # characters of a description
LONGEST_LINE = 2_000  # of a list
RESOURCE_HASH = "windlass-resources-1"  # so that a grant can name it
_WEB = re.compile(r"https?:", re.IGNORECASE)  # anywhere: a server may take `web://https://...` too
_FIND = "Find resources of a server: files, records and pages that it can be asked for by their address (URI)."
_READ = (
    "Read a resource of a server by its address (URI). Addresses come from resource_list, from links in the results of "
    "that server's tools, and from templates whose {parts} you fill in."
)


def resource_tools(slugs: Sequence[str]) -> tuple[ToolSpec, ...]:
    """For the servers that have resources."""
    server = {"type": "string", "enum": list(slugs)}
    query = {"type": "string", "description": "words that its address, name or description holds; all when left out"}
    uri = {"type": "string", "minLength": 1, "description": "exactly as it was given"}
    return (
        _tool(RESOURCE_LIST, _FIND, {"server": server, "query": query}, ["server"]),
        _tool(RESOURCE_READ, _READ, {"server": server, "uri": uri}, ["server", "uri"]),
    )


def named_server(call: ToolCall) -> str:
    """The server that a call of one of these names; "" where it names none."""
    given = json.loads(call.arguments)
    server = given.get("server")
    return server if isinstance(server, str) else ""


def of_server(spec: ToolSpec, config: ServerConfig, call: ToolCall, named: Callable[[str], bool]) -> ToolSpec:
    """The tool as one of that server's, for its permissions. An address on the web that the server did not name is the
    model's own choice: whoever fetches it is sent what stands in it."""
    uri = json.loads(call.arguments).get("uri", "")
    sends = spec.tool == RESOURCE_READ and isinstance(uri, str) and _WEB.search(unquote(uri)) and not named(uri)
    return ToolSpec(
        spec.name,
        config.id,
        spec.tool,
        spec.description,
        spec.schema,
        RESOURCE_HASH,
        safe=config.trusted,
        read_only=True,
        kind="sends" if sends else "reads",
        address="uri" if sends else "",
    )


async def listing(there: Catalogue, query: str) -> CallResult:
    words = query.casefold().split()
    every: Sequence[ListedResource | ListedTemplate] = (*await there.templates(), *await there.resources())
    found = await asyncio.to_thread(_found, every, words) if words else every
    shown = [*map(_line, found[:MOST_SHOWN])]
    if not shown:
        return CallResult((TextPart("Nothing matches." if words else "The server lists no resources."),))
    more = f"[{len(found) - len(shown):,} more; name words in `query` to find them]" if len(found) > len(shown) else ""
    return CallResult((TextPart("\n".join(filter(None, (*shown, more)))),))


def read_result(read: ReadResource) -> CallResult:
    """As the result of a tool: what is text is shown as text, pictures as pictures, the rest is named."""
    if read.spilled:
        return CallResult(spilled=read.spilled)
    alone = len(read.contents) == 1
    return CallResult(tuple(_part(one, alone=alone) for one in read.contents))


def with_note(result: CallResult, slug: str) -> CallResult:
    """A result with links, and how they are followed."""
    if not any(isinstance(part, LinkPart) for part in result.parts):
        return result
    note = TextPart(f'[Read a linked resource with {RESOURCE_READ}, server "{slug}".]')
    return replace(result, parts=(*result.parts, note))


def _part(one: EmbeddedPart, *, alone: bool) -> Part:
    if one.text is not None:
        return TextPart(one.text if alone else f"{one.uri}:\n{one.text}")
    kind = one.mime.partition("/")[0]
    if kind == "image" or kind == "audio":
        return MediaPart("image" if kind == "image" else "audio", one.mime, one.blob or "")
    return one


def _found(
    every: Sequence[ListedResource | ListedTemplate], words: Sequence[str]
) -> Sequence[ListedResource | ListedTemplate]:
    return [one for one in every if _matches(one, words)]


def _matches(one: ListedResource | ListedTemplate, terms: Sequence[str]) -> bool:
    text = f"{one.uri} {one.name} {one.title} {one.description}".casefold()
    return all(term in text for term in terms)


def _line(one: ListedResource | ListedTemplate) -> str:
    """On one line: an address or a description may hold line breaks."""
    size = f"{one.size:,} bytes" if isinstance(one, ListedResource) and one.size is not None else ""
    template = "template" if isinstance(one, ListedTemplate) else ""
    about = ", ".join(filter(None, (template, one.title or one.name, one.mime, size)))
    description = f": {one.description[:LONGEST_SHOWN]}" if one.description else ""
    line = " ".join(f"{one.uri} ({about}){description}".split())
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} [cut]"


def _tool(name: str, description: str, properties: dict[str, object], required: list[str]) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return ToolSpec(name, BUILT_IN, name, description, json.dumps(schema), safe=True, read_only=True, kind="reads")
