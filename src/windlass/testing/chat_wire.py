"""The chat-completions wire: a scripted reply in its bytes, streamed or whole, and how providers differ on it (paths,
error bodies, refusals). Pure: pauses stay as values, and `strict_llm` does the sending."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import chain, cycle
from typing import Literal

from windlass.core.values import value_object
from windlass.testing.replies import (
    Failure,
    Hang,
    Headers,
    Pause,
    RawDelta,
    RawEvent,
    Reasoning,
    ScriptedCall,
    ScriptedReply,
    ScriptedUsage,
    Text,
)
from windlass.testing.strict_history import OPENAI as OPENAI_RULES
from windlass.testing.strict_history import ZAI as ZAI_RULES
from windlass.testing.strict_history import Rules

Step = bytes | Pause | Headers | Hang
Ground = Literal["no key", "wrong key", "parameter", "history", "model", "script"]


@value_object
class Dialect:
    name: Literal["openai", "zai"]
    base_path: str
    rules: Rules
    refusals: dict[Ground, tuple[int, str | None]]
    usage_at_end: bool = False
    searches: bool = False

    def refusal(self, ground: Ground, message: str) -> Failure:
        status, code = self.refusals[ground]
        return Failure(status, code, message, {})

    def error_body(self, failure: Failure) -> dict[str, object]:
        if self.name == "zai":
            return {"error": {"code": failure.code or "1210", "message": failure.message}}
        kind = _OPENAI_KINDS.get(failure.status, "server_error" if failure.status >= 500 else "invalid_request_error")
        return {"error": {"message": failure.message, "type": kind, "param": None, "code": failure.code}}


_OPENAI_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}

OPENAI = Dialect(
    name="openai",
    base_path="/v1",
    rules=OPENAI_RULES,
    refusals={
        "no key": (401, None),
        "wrong key": (401, "invalid_api_key"),
        "parameter": (400, None),
        "history": (400, None),
        "model": (404, "model_not_found"),
        "script": (400, "script"),
    },
)

ZAI = Dialect(
    name="zai",
    base_path="/api/paas/v4",
    rules=ZAI_RULES,
    refusals={
        "no key": (401, "1001"),
        "wrong key": (401, "1000"),
        "parameter": (400, "1210"),
        "history": (400, "1214"),
        "model": (400, "1211"),
        "script": (400, "1210"),
    },
    usage_at_end=True,
    searches=True,
)

ZAI_CODING = Dialect(
    name="zai",
    base_path="/api/coding/paas/v4",
    rules=ZAI_RULES,
    refusals=ZAI.refusals,
    usage_at_end=True,
)


@value_object
class Answering:
    """What of the request, and of the provider's manners, shapes the bytes of the answer."""

    number: int
    model: str
    prompt_chars: int
    stream: bool = False
    usage_chunk: bool = False
    usage_at_end: bool = False
    whole_arguments: bool = False
    reasoning: bool = True
    web_search: tuple[dict[str, str], ...] = field(default=())
    choices: int = 1  # of an answer that is not streamed
    logprobs: bool = False
    top_logprobs: int = 0
    marks: dict[str, str] = field(default_factory=dict)  # top-level fields that repeat something of the request

    @property
    def completion_id(self) -> str:
        return f"chatcmpl-{self.number}"

    def call_id(self, index: int) -> str:
        return f"call_{self.number}_{index}"


def answer_steps(reply: ScriptedReply, answering: Answering) -> Iterator[Step]:
    """Everything the reply sends, in order, with its pauses."""
    if answering.stream:
        yield from _streamed(reply, answering)
        return
    yield from (part for part in reply.parts if isinstance(part, Pause | Headers | Hang))
    yield _encoded(_completion(reply, answering))


def answer_body(reply: ScriptedReply, answering: Answering) -> bytes:
    """The whole body, for tests that cut it at every offset."""
    return b"".join(step for step in answer_steps(reply, answering) if isinstance(step, bytes))


def limited(steps: Iterable[Step], limit: int) -> Iterator[Step]:
    left = limit
    for step in steps:
        if left <= 0:
            return
        if isinstance(step, bytes):
            yield step[:left]
            left -= len(step)
        else:
            yield step


def resliced(steps: Iterable[Step], sizes: Sequence[int]) -> Iterator[Step]:
    """The same bytes in writes of the given sizes; a pause flushes what came before it."""
    size, held = cycle(sizes), b""
    wanted = next(size)
    for step in chain(steps, [None]):
        if isinstance(step, bytes):
            held += step
            while len(held) >= wanted:
                yield held[:wanted]
                held, wanted = held[wanted:], next(size)
            continue
        if held:
            yield held
            held = b""
        if step is not None:
            yield step


def _completion(reply: ScriptedReply, answering: Answering) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning and answering.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [_whole_call(call, index, answering) for index, call in enumerate(reply.calls)]
    else:
        message["content"] = reply.text
    texts = [part.text for part in reply.parts if isinstance(part, Text)]
    choice = {"message": message, "finish_reason": _finish_reason(reply), "logprobs": _logprobs(texts, answering)}
    choices = [{"index": index, **choice} for index in range(answering.choices)]
    body: dict[str, object] = {**_envelope(answering, "chat.completion"), "choices": choices}
    if usage := _usage(reply, answering):
        body["usage"] = usage
    if answering.web_search:
        body["web_search"] = list(answering.web_search)
    return body


def _whole_call(call: ScriptedCall, index: int, answering: Answering) -> dict[str, object]:
    call_id = answering.call_id(index) if call.id is None else call.id
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _streamed(reply: ScriptedReply, answering: Answering) -> Iterator[Step]:
    yield from _lead(reply)
    yield _chunk(answering, {"role": "assistant", "content": ""})
    calls = 0
    for part in reply.parts[_lead_length(reply) :]:
        match part:
            case ScriptedCall():
                yield from _call_chunks(part, calls, reply.piece_chars, answering)
                calls += 1
            case Text(text):
                yield from (_chunk(answering, {"content": piece}) for piece in _pieces(text, reply.piece_chars))
            case Reasoning(text):
                if answering.reasoning:
                    pieces = _pieces(text, reply.piece_chars)
                    yield from (_chunk(answering, {"reasoning_content": piece}) for piece in pieces)
            case RawDelta(delta):
                yield _chunk(answering, dict(delta))
            case RawEvent(payload):
                yield f"data: {payload}\n\n".encode()
            case Pause() | Headers() | Hang():
                yield part
    yield from _tail(reply, answering)


def _lead(reply: ScriptedReply) -> Iterator[Step]:
    """Pauses at the very front come before the first byte, even before the role chunk."""
    for part in reply.parts[: _lead_length(reply)]:
        if isinstance(part, Pause | Headers | Hang):
            yield part


def _lead_length(reply: ScriptedReply) -> int:
    for index, part in enumerate(reply.parts):
        if not isinstance(part, Pause | Headers | Hang):
            return index
    return len(reply.parts)


def _call_chunks(call: ScriptedCall, index: int, piece_chars: int | None, answering: Answering) -> Iterator[bytes]:
    whole = _whole_call(call, index, answering)
    if answering.whole_arguments:
        yield _chunk(answering, {"tool_calls": [{"index": index, **whole}]})
        return
    opening = {**whole, "function": {"name": call.name, "arguments": ""}}
    yield _chunk(answering, {"tool_calls": [{"index": index, **opening}]})
    for piece in _pieces(call.arguments, piece_chars):
        yield _chunk(answering, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def _tail(reply: ScriptedReply, answering: Answering) -> Iterator[bytes]:
    usage = _usage(reply, answering)
    reason = _finish_reason(reply)
    if reason is not None:
        extra: dict[str, object] = {"usage": usage} if usage and answering.usage_at_end else {}
        if answering.web_search:
            extra["web_search"] = list(answering.web_search)
        yield _chunk(answering, {}, reason, extra)
    if usage and answering.usage_chunk and not answering.usage_at_end:
        yield _event({**_envelope(answering, "chat.completion.chunk"), "choices": [], "usage": usage})
    if reply.done:
        yield b"data: [DONE]\n\n"


def _chunk(
    answering: Answering,
    delta: dict[str, object],
    finish_reason: str | None = None,
    extra: dict[str, object] | None = None,
) -> bytes:
    choice: dict[str, object] = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    if answering.logprobs and isinstance(text := delta.get("content"), str) and text:
        choice["logprobs"] = _logprobs([text], answering)
    return _event({**_envelope(answering, "chat.completion.chunk"), "choices": [choice], **(extra or {})})


def _envelope(answering: Answering, kind: str) -> dict[str, object]:
    envelope = {"id": answering.completion_id, "object": kind, "created": 1_700_000_000, "model": answering.model}
    return {**envelope, **answering.marks}


def _logprobs(tokens: Iterable[str], answering: Answering) -> dict[str, object] | None:
    """Each piece of text counts as one token, of which the model was sure."""
    if not answering.logprobs:
        return None
    top = [{"token": f"other{n}", "logprob": -9.0 - n, "bytes": None} for n in range(answering.top_logprobs)]
    return {
        "content": [{"token": token, "logprob": -0.1, "bytes": None, "top_logprobs": top} for token in tokens],
        "refusal": None,
    }


def _finish_reason(reply: ScriptedReply) -> str | None:
    if reply.finish_reason == "natural":
        return "tool_calls" if reply.calls else "stop"
    return reply.finish_reason


def _usage(reply: ScriptedReply, answering: Answering) -> dict[str, object] | None:
    if reply.usage is None:
        return None
    usage = _natural_usage(reply, answering) if reply.usage == "natural" else reply.usage
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _natural_usage(reply: ScriptedReply, answering: Answering) -> ScriptedUsage:
    chars = len(reply.text) + len(reply.reasoning) + sum(len(c.name) + len(c.arguments) for c in reply.calls)
    return ScriptedUsage(
        prompt=1 + answering.prompt_chars // 4, completion=1 + chars // 4, reasoning=len(reply.reasoning) // 4
    )


def _pieces(text: str, chars: int | None) -> list[str]:
    if chars is None:
        return [text]
    return [text[start : start + chars] for start in range(0, len(text), chars)] or [""]


def _event(payload: dict[str, object]) -> bytes:
    return b"data: " + _encoded(payload) + b"\n\n"


def _encoded(payload: dict[str, object]) -> bytes:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
