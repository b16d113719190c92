"""Recorded logs as people see them: messages, turns, calls, answers. Pure projections; nothing here decides."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import floor
from typing import Literal

import msgspec

from windlass.api import schemas
from windlass.api.events import NAMES
from windlass.api.schemas.turns import COMPLETED
from windlass.core.engine import SEARCH_TOOL
from windlass.core.events import (
    Event,
    ModelFailed,
    ModelReplied,
    Recorded,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from windlass.core.fold import CallView, TurnView, fold
from windlass.core.messages import ChatMessage, ToolCall, ToolOutput, Usage
from windlass.core.ports import InputNeeded, Waiting
from windlass.core.prompt import numbered_sources, result_text
from windlass.core.steps import AwaitPerson, next_step
from windlass.search.search import NO_SEARCH, TOLD_TO_MODEL
from windlass.sentences import whole_sentences
from windlass.turns.citations import citations

CallStateShown = Literal["queued", "awaiting_approval", "running", "ok", "error", "denied", "cancelled", "unknown"]
TurnState = Literal["running", "awaiting_person", "finished"]
PendingKind = Literal["approval", "unknown", "input", "sign_in"]
LONGEST_REASON = 300


@dataclass(frozen=True)
class TurnRecord:
    """A turn with its log. `slugs` names servers by id; `questions` are what tools ask people just now, `waiting` is
    what the turn waits for just now, `sign_ins` are calls whose server asks for a sign-in before it takes them."""

    id: str
    conversation_id: str
    parent_id: str | None
    rows: Sequence[Recorded]
    slugs: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, InputNeeded] = field(default_factory=dict)
    waiting: Waiting | None = None
    sign_ins: frozenset[str] = frozenset()

    @cached_property
    def events(self) -> list[Event]:
        return [row.event for row in self.rows]

    @cached_property
    def view(self) -> TurnView:
        return fold(self.events)

    @cached_property
    def sources(self) -> list[schemas.Source]:
        return [
            schemas.Source(n=n, title=source.title, url=source.url, call_id=call_id or msgspec.UNSET)
            for n, (source, call_id) in enumerate(numbered_sources(self.view), 1)
        ]

    @property
    def outcome(self) -> str | None:
        end = self.rows[-1].event
        return end.outcome if isinstance(end, TurnFinished) else None


def turn_shown(record: TurnRecord) -> schemas.Turn:
    view = record.view
    finished = record.rows[-1] if view.finished else None
    return schemas.Turn(
        id=record.id,
        conversation_id=record.conversation_id,
        parent_turn_id=record.parent_id,
        state=turn_state(record),
        outcome=view.finished.outcome if view.finished else None,
        error=error_shown(view.finished) or None,
        calls=[_call(record, call) for call in view.by_call.values()],
        usage=_usage(view.usage),
        rounds=_rounds(view),
        answer=_answer(view),
        sources=record.sources,
        searched=_searched(view),
        pending_calls=pending_calls(record),
        origin=view.started.origin,
        model=view.asked.model,
        provider=view.asked.provider,
        started_at=iso(record.rows[0].at),
        finished_at=iso(finished.at) if finished else None,
        waiting=_waiting(record),
        message=_summary(view) if finished else "",
        client=view.started.client,
        unavailable=[
            schemas.UnavailableServer(one.server, one.state, one.reason or msgspec.UNSET)
            for one in view.started.settings.missing
        ],
    )


def waiting_shown(waiting: Waiting) -> schemas.TurnWaiting:
    return schemas.TurnWaiting(
        for_=waiting.for_,
        since=iso(waiting.since),
        until=iso(waiting.until) if waiting.until else msgspec.UNSET,
        host=waiting.host or msgspec.UNSET,
        model=waiting.model or msgspec.UNSET,
        server=waiting.server or msgspec.UNSET,
        call_id=waiting.call_id or msgspec.UNSET,
        attempt=waiting.attempt or msgspec.UNSET,
        attempts=waiting.attempts or msgspec.UNSET,
        ahead=msgspec.UNSET if waiting.ahead is None else waiting.ahead,
        usual_s=waiting.usual_s or msgspec.UNSET,
    )


def chat_answer(record: TurnRecord, unavailable: Sequence[schemas.UnavailableServer] = ()) -> schemas.ChatAnswer:
    view = record.view
    messages = messages_shown(record)
    pending = pending_calls(record)
    end = view.finished
    return schemas.ChatAnswer(
        success=end is not None and end.outcome in {"answered", "added", "handed_over"},
        user_message=next((message for message in messages if message.role == "user"), None),
        assistant_message=_final(view, messages),
        message=_summary(view),
        turn_id=record.id,
        outcome=end.outcome if end else "awaiting_person",
        sources=record.sources,
        searched=_searched(view),
        usage=_usage(view.usage),
        rounds=_rounds(view),
        error=error_shown(end) or msgspec.UNSET,
        pending_calls=pending or msgspec.UNSET,
        unavailable=list(unavailable) or msgspec.UNSET,
    )


def messages_shown(record: TurnRecord) -> list[schemas.Message]:
    """What was said in a turn, each assistant message directly followed by its results, in the order of the calls."""
    view = record.view
    messages = [*_opening(record), *_replies(record, view)]
    if view.finished and view.finished.outcome in {"failed", "limit", "stopped"} and (partial := _partial(record)):
        messages.append(partial)
    if messages and (error := error_shown(view.finished)):
        messages[-1].error = error
    return messages


def files_shown(output: ToolOutput) -> list[schemas.ResultFile]:
    kept = output.result_id or msgspec.UNSET
    return [
        schemas.ResultFile(one.kind, one.at, one.true_mime or one.mime, one.size, one.name, one.uri, result_id=kept)
        for one in output.files
    ]


def turn_state(record: TurnRecord) -> TurnState:
    if isinstance(record.rows[-1].event, TurnFinished):
        return "finished"
    if record.questions or record.sign_ins or isinstance(next_step(record.events), AwaitPerson):
        return "awaiting_person"
    return "running"


def pending_calls(record: TurnRecord) -> list[schemas.PendingCall]:
    """What waits for a person, and what settles it."""
    view = record.view
    if view.finished:
        return []
    waiting = ((call, _waits_for(call, record)) for call in view.by_call.values() if call.open)
    return [_pending(record, call, kind) for call, kind in waiting if kind]


def _waiting(record: TurnRecord) -> schemas.TurnWaiting | None:
    """For a person also where nothing drives the turn: then the log alone says so."""
    state = turn_state(record)
    if state == "finished":
        return None
    waiting = record.waiting
    if state == "awaiting_person" and (waiting is None or waiting.for_ not in ("person", "sign_in")):
        calls = pending_calls(record)
        waiting = Waiting("person", record.rows[-1].at, call_id=calls[0].call_id if calls else "")
    return waiting_shown(waiting) if waiting else None


def error_shown(end: TurnFinished | None) -> schemas.Error | None:
    if end is None or end.outcome not in {"failed", "limit"}:
        return None
    return schemas.Error(
        code=end.cause or end.outcome, message=end.message or "The turn failed.", hint=end.hint or msgspec.UNSET
    )


def event_position(turn_id: str, conversation_id: str, parent_id: str | None, row: Recorded) -> dict[str, object]:
    """What stands before an event's own fields wherever it is shown."""
    position: dict[str, object] = {
        "turn_id": turn_id,
        "conversation_id": conversation_id,
        "seq": row.seq,
        "at": iso(row.at),
    }
    if isinstance(row.event, TurnStarted):
        position["parent_turn_id"] = parent_id
    return position


def event_shown(record: TurnRecord, row: Recorded) -> dict[str, object]:
    """An event as the stream gives it, with its name and id beside it."""
    position = event_position(record.id, record.conversation_id, record.parent_id, row)
    return {"event": NAMES[type(row.event)], "id": row.number, **position, **msgspec.to_builtins(row.event)}


def iso(at: float) -> str:
    second, ms = divmod(floor(at * 1000), 1000)
    return f"{_to_the_second(second)}.{ms:03d}Z"


@lru_cache(maxsize=64)  # most of what is shown happened just now
def _to_the_second(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))


def _opening(record: TurnRecord) -> Iterator[schemas.Message]:
    first = record.rows[0]
    started = first.event
    if not isinstance(started, TurnStarted):
        raise ValueError("a turn's log begins with TurnStarted")
    for part, message in enumerate(started.opening):
        if part not in started.blanked:
            shown = _message(record, first, message, part)
            if started.origin == "added" and 0 < part == len(started.opening) - 1:
                shown.timestamp = iso(record.rows[-1].at)  # its rows keep when the turn began and when it ended
            yield shown


def _replies(record: TurnRecord, view: TurnView) -> Iterator[schemas.Message]:
    ends = {row.event.call_id: row for row in record.rows if isinstance(row.event, ToolFinished)}
    rows = (row for row in record.rows if isinstance(row.event, ModelReplied))
    for row, round_ in zip(rows, view.rounds, strict=True):
        reply = round_.reply
        if reply.blanked:
            continue
        shown = _message(
            record, row, ChatMessage("assistant", reply.text or None, reply.calls, reasoning=reply.reasoning)
        )
        if reply.provider not in ("", view.started.settings.provider):
            shown.model = f"{reply.provider}/{reply.model}"
        if reply.usage != Usage():
            shown.usage = _usage(reply.usage)
        if round_ is view.rounds[-1] and not reply.calls and (sources := record.sources):
            shown.sources = sources
            if unknown := citations(reply.text, len(sources)).unknown:
                shown.unknown_citations = list(unknown)
        yield shown
        for call in round_.calls:
            if end := ends.get(call.call.id):
                result = ChatMessage("tool", result_text(call), call_id=call.call.id, name=call.call.name)
                answered = _message(record, end, result)
                if call.finished and (files := files_shown(call.finished.output)):
                    answered.files = files
                yield answered


def _message(record: TurnRecord, row: Recorded, message: ChatMessage, part: int = 0) -> schemas.Message:
    shown = schemas.Message(
        id=_message_id(record.id, row.seq, part),
        role=message.role,
        content=message.content,
        timestamp=iso(row.at),
        turn_id=record.id,
    )
    if message.calls:
        shown.tool_calls = [_call_in_message(call) for call in message.calls]
    if message.call_id:
        shown.tool_call_id = message.call_id
    if message.name:
        shown.name = message.name
    if message.reasoning:
        shown.reasoning = message.reasoning
    if message.attached:
        shown.attached = [schemas.ShownAttachment(one.server, one.uri, one.text) for one in message.attached]
    return shown


def _message_id(turn_id: str, seq: int, part: int = 0) -> str:
    position = f"{seq}.{part}" if part else str(seq)
    return f"msg-{turn_id.partition('-')[2]}-{position}"


def _partial(record: TurnRecord) -> schemas.Message | None:
    """What was said before the last attempt broke off or was stopped. Never shown as an answer."""
    asked = [row for row in record.rows if isinstance(row.event, ModelFailed | ModelReplied)]
    if not asked or not isinstance(failed := asked[-1].event, ModelFailed) or not failed.partial:
        return None
    return _message(record, asked[-1], ChatMessage("assistant", failed.partial))


def _call_in_message(call: ToolCall) -> schemas.CallInMessage:
    return schemas.CallInMessage(id=call.id, function=schemas.FunctionCall(name=call.name, arguments=call.arguments))


def _call(record: TurnRecord, call: CallView) -> schemas.Call:
    times = {type(row.event): row.at for row in record.rows if _is_of(row.event, call.call.id)}
    end = call.finished
    began, ended = times.get(ToolStarted), times.get(ToolFinished)
    return schemas.Call(
        id=call.call.id,
        name=call.call.name,
        server_slug=_slug(record, call),
        arguments=_arguments(call),
        state="running" if call.call.id in record.questions or call.call.id in record.sign_ins else _state(call),
        rule=call.judged.rule if call.judged else "",
        hash=call.judged.tool_hash if call.judged else "",
        started_at=iso(began) if began else None,
        finished_at=iso(ended) if ended else None,
        result_id=(end.output.result_id or None) if end else None,
        repaired=list(call.call.repairs),
        cause=end.cause if end else "",
        result=result_text(call) if end and not end.blanked else None,
        files=files_shown(end.output) if end else [],
    )


def _state(call: CallView) -> CallStateShown:
    if call.finished:
        return call.finished.state
    if call.running:
        return "running"
    if call.interrupted and not call.safe and not call.resolved:
        return "unknown"
    if call.judged and call.judged.verdict == "ask" and not call.decided:
        return "awaiting_approval"
    return "queued"


def _waits_for(call: CallView, record: TurnRecord) -> PendingKind | None:
    if call.call.id in record.questions:
        return "input"
    if call.call.id in record.sign_ins:
        return "sign_in"
    match _state(call):
        case "awaiting_approval":
            return "approval"
        case "unknown":
            return "unknown"
        case _:
            return None


def _pending(record: TurnRecord, call: CallView, kind: PendingKind) -> schemas.PendingCall:
    pending = schemas.PendingCall(
        call_id=call.call.id,
        kind=kind,
        name=call.call.name,
        server_slug=_slug(record, call),
        arguments=_arguments(call),
        rule=call.judged.rule if call.judged else "",
        hash=call.judged.tool_hash if call.judged else "",
        why=_why(call, kind),
        step=call.judged.step if call.judged and kind == "approval" else 0,
        permission_id=(call.judged.permission if call.judged else "") or msgspec.UNSET,
        settle=_settle(record.id, call, kind, _slug(record, call)),
    )
    if question := record.questions.get(call.call.id):
        pending.question = question.message
        pending.question_schema = msgspec.json.decode(question.schema or "{}")
        pending.question_url = question.url or msgspec.UNSET
    return pending


def _why(call: CallView, kind: PendingKind) -> str:
    match kind:
        case "approval":
            return call.judged.rule if call.judged else ""
        case "unknown":
            return "It was sent, and Windlass was interrupted before the answer came: its outcome is unknown"
        case "input":
            return "The tool asks for input"
        case "sign_in":
            return "Its server asks for a sign-in first; nothing was sent"


def _settle(turn_id: str, call: CallView, kind: PendingKind, server: str) -> schemas.Settle:
    """For an approval: allow it, and such calls in this chat from now on, where a grant can do that. Elsewhere what
    does no harm."""
    path = f"/turns/{turn_id}/calls/{call.call.id}"
    match kind:
        case "approval":
            judged = call.judged
            body: dict[str, object] = {"decision": "allow", "hash": judged.tool_hash if judged else ""}
            if judged and judged.step > 2:  # not by a rule, and not because this very call is in doubt
                body |= {"scope": "conversation", "covers": "tool"}
            return schemas.Settle("POST", f"{path}/decision", body)
        case "unknown":
            return schemas.Settle("POST", f"{path}/resolve", {"as": "skip"})
        case "input":
            return schemas.Settle("POST", f"{path}/input", {"action": "decline"})
        case "sign_in":
            return schemas.Settle("POST", f"/servers/{server}/login", {})


def _is_of(event: Event, call_id: str) -> bool:
    return isinstance(event, ToolStarted | ToolFinished) and event.call_id == call_id


def _arguments(call: CallView) -> str:
    return (call.decided.arguments if call.decided else "") or call.call.arguments


def _slug(record: TurnRecord, call: CallView) -> str:
    server = call.judged.server if call.judged else ""
    return record.slugs.get(server) or server.removeprefix("server-")  # so begins the id of one from the settings


def _final(view: TurnView, messages: Sequence[schemas.Message]) -> schemas.Message | None:
    """The answer: the last reply, if it made no calls. What broke off or was stopped is no answer."""
    last = view.rounds[-1].reply if view.rounds else None
    return None if last is None or last.calls or last.blanked or last.promised else messages[-1]


def _answer(view: TurnView) -> str | None:
    last = view.rounds[-1].reply if view.rounds else None
    return last.text if last and not last.calls and not last.blanked and not last.promised else None


def _summary(view: TurnView) -> str:
    end = view.finished
    if end is None:
        return "Waiting for a person"
    if end.outcome == "answered":
        return search_problem(view) or COMPLETED
    return end.message or end.outcome.replace("_", " ").capitalize()


def search_problem(view: TurnView) -> str:
    """Why an answer that was to come from the web does not, for a person; "" where it does or need not."""
    settings = view.started.settings
    if not settings.query or _searched(view) or not view.finished:
        return ""
    if settings.search == "off":
        return "Web search is off, so no search was made."
    ends = [call.finished for call in view.calls if call.call.name == SEARCH_TOOL and call.finished]
    why = ends[-1].output.text.removeprefix(NO_SEARCH).partition(TOLD_TO_MODEL)[0] if ends else ""
    return f"{NO_SEARCH} {whole_sentences(why, LONGEST_REASON)}".strip()


def _searched(view: TurnView) -> bool:
    ran = any(
        call.call.name == SEARCH_TOOL and call.finished and call.finished.state == "ok"
        for call in view.by_call.values()
    )
    return ran or any(round_.reply.sources for round_ in view.rounds)


def _rounds(view: TurnView) -> int:
    """Tool rounds that were executed; the answer itself is none."""
    return sum(any(call.starts for call in round_.calls) for round_ in view.rounds)


def _usage(usage: Usage) -> schemas.TokenUsage:
    return schemas.TokenUsage(
        prompt_tokens=usage.prompt,
        completion_tokens=usage.completion,
        total_tokens=usage.prompt + usage.completion,
        cached_tokens=usage.cached,
        reasoning_tokens=usage.reasoning,
    )
