"""A reply put together from the chunks of a stream, or from one whole body. No I/O.

Valid streams come out as they are; every known defect is repaired where its meaning is plain, and each repair is named
in the reply. What is not whole is never given as if it were: `reply` raises then.
"""

import json
from collections.abc import Iterable
from dataclasses import replace

import msgspec

from windlass.core.errors import ModelError
from windlass.core.messages import SourceLink, Toolset, Usage
from windlass.core.ports import DraftCall, Emit, Reply
from windlass.providers.calls import CallParts
from windlass.providers.extras import Extras
from windlass.providers.failures import CUT, FILTERED, INVALID, NO_REPLY, OVERFLOW, Kind, failure, shown, stream_failure
from windlass.providers.markup import LEAKED, DeltaBuffer, MarkupFilter, recover_calls
from windlass.providers.references import ReferenceFilter, References
from windlass.providers.thoughts import split_thoughts

RAW_CAP = 64 * 1024
MOST_CALLS = 1024
_COMPLAINTS = frozenset({"message", "msg", "detail"})
_PLAIN_KEYS = frozenset({"id", "object", "created", "model", "system_fingerprint", "service_tier", "choices"})
_decode = msgspec.json.Decoder().decode

_COMPLETE = {"stop": "stop", "tool_calls": "tool_calls", "function_call": "tool_calls", "length": "length"}
_FILTERED = frozenset({"sensitive", "content_filter"})
_SPENT = Kind(
    "length",
    "{model} used its whole output limit on reasoning",
    "Ask for less at once, or raise the model's output limit.",
)
_NO_CALL = Kind(
    "missing_call", "the model announced a tool call, but none came", "Ask again, or try another model.", True
)


class Assembly:
    """Feed it the data of each event; ask `reply` when the stream has ended."""

    def __init__(
        self,
        offered: Toolset,
        emit: Emit,
        *,
        attempt: int = 1,
        cited: tuple[str, ...] = (),
        provider: str = "",
        finish_reasons: tuple[tuple[str, str], ...] = (),
        backoff_s: float = 0,
        extras: bool = False,
    ) -> None:
        """`extras`: what an API client may ask for is kept too, such as the probabilities of tokens."""
        self._offered = offered
        # Its methods are passed on, not ours: a reference cycle would wait for the garbage collector.
        self._deltas = DeltaBuffer(emit, attempt)
        self._provider = provider
        self._finish_reasons = dict(finish_reasons)
        self.backoff_s = backoff_s
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls = CallParts(offered, self._deltas.call)
        self._events: list[bytes] = []
        self._room = RAW_CAP
        self._repairs: dict[str, None] = {}
        self._sources: dict[str, SourceLink] = {}
        self._usage = Usage()
        self._model = ""
        self._finish = ""
        self._chosen = False
        self._extras = Extras() if extras else None
        self._references = References(cited) if any(tool.entry for tool in offered.tools) else None
        shown = ReferenceFilter(self._deltas.text, self._references).feed if self._references else self._deltas.text
        self._filter = MarkupFilter(shown, self._deltas.reasoning, calls=bool(offered.tools))
        self.done = False

    @property
    def fed(self) -> bool:
        """Something came, whatever it was."""
        return bool(self._events)

    @property
    def finished(self) -> bool:
        """A finish reason came; all that may follow is usage and noise."""
        return bool(self._finish)

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def pieces(self) -> int:
        """How much output has come so far, counted in the pieces it came in."""
        return len(self._texts) + len(self._thoughts) + self._calls.pieces

    @property
    def started(self) -> bool:
        return bool(self._texts or self._thoughts or self._calls)

    def feed(self, *events: bytes) -> None:
        """Events of a stream that came together."""
        self._keep(events)
        try:
            for data in events:
                if data == b"[DONE]":
                    self.done = True
                else:
                    self._feed(data)
        finally:
            self._deltas.flush()

    def _feed(self, data: bytes) -> None:
        try:
            chunk: object = _decode(data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            self._feed_malformed(data)
            return
        if not isinstance(chunk, dict):
            if chunk is not None:
                raise self._unexpected(chunk)
        elif not (self._model and self._take_fast(chunk)):
            self._take(chunk)

    def _take_fast(self, chunk: dict[str, object]) -> bool:
        """Fast path: nearly every chunk is one piece of text and nothing else. It does for those exactly what `_take`
        does, and leaves every other chunk to it; tests/providers/test_corpus.py compares the two."""
        choices = chunk.get("choices")
        if not choices or not chunk.keys() <= _PLAIN_KEYS or not isinstance(choices, list):
            return False
        try:
            choice = choices[0]
            delta = choice["delta"]
            if len(delta) > 1 or choice["finish_reason"] is not None or choice.get("logprobs"):
                return False
            text = delta["content"]
        except (KeyError, TypeError):
            return False
        if type(text) is not str:
            return False
        if text:
            self._texts.append(text)
            self._filter.feed(text)
        return True

    def feed_whole(self, body: bytes) -> None:
        """A body that was not streamed. That it is whole JSON is its end."""
        self._keep([body])
        try:
            value: object = _decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise failure(INVALID, shown(body.decode(errors="replace")), wait_s=self.backoff_s, status=200) from None
        if not isinstance(value, dict):
            raise self._unexpected(value)
        self._take(value)
        self._deltas.flush()
        if not self._chosen:
            raise self._unexpected(value)
        if not self._finish:
            self._finish = "tool_calls" if self._calls else "stop"
            self._repairs["no finish reason was sent"] = None
        self.done = True

    def reply(self, first_ms: int = 0) -> Reply:
        """The whole reply, or `ModelError` if it is not whole or not one."""
        finish = self._ending()
        text, thought, repair = split_thoughts(self.text)
        reasoning = "\n\n".join(filter(None, ("".join(self._thoughts), thought)))
        text, leaked = recover_calls(text, self._offered)
        text = self._references.numbered(text) if self._references else text
        calls = self._calls.drafts(self._provider)
        if not (text or calls or leaked):
            reasoning, leaked = recover_calls(reasoning, self._offered)
        known = {_identity(call) for call in calls} if leaked else set()
        calls += [call for call in leaked if call.broken or _identity(call) not in known]
        if len(calls) > MOST_CALLS:
            raise failure(INVALID, f"more than {MOST_CALLS} calls in one reply", partial=text)
        if finish == "length":
            calls = [_cut_at_limit(call) for call in calls]
        self._check(finish, text, reasoning, calls)
        repairs = (
            *self._repairs,
            *self._calls.repairs,
            *([repair] if repair else ()),
            *([LEAKED] if leaked else ()),
        )
        repaired = bool(repairs) or any(call.repairs or call.broken for call in calls)
        return Reply(
            text,
            tuple(calls),
            reasoning,
            self._usage,
            finish,
            self._model,
            repairs,
            self._raw() if repaired else "",
            tuple(self._sources.values()),
            first_ms,
            self._extras.text() if self._extras else "",
        )

    def interrupted(self, detail: str = "") -> ModelError:
        return failure(CUT if self.started else NO_REPLY, detail, wait_s=self.backoff_s, partial=self.text)

    def _ending(self) -> str:
        reason = self._finish_reasons.get(self._finish, self._finish)
        if finish := _COMPLETE.get(reason):
            return finish
        if not reason:
            raise self.interrupted("the stream ended before the reply did")
        if reason in _FILTERED:
            raise failure(FILTERED, f"finish reason {self._finish}", partial=self.text)
        if reason == OVERFLOW.cause:
            raise failure(OVERFLOW, f"finish reason {self._finish}", partial=self.text)
        raise self.interrupted(f"finish reason {shown(self._finish)}")

    def _check(self, finish: str, text: str, reasoning: str, calls: list[DraftCall]) -> None:
        if finish == "tool_calls" and not calls and not self._calls.foreign:
            raise failure(_NO_CALL, wait_s=self.backoff_s, partial=text)
        if finish == "length" and not text and not calls:
            raise failure(_SPENT, partial=reasoning)

    def _feed_malformed(self, data: bytes) -> None:
        """The end mark, events that a server ran together, or characters it broke. Else bytes are lost."""
        if data.strip() == b"[DONE]":
            self.done = True
            return
        for line in data.replace(b"}data:", b"}\n").split(b"\n"):
            if line.strip() == b"[DONE]":
                self.done = True
            elif line.strip():
                chunk = _leniently(line)
                if chunk is None:
                    if self.finished:
                        return
                    raise self.interrupted(
                        f"a line of the stream is not valid JSON: {shown(line.decode(errors='replace'))}"
                    )
                self._repairs["a line of the stream was malformed"] = None
                self._take(chunk)

    def _take(self, chunk: dict[str, object]) -> None:
        if chunk.get("error"):
            self._fail(chunk["error"])
            return
        if "choices" not in chunk and ("success" in chunk or "code" in chunk or "data" in chunk):
            self._unwrap(chunk)
            return
        model = chunk.get("model")
        if isinstance(model, str) and not self._model:
            self._model = model
        if isinstance(usage := chunk.get("usage"), dict):
            self._usage = _usage(usage)
        if found := chunk.get("web_search"):
            self._cite(found)
        if self._extras:
            self._extras.take(chunk)
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices:
            if isinstance(choices[0], dict):
                self._choose(choices[0])
        elif choices is None and not self.finished and _is_no_chunk(chunk):
            raise self._unexpected(chunk)

    def _fail(self, error: object) -> None:
        if self.finished:
            self._repairs["an error after the end of the reply was ignored"] = None
            return
        raise stream_failure(error, self.backoff_s, self.text)

    def _unwrap(self, chunk: dict[str, object]) -> None:
        """`{code, success, data, msg}`, as some gateways wrap the reply."""
        data = chunk.get("data")
        fine = chunk.get("success") is True or str(chunk.get("code", 0)) in ("200", "0")
        if not fine or not isinstance(data, dict):
            raise stream_failure(chunk, self.backoff_s, self.text) if not fine else self._unexpected(chunk)
        self._repairs["the reply came in a wrapper"] = None
        if "choices" in data:
            self._take(data)
        elif isinstance(content := data.get("content"), str):
            self._take({**data, "choices": [{"delta": {"content": content}}]})
        else:
            raise self._unexpected(data)

    def _choose(self, choice: dict[str, object]) -> None:
        self._chosen = True
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._grow(delta)
        elif isinstance(message := choice.get("message"), dict) and not self.started:
            self._grow(message)
        elif isinstance(text := choice.get("text"), str):
            self._grow({"content": text})
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and not self._finish:
            self._finish = finish.lower()

    def _grow(self, delta: dict[str, object]) -> None:
        if content := delta.get("content"):
            self._text(content)
        if thought := delta.get("reasoning_content") or delta.get("reasoning"):
            self._thought(thought)
        if (calls := delta.get("tool_calls")) and isinstance(calls, list):
            self._cite(self._calls.add(calls))
        if isinstance(called := delta.get("function_call"), dict):
            self._calls.add([{"index": 0, "function": called}])
        if isinstance(refusal := delta.get("refusal"), str) and refusal:
            self._text(refusal)
        if notes := delta.get("annotations"):
            self._cite(notes)

    def _text(self, content: object) -> None:
        if isinstance(content, str):
            self._texts.append(content)
            self._filter.feed(content)
        elif isinstance(content, list):
            for part in content:
                self._part(part)

    def _part(self, part: object) -> None:
        if not isinstance(part, dict):
            self._text(part if isinstance(part, str) else "")
        elif part.get("type") == "thinking":
            inner = part.get("thinking")
            self._thought(inner if isinstance(inner, str) else "".join(_texts_in(inner)))
        elif isinstance(text := part.get("text"), str):
            self._text(text)

    def _thought(self, thought: object) -> None:
        if isinstance(thought, str) and thought:
            self._thoughts.append(thought)
            self._deltas.reasoning(thought)

    def _cite(self, found: object) -> None:
        for one in found if isinstance(found, list) else [found]:
            if not isinstance(one, dict):
                continue
            cited = one.get("url_citation")
            entry = cited if isinstance(cited, dict) else one
            url, title = entry.get("link") or entry.get("url"), entry.get("title")
            if isinstance(url, str) and url.startswith(("http://", "https://")):
                self._sources.setdefault(url, SourceLink(title if isinstance(title, str) and title else url, url))
                if self._references:
                    self._references.learn(one.get("refer"), url)

    def _unexpected(self, value: object) -> ModelError:
        if isinstance(value, dict) and value.keys() & _COMPLAINTS:
            return stream_failure(value, self.backoff_s, self.text)
        shape = f"unexpected keys {sorted(map(str, value))[:10]}" if isinstance(value, dict) else type(value).__name__
        detail = f"unexpected response format, {shape} and no choices"
        return failure(INVALID, detail, wait_s=self.backoff_s, partial=self.text)

    def _keep(self, events: Iterable[bytes]) -> None:
        """Kept for the log of a reply that had to be repaired."""
        for event in events:
            if self._room > 0:
                self._events.append(event)
                self._room -= len(event)

    def _raw(self) -> str:
        return b"\n".join(self._events)[:RAW_CAP].decode(errors="replace")


def _is_no_chunk(chunk: dict[str, object]) -> bool:
    """It is no part of a reply. Null choices count as an empty list, unless an error message comes with them."""
    if chunk.keys() & {"usage", "web_search", "model", "id"}:
        return False
    return "choices" not in chunk or bool(chunk.keys() & _COMPLAINTS)


def _identity(call: DraftCall) -> tuple[str, str]:
    return call.name, json.dumps(json.loads(call.arguments), sort_keys=True)


def _cut_at_limit(call: DraftCall) -> DraftCall:
    why = "The reply was cut at the model's output limit before the call was whole."
    return replace(call, arguments="{}", raw=call.raw or call.arguments, broken=call.broken or why)


def _leniently(line: bytes) -> dict[str, object] | None:
    text = line.decode(errors="replace")
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    whole: dict[str, object] = _without_half_characters(value)
    return whole


def _without_half_characters(value: dict[str, object]) -> dict[str, object]:
    text = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    repaired: dict[str, object] = json.loads(text)
    return repaired


def _texts_in(parts: object) -> Iterable[str]:
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and isinstance(text := part.get("text"), str):
            yield text


def _usage(usage: dict[str, object]) -> Usage:
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    thinking = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    return Usage(_count(usage, "prompt_tokens"), _count(usage, "completion_tokens"), cached, thinking)


def _count(holder: object, key: str) -> int:
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
