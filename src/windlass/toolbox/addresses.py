"""Addresses that a tool may fetch without asking: public ones that stand letter for letter in what the person wrote, or
among the hits of our own search. Nobody else chose them, so nothing can leave by them. Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence

from windlass.core.errors import ToolError
from windlass.core.events import CallJudged, Event, ModelReplied, ToolFinished, TurnStarted
from windlass.core.values import value_object
from windlass.search.targets import target_of

MOST = 20  # a turn
BUILT_IN = "windlass"
INSIDE = (BUILT_IN, "python", "caller")  # no servers
IN_MESSAGE = "its address stands in your message"
AMONG_HITS = "its address is a result of the web search"
_OF_ADDRESSES = frozenset("-._~:/?#[]@!$&'()*+,;=%")
_ENDS_SENTENCES = ".,;:!?)]'*_~"


@value_object
class NamedAddresses:
    texts: tuple[str, ...] = ()  # written by the person
    hits: frozenset[str] = frozenset()

    def why_known(self, addresses: Sequence[str]) -> str:
        """Why all of them may be fetched, or ""."""
        if not addresses or not all(map(_is_public, addresses)):
            return ""
        if all(any(stands_in(address, text) for text in self.texts) for address in addresses):
            return IN_MESSAGE
        known = all(
            address in self.hits or any(stands_in(address, text) for text in self.texts) for address in addresses
        )
        return AMONG_HITS if known else ""


def named_in(events: Iterable[Event]) -> NamedAddresses:
    """Imported messages were not written here, so they name nothing."""
    texts: list[str] = []
    hits: set[str] = set()
    searches: set[str] = set()
    for event in events:
        match event:
            case TurnStarted() if event.origin != "added":
                texts += [message.content or "" for message in event.opening if message.role == "user"]
            case CallJudged(server=server) if server == BUILT_IN:
                searches.add(event.call_id)
            case ToolFinished() if event.call_id in searches:
                hits.update(source.url for source in event.output.sources)
            case ModelReplied():  # a search that the provider ran with its reply
                hits.update(source.url for source in event.sources)
    return NamedAddresses(tuple(texts), frozenset(hits))


def outside_text(log: Sequence[Event], slug: Callable[[str], str]) -> str:
    """What first brought text that neither the person nor the model wrote into this turn; "" where nothing did.
    `slug` gives the name of a server by its id."""
    for event in log:
        match event:
            case ToolFinished() if event.output.untrusted:
                return _tool_in(log, event.call_id, slug)
            case TurnStarted() if any(message.role == "tool" for message in event.opening):
                return "results that the caller brought along"
            case TurnStarted() if attached_names(event):
                return attached_names(event)
            case CallJudged(verdict="auto", step=0) if event.server not in ("", *INSIDE):
                return _tool_in(log, event.call_id, slug)  # of the first edition, whose results say less
            case ModelReplied() if event.sources:
                return "a web search of the model's provider"
    return ""


def attached_names(started: TurnStarted) -> str:
    servers = sorted({one.server for message in started.opening for one in message.attached})
    return f"a resource of {' and '.join(servers)}" if servers else ""


def _tool_in(log: Sequence[Event], call_id: str, slug: Callable[[str], str]) -> str:
    judged = [event for event in log if isinstance(event, CallJudged) and event.call_id == call_id]
    calls = [call for event in log if isinstance(event, ModelReplied) for call in event.calls if call.id == call_id]
    server = slug(judged[-1].server) if judged else ""
    name = calls[0].name.removeprefix(f"{server}__") if calls else "a tool"
    return f"{name} on {server}" if server else name


def fetched_so(log: Iterable[Event]) -> set[str]:
    """Calls of this turn that ran for one of these reasons."""
    return {event.call_id for event in log if isinstance(event, CallJudged) and event.rule in (IN_MESSAGE, AMONG_HITS)}


def stands_in(address: str, text: str) -> bool:
    """As a whole: `https://a.example/b` does not stand in `https://a.example/bc`. A bare host and its root are one."""
    at = text.find(address)
    while at >= 0:
        if _ends_there(text, at + len(address)):
            return True
        at = text.find(address, at + 1)
    bare = address.removesuffix("/")
    return bare != address and bare.count("/") == 2 and stands_in(bare, text)


def _ends_there(text: str, end: int) -> bool:
    while end < len(text) and text[end] in _ENDS_SENTENCES:
        end += 1
    return end == len(text) or not ((text[end].isascii() and text[end].isalnum()) or text[end] in _OF_ADDRESSES)


def _is_public(address: str) -> bool:
    try:
        target_of(address)
    except ToolError:
        return False
    return True


def together(parts: Collection[NamedAddresses]) -> NamedAddresses:
    texts = tuple(text for part in parts for text in part.texts)
    return NamedAddresses(texts, frozenset().union(*(part.hits for part in parts)))
