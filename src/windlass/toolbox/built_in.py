"""Windlass's own tools: the web search, and reading on in results that were too long to show."""

import json
from collections.abc import Awaitable, Callable

from windlass.core.errors import NotFound, ToolError
from windlass.core.events import Settings
from windlass.core.messages import ToolCall, ToolOutput
from windlass.core.ports import Emit, ToolProgress
from windlass.search.search import WebSearch
from windlass.search.tool import wanted
from windlass.toolbox.preview import read_piece, search_whole
from windlass.toolbox.turn import BuiltIn

SearchFor = Callable[[Settings], WebSearch]
Whole = Callable[[str, str], Awaitable[bytes]]  # conversation and result; a model reads those of its own only


def built_in_tools(search_for: SearchFor, whole: Whole) -> dict[str, BuiltIn]:
    async def web_search(conversation_id: str, call: ToolCall, settings: Settings, emit: Emit) -> ToolOutput:
        asked = wanted(call.arguments)
        steps = iter(range(1, 1000))

        def say(what: str) -> None:
            emit(ToolProgress(call.id, next(steps), message=what))

        return await search_for(settings).search(asked.query, asked.count, say)

    async def result_read(conversation_id: str, call: ToolCall, settings: Settings, emit: Emit) -> ToolOutput:
        given = json.loads(call.arguments)
        body = await _whole(whole, conversation_id, given["result_id"])
        return ToolOutput(read_piece(body, given.get("offset", 0), given.get("length", 12_000)), foreign=True)

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
