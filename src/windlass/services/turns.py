"""Turns: start one with a message, read it, watch it, stop it, decide its calls, continue or retry it."""

import json
from dataclasses import replace
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.bus import Bus
from windlass.bus.streams import Stream
from windlass.core.actor import current_actor
from windlass.core.errors import BadInput, Conflict, ModelError, NotFound, Unavailable, WindlassError
from windlass.core.events import (
    CallDecided,
    CallJudged,
    CallResolved,
    Event,
    ModelFailed,
    ModelReplied,
    ToolFinished,
    TurnFinished,
)
from windlass.core.fold import CallView, fold
from windlass.core.ids import call_id as position_id
from windlass.core.ids import new_id
from windlass.core.messages import ChatMessage, ToolCall
from windlass.core.ports import ModelRequest
from windlass.core.prompt import past_turn, prompt_for, why_moved
from windlass.providers import Models, OpenAIChat, profile_for
from windlass.providers.byte_cache import ByteCache
from windlass.providers.encoding import Encoder, filled
from windlass.providers.media import NO_MEDIA, described
from windlass.runner import Runner
from windlass.servers import InputReply
from windlass.services.conversations import title_from
from windlass.services.decisions import grant_wanted
from windlass.services.offered import McpOffers
from windlass.services.tools import ConversationTools
from windlass.store import HEAD, Created, Store
from windlass.toolbox import Toolbox
from windlass.toolbox.permissions import Grant
from windlass.toolbox.schemas import Checker
from windlass.toolbox.tool_list import listed_toolset
from windlass.turns.records import TurnRecords, TurnWaiter
from windlass.turns.setup import TurnBuilder, TurnRequest
from windlass.turns.views import TurnRecord, chat_answer, event_shown, turn_shown, turn_state

STOP_S = 2
GOES_ON = {"limit", "stopped", "failed"}


class Turns:
    def __init__(
        self,
        *,
        store: Store,
        bus: Bus,
        runner: Runner,
        turn_builder: TurnBuilder,
        toolbox: Toolbox,
        models: Models,
        records: TurnRecords,
        tools: ConversationTools,
        offered: McpOffers,
        waiting: TurnWaiter,
    ) -> None:
        self._store = store
        self._bus = bus
        self._runner = runner
        self._turn_builder = turn_builder
        self._toolbox = toolbox
        self._models = models
        self._records = records
        self._tools = tools
        self._offered = offered
        self._waiting = waiting

    @serves(routes.turns.chat)
    async def chat(self, conversation_id: str, request: schemas.ChatRequest) -> schemas.ChatAnswer:
        """Waits for the answer, however long; a turn that needs a person comes back as it stands."""
        record = await self._settled(conversation_id, request)
        return chat_answer(record, self._tools.unavailable(conversation_id))

    async def ask(self, conversation_id: str, request: schemas.ChatRequest) -> schemas.Turn:
        """As `chat`, for a program that wants the turn itself."""
        return turn_shown(await self._settled(conversation_id, request))

    async def _settled(self, conversation_id: str, request: schemas.ChatRequest) -> TurnRecord:
        turn_id = (await self._begin(conversation_id, request)).turn_id
        await self._waiting.settled(turn_id)
        record = self._records.get(turn_id)
        if turn_state(record) == "running":
            raise Unavailable(
                "Windlass is shutting down; the turn goes on at the next start.",
                hint="Ask for the turn again in a moment.",
                code="shutting_down",
                detail={"turn_id": turn_id, "retry_after": 5},
            )
        return record

    async def chat_watched(self, conversation_id: str, request: schemas.ChatRequest) -> Stream:
        turn_id = new_id("turn")
        stream = self._records.stream_of_unborn(conversation_id, turn_id)
        try:
            created = await self._begin(conversation_id, request, turn_id)
        except BaseException:  # the stream is not handed out, so it is closed here; a disconnected caller is one case
            stream.close()
            raise
        if created.is_new:
            return stream
        stream.close()
        return self._records.turn_stream(created.turn_id)

    @serves(routes.turns.get)
    async def get(self, turn_id: str, query: schemas.WaitQuery) -> schemas.TurnAnswer:
        record = self._records.get(turn_id)
        if query.wait and turn_state(record) == "running":
            await self._waiting.settled(turn_id, query.wait)
            record = self._records.get(turn_id)
        return schemas.TurnAnswer(turn_shown(record))

    @serves(routes.turns.events)
    async def events(self, turn_id: str, after: int) -> Stream:
        return self.watch(turn_id, after)

    def watch(self, turn_id: str, after: int = 0) -> Stream:
        return self._records.turn_stream(turn_id, after)

    @serves(routes.turns.log)
    async def log(self, turn_id: str) -> schemas.EventLog:
        record = self._records.get(turn_id)
        events = [event_shown(record, row) for row in record.rows]
        return schemas.EventLog(events, len(events))

    @serves(routes.turns.prompt)
    async def prompt(self, turn_id: str, query: schemas.PromptQuery) -> schemas.PromptSent:
        """A request follows from the log before its reply, so it can be made again to the letter."""
        events = self._records.get(turn_id).events
        answered = [index for index, event in enumerate(events) if isinstance(event, ModelReplied | ModelFailed)]
        under_way = not isinstance(events[-1], TurnFinished)
        ends = [*answered, len(events)] if under_way else answered
        if query.request > len(ends):
            raise NotFound(
                f"This turn has sent {len(ends)} requests.",
                hint="They are counted from 1.",
                detail={"requests": len(ends)},
            )
        end = ends[query.request - 1]
        body, moved = await self._request(turn_id, events[:end], events[end : end + 1])
        return schemas.PromptSent(query.request, len(ends), body, list(moved))

    @serves(routes.turns.stop)
    async def stop(self, turn_id: str) -> schemas.TurnAnswer:
        await self._runner.stop(turn_id)
        await self._runner.settled(turn_id, STOP_S)
        outcome = self._records.get(turn_id).outcome
        return self._shown(turn_id, "Stopped" if outcome in {None, "stopped"} else "Finished already")

    @serves(routes.turns.stop_call)
    async def stop_call(self, turn_id: str, call_id: str) -> schemas.TurnAnswer:
        await self._runner.stop(turn_id, call_id)
        await self._waiting.until(self._records.turn_stream(turn_id), lambda event: _ends(event, call_id), STOP_S)
        ended = _call(self._records.get(turn_id), call_id).finished
        return self._shown(turn_id, "Finished already" if ended and ended.state in {"ok", "error"} else "Stopped")

    @serves(routes.turns.decide)
    async def decide(self, turn_id: str, call_id: str, request: schemas.Decision) -> schemas.TurnAnswer:
        record = self._records.get(turn_id)
        call = _call(record, call_id)
        if call.decided or call.finished:
            return self._decided(turn_id, call_id, "Decided already")
        self._check_unchanged(record, call, request.hash)
        if call.judged is None or call.judged.verdict != "ask":
            raise Conflict("This call does not wait for approval.", code="not_waiting")
        allow = request.decision == "allow"
        arguments = self._edited(record, call, request.arguments) if allow and request.arguments is not None else ""
        if allow and not arguments:
            self._check_not_denied(record, call)
        grant = self._grant(record, call, call.judged, request, arguments)
        # The grant first: a decision that landed without it would have lost what the person wanted.
        saved = await self._toolbox.permissions.grant(record.conversation_id, grant) if grant else None
        permission = saved.id if saved else ""
        decided = CallDecided(call_id, allow, request.scope, arguments, request.reason, current_actor(), permission)
        landed = await self._runner.decide(turn_id, decided)
        if saved and saved.is_new and not landed:
            await self._take_back(turn_id, call_id, saved.id)
        return self._decided(turn_id, call_id, "Decided" if landed else "Decided already")

    @serves(routes.turns.resolve)
    async def resolve(self, turn_id: str, call_id: str, request: schemas.Resolution) -> schemas.TurnAnswer:
        landed = await self._runner.resolve(turn_id, CallResolved(call_id, request.as_, current_actor()))
        return self._shown(turn_id, "Resolved" if landed else "Resolved already")

    @serves(routes.turns.answer)
    async def answer(self, turn_id: str, call_id: str, request: schemas.InputAnswer) -> schemas.TurnAnswer:
        if _call(self._records.get(turn_id), call_id).finished:
            raise Conflict("This call has ended.", code="not_waiting")
        runs = await self._toolbox.questions.answer(call_id, InputReply(request.action, request.content))
        self._bus.answered(turn_id, call_id)
        if not runs:
            await self._runner.resolve(turn_id, CallResolved(call_id, "retry", current_actor()))
        return self._shown(turn_id, "Answered")

    @serves(routes.turns.continue_)
    async def continue_(self, turn_id: str, request: schemas.Continue) -> schemas.TurnAnswer:
        record = self._records.get(turn_id)
        self._check_own(record.conversation_id)
        if record.outcome not in GOES_ON:
            raise Conflict(
                "Only a turn that reached a limit, was stopped or failed can be continued.",
                code="not_continuable",
                detail={"outcome": record.outcome},
            )
        return await self._child(record, self._nudge(record), "continue", request.rounds)

    @serves(routes.turns.retry)
    async def retry(self, turn_id: str, request: schemas.Retry) -> schemas.TurnAnswer:
        """The same message again, as a sibling. A turn that searched searches again."""
        record = self._finished(turn_id)
        started = record.view.started
        opening = tuple(m for index, m in enumerate(started.opening) if index not in started.blanked)
        if not opening:
            raise Conflict("There is no message to answer again.", code="nothing_to_retry")
        searched = started.settings.search != "off"
        search = "on" if request.web_search == "auto" and searched else request.web_search
        wanted = TurnRequest(
            opening, record.parent_id, model=request.model, web_search=search, origin="retry", asks=_asks(record)
        )
        return self._shown((await self._start(record.conversation_id, wanted)).turn_id, "Answering again")

    @serves(routes.turns.retry_call)
    async def retry_call(self, turn_id: str, call_id: str) -> schemas.TurnAnswer:
        """A child turn that begins with this very call, judged anew."""
        record = self._finished(turn_id)
        call = _call(record, call_id)
        if call.finished is None or call.finished.state == "ok":
            raise Conflict("Only a call that failed can be run again.", code="not_failed")
        if call.finished.blanked:
            raise Conflict("This call was deleted.", code="not_failed")
        wanted = TurnRequest((), turn_id, model=_model(record), origin="call_retry", asks=_asks(record))
        started = await self._turn_builder.build(record.conversation_id, wanted)
        child_id = new_id("turn")
        arguments = (call.decided.arguments if call.decided else "") or call.call.arguments
        again = ToolCall(position_id(child_id, 1, 0), call.call.name, arguments)
        replied = ModelReplied("", (again,), finish="tool_calls", model=started.settings.model)
        judged = self._toolbox.for_turn(record.conversation_id, child_id, started).judge(again, (started,))
        following: list[Event] = [replied, judged]
        if call.starts and judged.verdict == "ask" and _same_tool(judged, call.judged):
            # Somebody who may approve calls asks for this very one, which ran before and may have had its effect.
            following.append(CallDecided(again.id, allow=True, by=current_actor()))
        created = await self._runner.start(
            record.conversation_id, started, *following, parent_id=turn_id, turn_id=child_id
        )
        return self._shown(created.turn_id, "Running the call again")

    @serves(routes.turns.result)
    async def result(self, result_id: str, query: schemas.PieceQuery) -> schemas.ResultPiece:
        """Offsets count bytes; a piece never ends within a character."""
        piece = await self._store.result(result_id, query.offset, query.length)
        body = _whole_characters(piece.body) if query.offset + len(piece.body) < piece.size else piece.body
        end = query.offset + len(body)
        return schemas.ResultPiece(
            result_id,
            body.decode("utf-8", "replace"),
            query.offset,
            len(body),
            piece.size,
            end if end < piece.size else None,
        )

    async def _begin(self, conversation_id: str, request: schemas.ChatRequest, turn_id: str = "") -> Created:
        self._check_own(conversation_id)
        await self._tools.arrived(conversation_id)
        parent = HEAD if isinstance(request.parent_turn_id, msgspec.UnsetType) else request.parent_turn_id
        attached = await self._offered.attached(conversation_id, request.attachments)
        wanted = TurnRequest(
            (ChatMessage("user", request.content, attached=attached),),
            parent,
            request.client_message_id,
            request.model,
            request.temperature,
            request.web_search,
            request.max_rounds,
            asks=request.asks,
        )
        return await self._start(conversation_id, wanted, turn_id)

    async def _start(self, conversation_id: str, wanted: TurnRequest, turn_id: str = "") -> Created:
        started = await self._turn_builder.build(conversation_id, wanted)
        title = title_from(started.opening[-1].content or "") if started.opening else ""
        return await self._runner.start(
            conversation_id, started, parent_id=wanted.parent_id, turn_id=turn_id, title=title
        )

    async def _child(
        self, record: TurnRecord, opening: tuple[ChatMessage, ...], origin: Any, rounds: int | None
    ) -> schemas.TurnAnswer:
        wanted = TurnRequest(
            opening, record.id, model=_model(record), max_rounds=rounds, origin=origin, asks=_asks(record)
        )
        return self._shown((await self._start(record.conversation_id, wanted)).turn_id, "Continuing")

    async def _request(
        self, turn_id: str, before: list[Event], answer: list[Event]
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        view = fold(before)
        settings = view.asked
        past = await self._store.history.before(turn_id, view.history_from)
        attempt = len(view.failures) + 1
        tools = listed_toolset(self._store.toolset(settings.toolset), view)
        request = ModelRequest(turn_id, settings, prompt_for(before, past, self._store.history.fence), tools, attempt)
        sent = next((event.media for event in answer if isinstance(event, ModelReplied)), "")
        body, media = await request_shown(self._models, request, sent)
        return body, why_moved(view, past, tools.hash, media)

    def _nudge(self, record: TurnRecord) -> tuple[ChatMessage, ...]:
        """After an answer something must be said to get another; after a question or a result nothing need be."""
        messages = past_turn(record.id, record.events, self._store.history.fence).messages
        return (ChatMessage("user", "Continue."),) if not messages or messages[-1].role == "assistant" else ()

    def _finished(self, turn_id: str) -> TurnRecord:
        record = self._records.get(turn_id)
        if record.outcome is None:
            raise Conflict(
                f"Turn {turn_id} is still under way.",
                hint="Wait for it, or stop it.",
                code="turn_running",
                detail={"turn_id": turn_id},
            )
        self._check_own(record.conversation_id)
        return record

    def _check_own(self, conversation_id: str) -> None:
        """A program's calls over MCP stand there, and it knows of no others."""
        if self._store.conversations.get(conversation_id).client:
            raise Conflict(
                "Only the program whose calls these are makes calls here.",
                hint="Start a chat of your own.",
                code="calls_of_a_program",
            )

    def _shown(self, turn_id: str, message: str) -> schemas.TurnAnswer:
        return schemas.TurnAnswer(turn_shown(self._records.get(turn_id)), message=message)

    def _decided(self, turn_id: str, call_id: str, message: str) -> schemas.TurnAnswer:
        answer, decided = self._shown(turn_id, message), _call(self._records.get(turn_id), call_id).decided
        answer.permission_id = (decided.permission if decided else "") or UNSET
        return answer

    def _grant(
        self, record: TurnRecord, call: CallView, judged: CallJudged, request: schemas.Decision, arguments: str
    ) -> Grant | None:
        spec = self._toolbox.for_turn(record.conversation_id, record.id, record.view.started).spec_of(call.call)
        sent = replace(call.call, arguments=arguments) if arguments else call.call
        return grant_wanted(request, judged, spec, sent) if spec else None

    async def _take_back(self, turn_id: str, call_id: str, grant_id: str) -> None:
        """Another decision was first. Its grant may be this very one: the same approval is saved once."""
        decided = _call(self._records.get(turn_id), call_id).decided
        if decided is None or decided.permission != grant_id:
            await self._toolbox.permissions.revoke(grant_id, remember=False)  # it was never given

    def _check_unchanged(self, record: TurnRecord, call: CallView, hash: str) -> None:
        judged = call.judged.tool_hash if call.judged else ""
        if hash and hash != judged:
            raise Conflict("This is not the definition that waits here.", hint="Look at the call again.", code="hash")
        toolset = self._store.toolset(record.view.started.settings.toolset)
        spec = toolset.by_name.get(call.call.name)
        try:
            offer = self._toolbox.offer(spec.server, spec.tool) if spec else None
        except WindlassError:  # the server does not run now; the hash is compared again when the call is sent
            return
        if offer and spec and not offer.has(spec.hash):
            raise Conflict(
                "The tool changed while this waited.", hint="Look at the change before you decide.", code="tool_changed"
            )

    def _check_not_denied(self, record: TurnRecord, call: CallView) -> None:
        """A rule that came after the question: nothing lifts a deny."""
        tools = self._toolbox.for_turn(record.conversation_id, record.id, record.view.started)
        judged = tools.judge(call.call, record.events)
        if judged.verdict == "refuse" and judged.step == 1:
            raise Conflict(judged.reason, hint="Deny the call, or change what forbids it.", code=judged.refusal)

    def _edited(self, record: TurnRecord, call: CallView, arguments: dict[str, Any]) -> str:
        toolset = self._store.toolset(record.view.started.settings.toolset)
        spec = toolset.by_name.get(call.call.name)
        errors = Checker(json.loads(spec.schema)).errors(arguments) if spec else []
        if errors:
            raise BadInput(f"arguments: {'; '.join(errors)}", detail={"path": "arguments", "errors": errors})
        text = json.dumps(arguments, ensure_ascii=False)
        tools = self._toolbox.for_turn(record.conversation_id, record.id, record.view.started)
        judged = tools.judge(ToolCall(call.call.id, call.call.name, text), record.events)
        if judged.verdict == "refuse":
            raise BadInput(f"arguments: {judged.reason}", code=judged.refusal, detail={"path": "arguments"})
        return text


def _call(record: TurnRecord, call_id: str) -> CallView:
    found = record.view.by_call.get(call_id)
    if found is None:
        raise NotFound(
            f"There is no call {call_id[:100]} in turn {record.id}.", hint="GET /turns/{id} shows its calls."
        )
    return found


def _same_tool(now: CallJudged, before: CallJudged | None) -> bool:
    """Of the same server, by the same definition: another may have taken over the name."""
    return before is not None and (now.server, now.tool_hash) == (before.server, before.tool_hash)


def _ends(event: Event, call_id: str) -> bool:
    return isinstance(event, TurnFinished) or (isinstance(event, ToolFinished) and event.call_id == call_id)


def _model(record: TurnRecord) -> str:
    settings = record.view.started.settings
    return f"{settings.provider}/{settings.model}" if settings.provider and settings.model else settings.model


def _asks(record: TurnRecord) -> Literal["wait", "refuse"]:
    """Who did not want to be asked in a turn does not want to be asked in the one that takes it up."""
    return record.view.started.settings.asks


def _whole_characters(body: bytes) -> bytes:
    """Without the first bytes of a character whose rest is in the next piece."""
    for back in range(1, min(4, len(body)) + 1):
        byte = body[-back]
        if byte & 0b1100_0000 != 0b1000_0000:
            length = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return body[:-back] if length > back and len(body) > back else body
    return body


async def request_shown(models: Models, request: ModelRequest, media_sent: str) -> tuple[dict[str, Any], str]:
    """The body, and how it shows pictures and sounds: with a note where their bytes stand. For a model without a wire,
    or one that is gone, the common form stands in."""
    settings = request.settings
    try:
        model = models.model(settings.provider)
    except ModelError:
        model = None
    if isinstance(model, OpenAIChat):
        media = described(await model.media_in(request), request, media_sent)
        body = model.body(request, media)
    else:
        media = described(NO_MEDIA, request, media_sent)
        encoder = Encoder(settings.provider, ByteCache())
        form = encoder.body(request, profile_for("", settings.model), settings.model, settings.temperature, media)
        body = filled(form, request.prompt, media)
    shown: dict[str, Any] = msgspec.json.decode(body)
    return shown, media.signature
