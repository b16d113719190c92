"""Events as bytes and back. Each row carries its kind and a version; old versions are raised step by step on reading,
so that the rest of the code knows only today's events."""

from collections.abc import Callable

import msgspec

from windlass.core import events
from windlass.core.events import Event

VERSION = 1

KINDS: dict[str, type[Event]] = {
    "turn_started": events.TurnStarted,
    "turn_claimed": events.TurnClaimed,
    "model_replied": events.ModelReplied,
    "model_failed": events.ModelFailed,
    "call_judged": events.CallJudged,
    "call_decided": events.CallDecided,
    "call_resolved": events.CallResolved,
    "tool_started": events.ToolStarted,
    "tool_finished": events.ToolFinished,
    "stop_requested": events.StopRequested,
    "history_trimmed": events.HistoryTrimmed,
    "turn_finished": events.TurnFinished,
}
KIND_OF = {kind_type: kind for kind, kind_type in KINDS.items()}

Raise = Callable[[str, dict[str, object]], dict[str, object]]
RAISES: dict[int, Raise] = {}  # version -> the step that lifts an event of that version to the next

encode: Callable[[Event], bytes] = msgspec.json.Encoder().encode
DECODERS = {kind: msgspec.json.Decoder(kind_type) for kind, kind_type in KINDS.items()}


def decode(kind: str, body: bytes, version: int = VERSION) -> Event:
    """A row of any version. Where many are read, those of today's version go to `DECODERS` without this call."""
    if version == VERSION:
        return DECODERS[kind].decode(body)
    fields: dict[str, object] = msgspec.json.decode(body)
    for step in range(version, VERSION):
        fields = RAISES[step](kind, fields)
    return msgspec.convert(fields, KINDS[kind])
