"""What a turn that was asked to search needs of a reply: that a search is made, and that an announcement of one is not
taken for an answer. Decided from the turn so far and the reply alone."""

import json
from collections.abc import Awaitable
from dataclasses import replace

from windlass.core.engine import SEARCH_TOOL
from windlass.core.errors import ModelError
from windlass.core.fold import CallView, TurnView
from windlass.core.ports import DraftCall, Reply
from windlass.search.promise import promises_search

NO_CALL = "missing_call"  # the failure of a model that said it calls a tool, and did not
OWN_CALL = "the search that was asked for"
OWN_QUERY = "its arguments could not be used: the question was searched for"


async def completed(view: TurnView, replying: Awaitable[Reply], forced: str) -> Reply:
    """The reply with the search that is still due, or marked as a promise. `forced`: tools are off, none is due."""
    if view.started.settings.search == "off":
        return await replying
    if forced:
        reply = await replying
        return replace(reply, promised=forced == "promises" and promises_search(reply.text))
    due = _is_due(view)
    try:
        return _amended(view, await replying, due)
    except ModelError as error:
        if not due or error.code != NO_CALL:
            raise
        return Reply(error.partial, (_own_call(view),), finish="tool_calls")


def _amended(view: TurnView, reply: Reply, due: bool) -> Reply:
    if reply.calls:
        return replace(reply, calls=tuple(_usable(view, call) for call in reply.calls)) if due else reply
    if due and not reply.sources:
        return replace(reply, calls=(_own_call(view),))
    return replace(reply, promised=_is_promise(view, reply))


def _is_due(view: TurnView) -> bool:
    if any(round_.reply.sources for round_ in view.rounds):
        return False
    return not any(call.call.name == SEARCH_TOOL and not _was_unusable(call) for call in view.calls)


def _was_unusable(call: CallView) -> bool:
    return call.judged is not None and call.judged.refusal == "bad_arguments"


def _own_call(view: TurnView, repair: str = OWN_CALL) -> DraftCall:
    arguments = json.dumps({"query": view.started.settings.query}, ensure_ascii=False)
    return DraftCall(SEARCH_TOOL, arguments, repairs=(repair,))


def _usable(view: TurnView, call: DraftCall) -> DraftCall:
    """The model's own query where it has one. After a call that was refused for its arguments, the person's words."""
    if call.name != SEARCH_TOOL:
        return call
    query = None if call.broken else json.loads(call.arguments).get("query")
    if isinstance(query, str) and query.strip() and not any(map(_was_unusable, view.calls)):
        return call
    own = _own_call(view, OWN_QUERY)
    return replace(own, wire_id=call.wire_id, raw=call.raw or call.arguments, repairs=(*call.repairs, OWN_QUERY))


def _is_promise(view: TurnView, reply: Reply) -> bool:
    may_call_again = view.started.settings.limits.rounds > 1 and reply.finish != "length"
    return may_call_again and promises_search(reply.text)
