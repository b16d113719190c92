"""`web_search` as a model sees it: the function tool that is offered, safe to repeat, and the text of its results, with
the title, address, date and snippet of each hit and the part of its page that is about the question."""

import hashlib
import re
from collections.abc import Mapping, Sequence

import msgspec

from windlass.core.engine import SEARCH_TOOL
from windlass.core.errors import ToolError
from windlass.core.messages import ToolSpec
from windlass.core.values import value_object
from windlass.search.backend import Hit
from windlass.search.page import Page

SNIPPET_CHARS = 700
EXTRACT_CHARS = 2500
_TERM = re.compile(r"[^\W_]{2,}")
_LINES_APART = 240
_MOST_LOOKED_AT = 200_000
_SCHEMA = (
    '{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":2000,'
    '"description":"What to search for, in the words a search engine needs."},'
    '"count":{"type":"integer","minimum":1,"maximum":10,"description":"How many results; 5 unless told."}},'
    '"required":["query"],"additionalProperties":false}'
)
_DESCRIPTION = (
    "Search the web and read the best pages. Use it for anything current or anything you are not sure of. "
    "Results are numbered sources; cite them as [n]."
)

WEB_SEARCH = ToolSpec(
    name=SEARCH_TOOL,
    server="windlass",
    tool=SEARCH_TOOL,
    description=_DESCRIPTION,
    schema=_SCHEMA,
    hash=hashlib.sha256(f"{SEARCH_TOOL}\n{_DESCRIPTION}\n{_SCHEMA}".encode()).hexdigest(),
    safe=True,
    approval="auto",
    read_only=True,
    open_world=True,
    kind="reads",
)


class Wanted(msgspec.Struct, frozen=True):
    query: str
    count: int = 5


def wanted(arguments: str) -> Wanted:
    """The arguments of a call, already checked against the schema when it was judged."""
    try:
        return msgspec.json.decode(arguments, type=Wanted)
    except msgspec.DecodeError as error:
        raise ToolError(f"The arguments of {SEARCH_TOOL} cannot be read: {error}.", cause="bad_arguments") from error


@value_object
class Reading:
    """A page that was read, or why it was not."""

    page: Page | None = None
    problem: str = ""


def report(
    query: str, backend: str, hits: Sequence[Hit], readings: Mapping[str, Reading], failures: Sequence[str] = ()
) -> str:
    found = f"{len(hits)} results" if len(hits) != 1 else "1 result"
    lines = [f"Searched the web with {backend} for: {query}", f"Found {found if hits else 'nothing'}."]
    lines += [f"Also tried: {failure}" for failure in failures]
    return "\n\n".join(["\n".join(lines), *(_entry(hit, readings.get(hit.url), query) for hit in hits)])


def extract(text: str, query: str, chars: int = EXTRACT_CHARS) -> str:
    """The paragraphs that share most words with the query, in the page's order; the beginning where none does."""
    if len(text) <= chars:
        return text
    wanted = _terms(query)
    paragraphs = _paragraphs(text[:_MOST_LOOKED_AT])
    best = sorted(range(len(paragraphs)), key=lambda index: (-len(wanted & _terms(paragraphs[index])), index))
    kept, room = set[int](), chars
    for index in best:
        if len(paragraphs[index]) < room:
            kept.add(index)
            room -= len(paragraphs[index]) + 1
    if not kept:
        return text[: chars - 1] + "…"
    return "\n".join(paragraphs[index] for index in sorted(kept))


def _entry(hit: Hit, reading: Reading | None, query: str) -> str:
    lines = [f"## {hit.title}", f"URL: {hit.url}"]
    if hit.published:
        lines.append(f"Published: {hit.published}")
    if hit.text:
        lines.append(f"Snippet: {_cut(hit.text, SNIPPET_CHARS)}")
    if reading and reading.page and reading.page.text:
        lines.append(f"From the page:\n{extract(reading.page.text, query)}")
    elif reading and reading.problem:
        lines.append(f"({reading.problem})")
    return "\n".join(lines)


def _paragraphs(text: str) -> list[str]:
    """Short lines are joined: a table row or a menu entry alone says little."""
    joined: list[str] = []
    for line in filter(None, text.split("\n")):
        if joined and len(joined[-1]) + len(line) < _LINES_APART:
            joined[-1] += f"\n{line}"
        else:
            joined.append(line)
    return joined


def _terms(text: str) -> set[str]:
    return set(_TERM.findall(text.lower()))


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1] + "…"
