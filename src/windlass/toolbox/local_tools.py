"""Tools that run inside Windlass, on no server: functions of the program Windlass runs in, the web search, and reading
on in results that were too long to show."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from windlass.core.errors import NotFound, ToolError
from windlass.core.events import Settings
from windlass.core.messages import PYTHON as PYTHON
from windlass.core.messages import ToolCall, ToolOutput, ToolSpec
from windlass.core.ports import Emit, ToolProgress
from windlass.core.values import value_object
from windlass.search.search import WebSearch
from windlass.search.tool import wanted

BUILT_IN = "windlass"
BuiltIn = Callable[[str, ToolCall, Settings, Emit], Awaitable[ToolOutput]]  # the first is the conversation
SearchFor = Callable[[Settings], WebSearch]
Whole = Callable[
    [str, str], Awaitable[bytes]
]  # conversation and result; a model reads only those of its own conversation
_PIECE = 12_000
_MATCHES, _AROUND = 20, 160


@value_object
class Function:
    """A function with the spec it is offered under; `spec.server` is `python`."""

    spec: ToolSpec
    call: Callable[[dict[str, Any]], Awaitable[str]]


class Functions:
    def __init__(self) -> None:
        self._by_name: dict[str, Function] = {}

    def add(self, function: Function) -> None:
        self._by_name[function.spec.tool] = function

    @property
    def specs(self) -> list[ToolSpec]:
        return [function.spec for function in self._by_name.values()]

    def get(self, tool: str) -> Function:
        if tool not in self._by_name:
            raise ToolError(f"The function {tool} is no longer registered.", cause="changed")
        return self._by_name[tool]


def built_in_tools(search_for: SearchFor, whole: Whole) -> dict[str, BuiltIn]:
    async def web_search(conversation_id: str, call: ToolCall, settings: Settings, emit: Emit) -> ToolOutput:
        asked = wanted(call.arguments)
        steps = iter(range(1, 1000))

        def report(message: str) -> None:
            emit(ToolProgress(call.id, next(steps), message=message))

        try:
            return await search_for(settings).search(asked.query, asked.count, report)
        except ToolError as error:  # a search engine may have written part of it
            error.untrusted = True
            raise

    async def result_read(conversation_id: str, call: ToolCall, settings: Settings, emit: Emit) -> ToolOutput:
        given = json.loads(call.arguments)
        body = await _whole(whole, conversation_id, given["result_id"])
        return ToolOutput(read_piece(body, given.get("offset", 0), given.get("length", _PIECE)), foreign=True)

    async def result_search(conversation_id: str, call: ToolCall, settings: Settings, emit: Emit) -> ToolOutput:
        given = json.loads(call.arguments)
        body = await _whole(whole, conversation_id, given["result_id"])
        return ToolOutput(search_whole(body, given["query"]), foreign=True)

    return {"web_search": web_search, "result_read": result_read, "result_search": result_search}


async def _whole(whole: Whole, conversation_id: str, result_id: str) -> bytes:
    try:
        return await whole(conversation_id, result_id)
    except NotFound as error:
        raise ToolError(error.message, cause="not_found") from None


def read_piece(whole: bytes, offset: int = 0, length: int = _PIECE) -> str:
    """A piece of a kept result, cut between characters, with the offset to continue at."""
    start = _character_start(whole, max(0, min(offset, len(whole))))
    end = _character_start(whole, min(len(whole), start + max(1, min(length, _PIECE))))
    text = whole[start:end].decode("utf-8", "replace")
    rest = f"; go on at offset {end}" if end < len(whole) else "; this is the end"
    return f"[bytes {start} to {end} of {len(whole)}{rest}]\n{text}"


def search_whole(whole: bytes, query: str) -> str:
    """Every occurrence of the query, upper and lower case alike, with the text around it."""
    if not query.strip():
        return "Nothing to search for."
    # Only ASCII is folded: folding all of Unicode would move the offsets.
    lower, wanted = whole.lower(), query.encode("utf-8", "replace").lower()
    found: list[str] = []
    position = lower.find(wanted)
    while position >= 0 and len(found) < _MATCHES:
        start = _character_start(whole, max(0, position - _AROUND))
        end = _character_start(whole, min(len(whole), position + len(wanted) + _AROUND))
        found.append(f"offset {position}: …{whole[start:end].decode('utf-8', 'replace')}…")
        position = lower.find(wanted, max(end, position + 1))
    if not found:
        return f"{query!r} does not occur in this result."
    more = f"\n[more after offset {position}]" if position >= 0 else ""
    return "\n".join(found) + more


def _character_start(whole: bytes, position: int) -> int:
    while 0 < position < len(whole) and whole[position] & 0xC0 == 0x80:
        position -= 1
    return position


def _builtin(name: str, description: str, properties: dict[str, object]) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {"result_id": {"type": "string"}, **properties},
        "required": ["result_id", *(["query"] if "query" in properties else [])],
        "additionalProperties": False,
    }
    return ToolSpec(
        name, BUILT_IN, name, description, json.dumps(schema), safe=True, approval="auto", read_only=True, kind="reads"
    )


RESULT_TOOLS = (
    _builtin(
        "result_read",
        "Read a piece of an earlier tool result that was too long to be shown whole.",
        {
            "offset": {"type": "integer", "minimum": 0, "description": "where to begin, in bytes"},
            "length": {"type": "integer", "minimum": 1, "maximum": _PIECE},
        },
    ),
    _builtin(
        "result_search",
        "Find text in an earlier tool result that was too long to be shown whole.",
        {"query": {"type": "string", "minLength": 1, "description": "plain text, not a pattern"}},
    ),
)
