"""Request bodies, joined from bytes that were encoded before: past turns once per revision, tools once per toolset."""

import json
from collections.abc import Container
from dataclasses import replace

import msgspec

from windlass.core.messages import ChatMessage, PastTurn, ToolCall, Toolset, ToolSpec
from windlass.core.ports import ModelRequest
from windlass.providers.profiles import Profile

CACHE_BYTES = 16 * 1024 * 1024
OPTIONAL = (
    *("stream_options", "tool_choice", "tool_stream", "thinking"),
    *("temperature", "do_sample", "reasoning_content", "stream"),
)
_OWN = frozenset({"model", "messages", "tools", "stream", "stream_options"})
ENTRIES = "tools"  # as a dropped field: the entries of tools that the provider runs
_dumps = msgspec.json.Encoder().encode


class Encoder:
    """Bodies for one provider. `drop` leaves out an optional field of a model from now on: its server refuses it."""

    def __init__(self, provider: str, cache: "ByteCache") -> None:
        self._provider = provider
        self._cache = cache
        self._dropped: dict[str, set[str]] = {}

    def drop(self, field: str, model: str) -> None:
        dropped = self._dropped.setdefault(model, set())
        dropped |= {field, "stream_options"} if field == "stream" else {field}

    def body(self, request: ModelRequest, profile: Profile, model: str, temperature: float | None) -> bytes:
        dropped = self._dropped.get(model)
        if dropped and profile.reasoning_field in dropped:
            profile = replace(profile, reasoning_field="")
        parts = [b'{"model":', _dumps(model), b',"messages":[', self._messages(request, profile), b"]"]
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

    def _messages(self, request: ModelRequest, profile: Profile) -> bytes:
        prompt = request.prompt
        parts = [_json({"role": "system", "content": prompt.system})] if prompt.system else []
        dialect = f"{self._provider}\0{profile.reasoning_field}"
        for turn in prompt.past:
            if encoded := self._past(turn, dialect, profile):
                parts.append(encoded)
        parts += [self._message(message, profile) for message in prompt.current]
        return b",".join(parts)

    def _past(self, turn: PastTurn, dialect: str, profile: Profile) -> bytes:
        key = (turn.turn_id, turn.revision, dialect)
        held = self._cache.get(key)
        if held is None:
            own = profile if turn.provider == self._provider else replace(profile, reasoning_field="")
            held = self._cache.keep(key, b",".join(self._message(message, own) for message in turn.messages))
        return held

    def _message(self, message: ChatMessage, profile: Profile) -> bytes:
        wire: dict[str, object] = {"role": message.role, "content": message.content}
        if message.calls:
            wire["tool_calls"] = [self._call(call) for call in message.calls]
        if message.role == "tool":
            wire["tool_call_id"] = message.call_id
        elif message.role in ("user", "assistant") and message.name:
            wire["name"] = message.name
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


class ByteCache:
    """Encoded pieces by key; when they grow past a size, the oldest are dropped and encoded again when next needed."""

    def __init__(self, most: int = CACHE_BYTES) -> None:
        self._most = most
        self._size = 0
        self._held: dict[tuple[object, ...], bytes] = {}
        self.get = self._held.get

    def keep(self, key: tuple[object, ...], piece: bytes) -> bytes:
        self._size += len(piece) - len(self._held.pop(key, b""))
        self._held[key] = piece
        while self._size > self._most and len(self._held) > 1:
            self._size -= len(self._held.pop(next(iter(self._held))))
        return piece
