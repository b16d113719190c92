"""Request bodies, joined from bytes that were encoded before: past turns once per revision, tools once per toolset."""

import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

import msgspec

from windlass.core.messages import ChatMessage, MediaRef, PastTurn, ToolCall, Toolset, ToolSpec
from windlass.core.ports import ModelRequest, Prompt
from windlass.providers.byte_cache import ByteCache
from windlass.providers.media import NO_MEDIA, RequestMedia, media_in, media_of
from windlass.providers.media_types import SOUNDS
from windlass.providers.profiles import Profile

OPTIONAL = (
    *("stream_options", "tool_choice", "tool_stream", "thinking"),
    *("temperature", "do_sample", "reasoning_content", "stream"),
)
_OWN = frozenset({"model", "messages", "tools", "stream", "stream_options"})
_HOLE = b"\0"  # where the bytes of a picture go; JSON has no such byte
ENTRIES = "tools"  # as a dropped field: the entries of tools that the provider runs
_dumps = msgspec.json.Encoder().encode


class Encoder:
    """Bodies for one provider. `drop` leaves out an optional field of a model from now on: its server refuses it."""

    def __init__(self, provider: str, cache: ByteCache) -> None:
        self._provider = provider
        self._cache = cache
        self._dropped: dict[str, set[str]] = {}

    def drop(self, field: str, model: str) -> None:
        dropped = self._dropped.setdefault(model, set())
        dropped |= {field, "stream_options"} if field == "stream" else {field}

    def body(
        self,
        request: ModelRequest,
        profile: Profile,
        model: str,
        temperature: float | None,
        media: RequestMedia = NO_MEDIA,
    ) -> bytes:
        """With a hole for each picture that is shown: `filled` puts the bytes in."""
        dropped = self._dropped.get(model)
        if dropped and profile.reasoning_field in dropped:
            profile = replace(profile, reasoning_field="")
        parts = [b'{"model":', _dumps(model), b',"messages":[', self._messages(request, profile, media), b"]"]
        searches = profile.searches and not (dropped and ENTRIES in dropped)
        tools = self._tools(request.tools, searches) if request.prompt.offers and request.tools.tools else b""
        fields = self._fields(request, profile, temperature, bool(tools))
        sent = {name: value for name, value in fields if not dropped or name not in dropped}
        if request.settings.parameters:
            sent |= _parameters(request, profile, sent, bool(tools))
        for name, value in sent.items():
            parts += (_dumps(name).join((b",", b":")), value)
        left_out = {*(dropped or ()), *sent} if request.settings.parameters else dropped
        if profile.body:
            parts += _extras(profile.body, left_out)
        if tools:
            parts += (b',"tools":', tools)
            if profile.tools_body:
                parts += _extras(profile.tools_body, left_out)
        parts.append(b"}")
        return b"".join(parts)

    def _fields(
        self, request: ModelRequest, profile: Profile, temperature: float | None, offers: bool
    ) -> list[tuple[str, bytes]]:
        fields: list[tuple[str, bytes]] = [("stream", b"true")]
        if profile.usage_option:
            fields.append(("stream_options", b'{"include_usage":true}'))
        if temperature is not None and profile.temperature:
            fields.append(("temperature", _dumps(profile.temperature.fit(temperature))))
            if profile.greedy and temperature <= profile.temperature.low:
                fields.append((profile.greedy, b"false"))
        if request.settings.max_tokens is not None:
            fields.append((profile.most_field, _dumps(request.settings.max_tokens)))
        choice = request.prompt.choice
        if offers and choice != "auto" and choice in profile.choices:
            fields.append(("tool_choice", _dumps(choice)))
        return fields

    def _messages(self, request: ModelRequest, profile: Profile, media: RequestMedia) -> bytes:
        prompt = request.prompt
        parts = [_json({"role": "system", "content": prompt.system})] if prompt.system else []
        dialect = f"{self._provider}\0{profile.reasoning_field}"
        for turn in prompt.past:
            if encoded := self._past(turn, dialect, profile, media):
                parts.append(encoded)
        parts += self._in_order(prompt.current, profile, media)
        return b",".join(parts)

    def _past(self, turn: PastTurn, dialect: str, profile: Profile, media: RequestMedia) -> bytes:
        key: tuple[object, ...] = (turn.turn_id, turn.revision, dialect)
        if turn.media and media.letters:
            key = (*key, media.model, *(media.letters[ref] for ref in turn.media))
        held = self._cache.get(key)
        if held is None:
            own = profile if turn.provider == self._provider else replace(profile, reasoning_field="")
            shown = media if turn.media else NO_MEDIA
            held = self._cache.keep(key, b",".join(self._in_order(turn.messages, own, shown)))
        return held

    def _in_order(self, messages: Iterable[ChatMessage], profile: Profile, media: RequestMedia) -> Iterable[bytes]:
        if media.letters:
            return self._with_media(messages, profile, media)
        return [self._message(message, profile) for message in messages]

    def _with_media(self, messages: Iterable[ChatMessage], profile: Profile, media: RequestMedia) -> Iterator[bytes]:
        """A tool message takes text alone: what there is to see of the results of a round goes into a message of the
        user's behind them all."""
        seen: list[object] = []
        for message in messages:
            if seen and message.role != "tool":
                yield _json({"role": "user", "content": seen})
                seen = []
            if message.role == "tool" and message.parts:
                seen += _seen_of(message, media)
                message = _with_words(message, media)
            elif message.parts:
                yield _json({"role": message.role, "content": _content(message, media), **_named(message)})
                continue
            yield self._message(message, profile)
        if seen:
            yield _json({"role": "user", "content": seen})

    def _message(self, message: ChatMessage, profile: Profile) -> bytes:
        wire: dict[str, object] = {"role": message.role, "content": message.content}
        if message.calls:
            wire["tool_calls"] = [self._call(call) for call in message.calls]
        if message.role == "tool":
            wire["tool_call_id"] = message.call_id
        else:
            wire.update(_named(message))
        if message.reasoning and profile.reasoning_field:
            wire[profile.reasoning_field] = message.reasoning
        return _json(wire)

    def _call(self, call: ToolCall) -> dict[str, object]:
        wire: dict[str, object] = {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        if call.extra:
            opaque = json.loads(call.extra).get(self._provider)
            wire.update(opaque or {})
        return wire

    def _tools(self, toolset: Toolset, searches: bool) -> bytes:
        """For a provider that does not search itself its search tool is a function, or left out where a toolset of the
        first edition holds nothing else of it; "" where nothing is left."""
        key = ("tools", toolset.hash, searches)
        held = self._cache.get(key) if toolset.hash else None
        if held is None:
            own = tuple(tool for tool in toolset.tools if searches or tool.server != "provider")
            held = self._cache.keep(key, encoded_tools(Toolset("", own), searches) if own else b"")
        return held


def filled(body: bytes, prompt: Prompt, media: RequestMedia) -> bytes:
    """The bytes are put in last, so that past turns are kept without them, and large ones are copied once."""
    if not media.data:
        return body
    first, *others = body.split(_HOLE)
    shown = (ref for ref in media_of(prompt) if media.shows(ref))
    pieces = (piece for ref, rest in zip(shown, others, strict=True) for piece in (media.data[ref], rest))
    return b"".join((first, *pieces))


def _parameters(request: ModelRequest, profile: Profile, sent: Container[str], tools: bool) -> dict[str, bytes]:
    """Those that an API client asked for, as it wrote them. What has a setting of its own stands in `sent` already,
    unless the model's profile leaves it out: then its server decides."""
    given: dict[str, object] = json.loads(request.settings.parameters)
    if not tools:
        given.pop("parallel_tool_calls", None)  # servers refuse it in a request that offers no tools
    top_p = given.get("top_p")
    if isinstance(top_p, int | float) and profile.temperature and profile.temperature.open:
        given["top_p"] = profile.temperature.fit(top_p)
    return {name: _json(value) for name, value in given.items() if name not in sent and name not in _OWN}


def _json(value: object) -> bytes:
    try:
        return _dumps(value)
    except UnicodeEncodeError:  # half a character from a broken source; no wire takes it
        text = json.dumps(value, ensure_ascii=False)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _extras(fields: str, dropped: set[str] | None) -> list[bytes]:
    """A profile's own fields, less those that this server refused."""
    if not dropped:
        return [b",", fields.encode()]
    kept = {key: value for key, value in json.loads(f"{{{fields}}}").items() if key not in dropped}
    return [b",", _dumps(kept)[1:-1]] if kept else []


def encoded_tools(toolset: Toolset, searches: bool = True) -> bytes:
    """The `tools` array. Schemas are JSON text already. `searches`: the provider runs its own search tool itself."""
    tools = []
    for tool in toolset.tools:
        if searches and (entry := entry_of(tool)):
            tools.append(entry.encode(errors="replace"))
            continue
        description = b',"description":' + _json(tool.description) if tool.description else b""
        head = b'{"type":"function","function":{"name":' + _dumps(tool.name) + description
        strict = b',"strict":true}}' if tool.strict else b"}}"
        tools.append(head + b',"parameters":' + tool.schema.encode(errors="replace") + strict)
    return b"[" + b",".join(tools) + b"]"


def entry_of(tool: ToolSpec) -> str:
    """The entry of a tool that the provider runs; toolsets of the first edition hold it as the schema."""
    return tool.schema if tool.server == "provider" else tool.entry


def _named(message: ChatMessage) -> dict[str, str]:
    return {"name": message.name} if message.name and message.role in ("user", "assistant") else {}


def _seen_of(message: ChatMessage, media: RequestMedia) -> list[object]:
    """The parts of a result for the message behind it, in the result's own fence."""
    if not any(media.shows(ref) for ref in media_in(message)):
        return []
    label = f"To be seen or heard in the result of {message.name}, call {message.call_id}:"
    parts = [part for part in message.parts if isinstance(part, str) or media.shows(part)]
    return [_text_part(label), *(_wire_part(part, media) for part in parts)]


def _with_words(message: ChatMessage, media: RequestMedia) -> ChatMessage:
    """With a line for each picture or sound that is not sent."""
    refs = list(media_in(message))
    numbers = range(1, len(refs) + 1) if len(refs) > 1 else (0,)
    words = [media.words(ref, number) for ref, number in zip(refs, numbers, strict=True) if not media.shows(ref)]
    return replace(message, content="\n".join((message.content or "", *words))) if words else message


def _content(message: ChatMessage, media: RequestMedia) -> str | list[object]:
    """One text where nothing of it is to be seen."""
    parts = [_or_words(part, media) for part in message.parts if part]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n\n".join(texts) if len(texts) == len(parts) else [_wire_part(part, media) for part in parts]


def _or_words(part: str | MediaRef, media: RequestMedia) -> str | MediaRef:
    return part if isinstance(part, str) or media.shows(part) else media.words(part)


def _wire_part(part: str | MediaRef, media: RequestMedia) -> object:
    if isinstance(part, str):
        return _text_part(part)
    if sound := SOUNDS.get(part.mime):
        return {"type": "input_audio", "input_audio": {"data": msgspec.Raw(b'"%s"' % _HOLE), "format": sound}}
    url = b'"data:%s;base64,%s"' % (part.mime.encode(), _HOLE)
    return {"type": "image_url", "image_url": {"url": msgspec.Raw(url)}}


def _text_part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
