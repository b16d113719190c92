"""`/v1` for any OpenAI client: turns in OpenAI's words, whole or in chunks, errors too."""

import asyncio
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from starlette.types import Receive, Scope, Send

from windlass.api import schemas
from windlass.api.route import Route
from windlass.bus import Frame
from windlass.core.errors import WindlassError
from windlass.core.events import ModelReplied, Recorded, TurnFinished
from windlass.core.fold import TurnView
from windlass.core.messages import ToolCall
from windlass.core.ports import ReasoningDelta, ReplyReset, TextDelta
from windlass.core.prompt import numbered_sources
from windlass.services.completions import Completions
from windlass.turns.views import TurnRecord
from windlass.web.endpoints import Endpoint
from windlass.web.errors import Unauthorized, failure_status, status_of
from windlass.web.http import encode, headers_of, send_json
from windlass.web.principal import principal_of
from windlass.web.sse import HEADERS, PING_S, disconnected

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]
KINDS = {401: "authentication_error", 429: "rate_limit_error"}
NO_MODEL = "unknown_model"  # as a provider's server says it


class V1Endpoint(Endpoint):
    """Refusals come in OpenAI's form, which its clients read."""

    async def fail(self, send: Send, error: WindlassError) -> None:
        status = status_of(error)
        await send_json(send, status, _failed(status, error.message, error.code, error.detail), headers_of(error))


class CompletionEndpoint(V1Endpoint):
    def __init__(self, route: Route[..., Any], completions: Completions, most: int) -> None:
        super().__init__(route, completions.begin, most)
        self._completions = completions

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        (request,) = await self.arguments(scope, receive)
        turn_id = await self._completions.begin(request)
        work = asyncio.ensure_future(
            self._stream(turn_id, request, send) if request.stream else self._whole(turn_id, send)
        )
        gone = asyncio.ensure_future(disconnected(receive))
        ended = asyncio.get_running_loop().create_future()
        try:
            with principal_of(scope).reading(lambda: None if ended.done() else ended.set_result(None)):
                await asyncio.wait({work, gone, ended}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
                return
            await self._completions.end(turn_id)
        finally:
            work.cancel()
            gone.cancel()
        if ended.done():
            await self._break_off(request, send)

    async def _break_off(self, request: schemas.CompletionRequest, send: Send) -> None:
        """The token was revoked: as much as was sent stays the whole of it."""
        if not request.stream:
            raise Unauthorized("The token was revoked while the answer was made.", hint="Use another token.")
        await send({"type": "http.response.body", "body": b""})

    async def _whole(self, turn_id: str, send: Send) -> None:
        record = await self._completions.finished(turn_id)
        end = record.view.finished
        if end is None or end.outcome in {"failed", "stopped"}:
            cause, message = (end.cause, end.message) if end else ("stopped", "The turn did not end.")
            failed = _upstream(cause, message)
            await send_json(send, 404 if cause == NO_MODEL else failure_status(cause), failed)
        else:
            await send_json(send, 200, completion(record))

    async def _stream(self, turn_id: str, request: schemas.CompletionRequest, send: Send) -> None:
        wants_usage = request.stream_options is not None and request.stream_options.include_usage
        stream = self._completions.watch(turn_id)
        exchange = Exchange(self._completions.record(turn_id))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            await _say(send, exchange.opening())
            while not stream.ended:
                try:
                    async with asyncio.timeout(PING_S):
                        frames = await stream.frames()
                except TimeoutError:
                    await send({"type": "http.response.body", "body": b": ping\n\n", "more_body": True})
                    continue
                for frame in frames:
                    stream.passed(frame)
                    await _say(send, *exchange.chunks(frame))
            await _say(send, *exchange.closing(self._completions.record(turn_id), wants_usage))
            await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})
        finally:
            stream.close()


class Exchange:
    """What to say of each frame. Text that was sent cannot be taken back: after a reply broke off, the next attempt is
    held until it is whole, and only what is new of it is sent."""

    def __init__(self, record: TurnRecord) -> None:
        self._head = _ChunkHead(record)
        self._sent = ""
        self._held = False

    def opening(self) -> schemas.Chunk:
        return self._head.chunk(schemas.V1Message(role="assistant", content=""))

    def chunks(self, frame: Frame) -> Iterator[schemas.Chunk]:
        match frame.what:
            case TextDelta(text=text) if not self._held:
                self._sent += text
                yield self._head.chunk(schemas.V1Message(content=text))
            case ReasoningDelta(text=text) if not self._held:
                yield self._head.chunk(schemas.V1Message(reasoning_content=text))
            case ReplyReset():
                self._held = bool(self._sent)
            case Recorded(event=ModelReplied(text=text)):
                missing = text.removeprefix(self._sent) if text.startswith(self._sent) else f"\n\n{text}"
                self._sent, self._held = "", False
                if missing:
                    yield self._head.chunk(schemas.V1Message(content=missing))

    def closing(self, record: TurnRecord, wants_usage: bool) -> Iterator[schemas.Chunk | schemas.V1Failed]:
        view = record.view
        if view.finished is None or view.finished.outcome in {"failed", "stopped"}:
            cause, message = (view.finished.cause, view.finished.message) if view.finished else ("stopped", "Stopped.")
            yield _upstream(cause, message)
            return
        calls = [msgspec.structs.replace(call, index=index) for index, call in enumerate(_handed_over(view))]
        last = schemas.V1Message(tool_calls=calls or msgspec.UNSET, annotations=_annotations(view))
        if calls or last.annotations:
            yield self._head.chunk(last)
        yield self._head.chunk(schemas.V1Message(), finish_reason(view))
        if wants_usage:
            yield self._head.usage_chunk(view)


class _ChunkHead:
    def __init__(self, record: TurnRecord) -> None:
        self.id = f"chatcmpl-{record.id.partition('-')[2]}"
        self.created = int(record.rows[0].at)
        self.model = record.view.asked.model

    def chunk(self, delta: schemas.V1Message, finish: str | None = None) -> schemas.Chunk:
        return schemas.Chunk(self.id, self.created, self.model, [schemas.V1Delta(delta, finish)])

    def usage_chunk(self, view: TurnView) -> schemas.Chunk:
        return schemas.Chunk(self.id, self.created, self.model, [], _usage(view))


def completion(record: TurnRecord) -> schemas.Completion:
    view = record.view
    head = _ChunkHead(record)
    last = view.rounds[-1].reply if view.rounds else None
    calls = _handed_over(view)
    message = schemas.V1Message(
        role="assistant",
        content=(last.text or None) if last else None,
        reasoning_content=(last.reasoning or msgspec.UNSET) if last else msgspec.UNSET,
        tool_calls=calls or msgspec.UNSET,
        annotations=_annotations(view),
    )
    choice = schemas.V1Choice(message, finish_reason(view))
    return schemas.Completion(head.id, head.created, head.model, [choice], _usage(view))


def finish_reason(view: TurnView) -> FinishReason:
    end = view.finished or TurnFinished("stopped")
    if end.outcome == "handed_over":
        return "tool_calls"
    return "length" if end.outcome == "limit" and end.cause == "length" else "stop"


def _handed_over(view: TurnView) -> list[schemas.V1Call]:
    if not view.rounds or not view.finished or view.finished.outcome != "handed_over":
        return []
    return [
        _call(call.call)
        for call in view.rounds[-1].calls
        if call.judged is not None and call.judged.refusal == "handed_over"
    ]


def _call(call: ToolCall) -> schemas.V1Call:
    return schemas.V1Call(call.id, schemas.V1Function(call.name, call.arguments))


def _annotations(view: TurnView) -> list[schemas.Annotation] | msgspec.UnsetType:
    found = [schemas.Annotation(schemas.UrlCitation(source.url, source.title)) for source, _ in numbered_sources(view)]
    return found or msgspec.UNSET


def _usage(view: TurnView) -> schemas.V1Usage:
    used = view.usage
    return schemas.V1Usage(used.prompt, used.completion, used.prompt + used.completion)


def _upstream(cause: str, message: str) -> schemas.V1Failed:
    if cause == NO_MODEL:
        return _failed(404, message, "model_not_found", {"path": "model"})
    return _failed(failure_status(cause), message, cause, None)


def _failed(status: int, message: str, code: str, detail: object) -> schemas.V1Failed:
    kind = KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    param = detail.get("path") if isinstance(detail, dict) else None
    return schemas.V1Failed(schemas.V1Error(message, kind, code, param))


async def _say(send: Send, *chunks: schemas.Chunk | schemas.V1Failed) -> None:
    if chunks:
        body = b"".join(b"data: " + encode(chunk) + b"\n\n" for chunk in chunks)
        await send({"type": "http.response.body", "body": body, "more_body": True})
