"""How a call ended, in the protocol's form: a result as its server gave it, anything else as an error that says what
happened."""

import json
from typing import Any

from windlass.core.fold import CallView
from windlass.gateway.sdk import types
from windlass.services.gateway import Gateway, KeptWhole
from windlass.toolbox.results import JSON
from windlass.turns.views import TurnRecord

TURN, STATE = "windlass/turn", "windlass/state"  # in `_meta`
SHUTTING_DOWN = "Windlass is shutting down. Whether this call was carried out is not known; its turn is {}."
DENIED = 1  # the step of a rule or setting that forbids the call, whoever is asked
HOW_TO_ASK = (
    "\nTo be asked instead, start `windlass serve` and decide on its page, or let programs ask their own person:\n"
    '[gateway]\napprove = "client"'
)
REFUSED_UNHEARD = "The turn ended before the call was made: {}"


async def call_result(gateway: Gateway, record: TurnRecord) -> types.CallToolResult:
    call = gateway.call_of(record)
    if call.finished is None:
        return _with_meta(failure(_unfinished(record)), record, "unknown" if call.sent else "cancelled")
    return _with_meta(await _ended(gateway, record, call), record, call.finished.state)


async def _ended(gateway: Gateway, record: TurnRecord, call: CallView) -> types.CallToolResult:
    assert call.finished is not None  # noqa: S101 - looked at by the caller
    output = call.finished.output
    if output.result_id:
        return whole_result(await gateway.kept(record, output.result_id))
    if call.finished.state in ("ok", "error") and not output.text:
        return types.CallToolResult(content=[], is_error=call.finished.state == "error")
    return _text(output.text + _how_to_ask(record, call), failed=call.finished.state != "ok")


def _how_to_ask(record: TurnRecord, call: CallView) -> str:
    """Where a call was refused because nobody could be asked: who could be."""
    refused = call.judged is not None and call.judged.refusal == "policy" and call.judged.step != DENIED
    return HOW_TO_ASK if refused and record.view.started.settings.asks == "refuse" else ""


def whole_result(kept: KeptWhole) -> types.CallToolResult:
    """An answer that was too long to be parsed when it came is kept with what stood around the result."""
    text = kept.body.decode("utf-8", "replace")
    if kept.mime != JSON:
        return _text(text)
    try:
        found: Any = json.loads(text)
        return types.CallToolResult.model_validate(found.get("result", found), by_name=False)
    except (ValueError, RecursionError, AttributeError):
        return _text(text)


def failure(text: str) -> types.CallToolResult:
    return _text(text, failed=True)


def _unfinished(record: TurnRecord) -> str:
    if record.view.finished:
        return REFUSED_UNHEARD.format(record.view.finished.message)
    return SHUTTING_DOWN.format(record.id)


def _text(text: str, *, failed: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)


def _with_meta(result: types.CallToolResult, record: TurnRecord, state: str) -> types.CallToolResult:
    meta: Any = {**(result.meta or {}), TURN: record.id, STATE: state}
    return result.model_copy(update={"meta": meta})
