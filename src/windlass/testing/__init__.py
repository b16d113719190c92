"""For people's own tests: a strict, scripted model server and the check it holds histories against; and a scripted
model without a network, whose lines are made by `scripted.say` and `scripted.call`."""

from windlass.providers import ScriptedModel, scripted
from windlass.testing.heeding import heed
from windlass.testing.recording import RecordedRequest as ChatRequest
from windlass.testing.recording import read_recording
from windlass.testing.replies import (
    FileGate,
    Gate,
    call,
    calls,
    error,
    hang,
    headers,
    raw_call,
    raw_chunks,
    raw_delta,
    raw_event,
    say,
    stream_error,
    think,
    wait_for,
)
from windlass.testing.replies import (
    ScriptedReply as Reply,
)
from windlass.testing.replies import (
    ScriptedUsage as Usage,
)
from windlass.testing.scripts import by_round, loop
from windlass.testing.strict_history import history_faults
from windlass.testing.strict_llm import StrictLLM

__all__ = [
    "ChatRequest",
    "FileGate",
    "Gate",
    "Reply",
    "ScriptedModel",
    "StrictLLM",
    "Usage",
    "by_round",
    "call",
    "calls",
    "error",
    "hang",
    "headers",
    "heed",
    "history_faults",
    "loop",
    "raw_call",
    "raw_chunks",
    "raw_delta",
    "raw_event",
    "read_recording",
    "say",
    "scripted",
    "stream_error",
    "think",
    "wait_for",
]
