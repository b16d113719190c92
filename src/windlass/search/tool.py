"""`web_search` as it is offered to a model: a function tool like any other, safe to repeat."""

import hashlib

import msgspec

from windlass.core.engine import SEARCH_TOOL
from windlass.core.errors import ToolError
from windlass.core.messages import ToolSpec

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
