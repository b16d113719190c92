"""`tools_search`: the built-in tool by which a model finds tools that its requests do not list. The best matches are
listed from the next request on. That gives no permission: each of them is enabled already, and its calls are judged."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence

from windlass.core.events import Settings
from windlass.core.messages import ToolCall, ToolOutput, Toolset, ToolSpec
from windlass.core.ports import Emit
from windlass.core.values import value_object
from windlass.servers import Servers
from windlass.toolbox.offers import Offer, Offers
from windlass.toolbox.tool_list import INSIDE, TOOLS_SEARCH, tokens_of
from windlass.toolbox.tool_search import SearchEntry, ranked, stems, terms_of

MOST_LOADED = 5
MOST_LOADED_TOKENS = 6_000
MOST_NAMED = 10  # further matches
LEAST_SHARE = 0.3  # of the best match's score
MOST_SERVERS = 60  # named in the description


@value_object
class Candidate:
    spec: ToolSpec
    slug: str
    offer: Offer | None  # None while its server does not run


def tools_search(slugs: Sequence[str]) -> ToolSpec:
    """It names the servers alone: a list of tools that changes would move the prompt."""
    more = ", …" if len(slugs) > MOST_SERVERS else ""
    servers = f" of these servers: {', '.join(slugs[:MOST_SERVERS])}{more}" if slugs else ""
    description = (
        f"Find more tools: you can use many that are not in your list{servers}. Search whenever the tools in your list "
        "do not do what is needed, and before you answer that something cannot be done. Write in English what the tool "
        "should do, with other words for the same thing, or write names of tools. The best matches are added to your "
        "list; call them in your next step."
    )
    schema = {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": 2000,
                "description": "e.g. open a ticket, bug, issue",
            }
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    return ToolSpec(
        TOOLS_SEARCH,
        "windlass",
        TOOLS_SEARCH,
        description,
        json.dumps(schema),
        safe=True,
        approval="auto",
        read_only=True,
        kind="reads",
    )


class ToolFinder:
    def __init__(self, toolset: Callable[[str], Toolset], servers: Servers, offers: Offers) -> None:
        """`toolset` gives the one of a turn by its hash."""
        self._toolset = toolset
        self._servers = servers
        self._offers = offers

    async def run(self, conversation_id: str, call: ToolCall, settings: Settings, emit: Emit) -> ToolOutput:
        query = json.loads(call.arguments)["query"]
        toolset = self._toolset(settings.toolset)
        # In a thread: many tools take some milliseconds, more where the words of each must be made first.
        found = await asyncio.to_thread(_found, query, list(self._candidates(toolset)))
        return output_of([toolset.by_name[name] for name in found], self._note)

    def _candidates(self, toolset: Toolset) -> Iterator[Candidate]:
        """Without those that no call could reach: denied in this chat, or changed since the turn began."""
        for spec in toolset.tools:
            if spec.server in INSIDE or spec.approval == "deny":
                continue
            is_known = spec.server in self._servers
            offer = self._offers.get(spec.server, spec.tool) if is_known else None
            if offer is None and is_known and self._servers.is_ready(spec.server):
                continue
            if offer is None or offer.has(spec.hash):
                yield Candidate(spec, self._servers.config(spec.server).slug if is_known else "", offer)

    def _note(self, spec: ToolSpec) -> str:
        away = spec.server in self._servers and not self._servers.is_ready(spec.server)
        return " (its server is not running now)" if away else ""


def _found(query: str, candidates: Sequence[Candidate]) -> list[str]:
    servers = {slug: frozenset(stems(slug)) for slug in {one.slug for one in candidates}}
    entries = [
        SearchEntry(one.spec.name, one.offer.terms if one.offer else terms_of(one.spec), servers[one.slug])
        for one in candidates
    ]
    hits = ranked(query, entries)
    return [name for name, score in hits if score >= LEAST_SHARE * hits[0][1]]


def output_of(found: Sequence[ToolSpec], note: Callable[[ToolSpec], str]) -> ToolOutput:
    """Names alone: the definitions stand in the list, and what servers wrote stays out of the result."""
    if not found:
        return ToolOutput("No tool matches. Try other words for what the tool should do, in English.")
    loaded = list(_loadable(found))
    named = [f"{spec.name}{note(spec)}" for spec in loaded]
    text = f"Added to your list, best match first: {', '.join(named)}. Call what fits in your next step."
    if further := [spec.name for spec in found if spec not in loaded][:MOST_NAMED]:
        text += f"\nFurther matches, not added: {', '.join(further)}. Search for a name to add it."
    return ToolOutput(text, loads=tuple(spec.name for spec in loaded))


def _loadable(found: Sequence[ToolSpec]) -> Iterator[ToolSpec]:
    spent = 0
    for count, spec in enumerate(found[:MOST_LOADED]):
        spent += tokens_of([spec])
        if count and spent > MOST_LOADED_TOKENS:
            return
        yield spec
