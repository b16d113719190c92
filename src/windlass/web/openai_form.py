"""A turn in OpenAI's words: a completion, its chunks, and why there is none."""

import json
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from windlass.api import schemas
from windlass.bus import Frame
from windlass.core.events import ModelReplied, Recorded, TurnFinished
from windlass.core.fold import TurnView
from windlass.core.messages import ToolCall
from windlass.core.ports import ReasoningDelta, ReplyReset, TextDelta
from windlass.core.prompt import numbered_sources
from windlass.turns.views import TurnRecord
from windlass.web.errors import V1_REQUEST_FAULTS, failure_status, v1_failed
from windlass.web.stream_text import missing_text

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]
CODES = {"unknown_model": "model_not_found", "context_overflow": "context_length_exceeded"}  # ours, and OpenAI's


class Exchange:
    """What to say of each frame. Text that was sent cannot be taken back: after a reply broke off, the next attempt is
    held until it is whole, and only what is new of it is sent. Text in a form that is checked is held likewise, and
    what the model says before it calls tools is not part of it."""

    def __init__(self, record: TurnRecord) -> None:
        self._head = _ChunkHead(record)
        self._checked = bool(record.view.started.settings.output)
        self._sent = ""
        self._held = False

    def opening(self) -> schemas.Chunk:
        return self._head.chunk(schemas.V1Message(role="assistant", content=""))

    def chunks(self, frame: Frame) -> Iterator[schemas.Chunk]:
        match frame.what:
            case TextDelta(text=text) if not self._held and not self._checked:
                self._sent += text
                yield self._head.chunk(schemas.V1Message(content=text))
            case ReasoningDelta(text=text) if not self._held:
                yield self._head.chunk(schemas.V1Message(reasoning_content=text))
            case ReplyReset():
                self._held = bool(self._sent)
            case Recorded(event=ModelReplied(text=text) as reply) if not (self._checked and reply.calls):
                missing = self._missing(text)
                self._sent, self._held = "", False
                self._head.answered_by(reply)
                if missing:
                    yield self._head.chunk(schemas.V1Message(content=missing))

    def _missing(self, text: str) -> str:
        if not self._held:
            return missing_text(self._sent, text)
        return text.removeprefix(self._sent) if text.startswith(self._sent) else f"\n\n{text}"

    def closing(self, record: TurnRecord, wants_usage: bool) -> Iterator[schemas.Chunk | schemas.V1Failed]:
        view = record.view
        if refused := why_failed(view):
            yield refused[1]
            return
        self._head.model = view.asked.model
        calls = [msgspec.structs.replace(call, index=index) for index, call in enumerate(_handed_over(view))]
        extra = _extra(view)
        last = schemas.V1Message(tool_calls=calls or msgspec.UNSET, annotations=_annotations(view))
        if refusal := extra.get("refusal"):
            last.refusal = refusal
        if calls or last.annotations or refusal or extra.get("logprobs"):
            yield self._head.chunk(last, logprobs=extra.get("logprobs", msgspec.UNSET))
        self._head.marks = _marks(extra)
        yield self._head.chunk(schemas.V1Message(), finish_reason(view))
        if wants_usage:
            yield self._head.usage_chunk(view)


class _ChunkHead:
    def __init__(self, record: TurnRecord) -> None:
        self.id = f"chatcmpl-{record.id.partition('-')[2]}"
        self.created = int(record.rows[0].at)
        self.model = record.view.asked.model
        self.marks: dict[str, Any] = {}
        self._fallbacks = dict(reversed(record.view.started.settings.fallback))

    def answered_by(self, reply: ModelReplied) -> None:
        """A fallback's name is on the chunks from its reply on."""
        self.model = self._fallbacks.get(reply.provider, self.model)

    def chunk(
        self, delta: schemas.V1Message, finish: str | None = None, *, logprobs: Any = msgspec.UNSET
    ) -> schemas.Chunk:
        choice = schemas.V1Delta(delta, finish, logprobs=logprobs)
        return schemas.Chunk(self.id, self.created, self.model, [choice], **self.marks)

    def usage_chunk(self, view: TurnView) -> schemas.Chunk:
        return schemas.Chunk(self.id, self.created, self.model, [], _usage(view), **self.marks)


def completion(record: TurnRecord) -> schemas.Completion:
    view, head, extra = record.view, _ChunkHead(record), _extra(record.view)
    last = view.rounds[-1].reply if view.rounds else None
    message = schemas.V1Message(
        role="assistant",
        content=_text(view),
        refusal=extra.get("refusal"),
        reasoning_content=(last.reasoning or msgspec.UNSET) if last else msgspec.UNSET,
        tool_calls=_handed_over(view) or msgspec.UNSET,
        annotations=_annotations(view),
    )
    choice = schemas.V1Choice(message, finish_reason(view), logprobs=extra.get("logprobs"))
    return schemas.Completion(head.id, head.created, head.model, [choice], _usage(view), **_marks(extra))


def why_failed(view: TurnView) -> tuple[int, schemas.V1Failed] | None:
    """The status and the error of a turn without an answer; None where it has one."""
    end = view.finished or TurnFinished("stopped", "stopped", "The turn did not end.")
    if end.outcome not in {"failed", "stopped"} or _filtered(view):
        return None
    status = V1_REQUEST_FAULTS.get(end.cause) or failure_status(end.cause)
    if any(call.starts and not call.harmless for call in view.calls):
        status = 422  # clients repeat requests after 429 and 5xx, and with them what was done
    code = CODES.get(end.cause, end.cause)
    param = "model" if code == "model_not_found" else None
    return status, v1_failed(status, end.message, code, param)


def finish_reason(view: TurnView) -> FinishReason:
    end = view.finished or TurnFinished("stopped")
    if end.outcome == "handed_over":
        return "tool_calls"
    if _filtered(view):
        return "content_filter"
    return "length" if end.outcome == "limit" and end.cause == "length" else "stop"


def _filtered(view: TurnView) -> bool:
    """The provider broke its own reply off, which is an end like any other to its clients; a request that it refuses
    for its content is an error."""
    end = view.finished
    return (
        end is not None and end.cause == "content_filter" and view.failures[-1:] != [] and not view.failures[-1].status
    )


def _text(view: TurnView) -> str | None:
    if _filtered(view):
        return view.failures[-1].partial
    text = view.rounds[-1].reply.text if view.rounds else ""
    return text or None


def _handed_over(view: TurnView) -> list[schemas.V1Call]:
    if not view.rounds or not view.finished or view.finished.outcome != "handed_over":
        return []
    return [_call(call.call) for call in view.rounds[-1].calls if call.handed_over]


def _call(call: ToolCall) -> schemas.V1Call:
    return schemas.V1Call(call.id, schemas.V1Function(call.name, call.arguments))


def _extra(view: TurnView) -> dict[str, Any]:
    text = view.rounds[-1].reply.extra if view.rounds else ""
    found: dict[str, Any] = json.loads(text) if text else {}
    return found


def _marks(extra: dict[str, Any]) -> dict[str, Any]:
    return {name: extra[name] for name in ("system_fingerprint", "service_tier") if name in extra}


def _annotations(view: TurnView) -> list[schemas.Annotation] | msgspec.UnsetType:
    found = [schemas.Annotation(schemas.UrlCitation(source.url, source.title)) for source, _ in numbered_sources(view)]
    return found or msgspec.UNSET


def _usage(view: TurnView) -> schemas.V1Usage:
    used = view.usage
    return schemas.V1Usage(
        used.prompt,
        used.completion,
        used.prompt + used.completion,
        schemas.PromptDetails(used.cached),
        schemas.CompletionDetails(used.reasoning),
    )
