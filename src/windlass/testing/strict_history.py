"""What is wrong with a chat-completions request, as the strictest provider would see it.

`history_faults` is pure and needs only the standard library, so that property tests can hold any
prompt builder against it. An empty list means that every provider we know would accept the request.
"""

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from windlass.core.values import value_object

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

OPENAI_PARAMETERS = frozenset(
    "model messages tools tool_choice parallel_tool_calls stream stream_options temperature top_p max_tokens "
    "max_completion_tokens n stop seed user metadata store logprobs top_logprobs logit_bias frequency_penalty "
    "presence_penalty response_format reasoning_effort service_tier prompt_cache_key safety_identifier verbosity "
    "prediction web_search_options modalities audio functions function_call prompt_cache_retention".split()
)
ZAI_PARAMETERS = frozenset(
    "model messages tools tool_choice stream stream_options tool_stream thinking reasoning_effort temperature top_p "
    "max_tokens do_sample seed stop request_id user_id response_format sensitive_word_check meta extra "
    "watermark_enabled".split()
)


@value_object
class Rules:
    """Where providers differ. Replace a field to teach the check a parameter of your own."""

    parameters: frozenset[str] = OPENAI_PARAMETERS
    provider_tools: frozenset[str] = frozenset()
    max_tools: int = 128
    max_id_chars: int = 40
    temperature: tuple[float, float] = (0.0, 2.0)
    open_interval: bool = False
    images: bool = True
    audio: bool = True


OPENAI = Rules()
ZAI = replace(
    OPENAI,
    parameters=ZAI_PARAMETERS,
    provider_tools=frozenset({"web_search"}),
    temperature=(0.0, 1.0),
    open_interval=True,
)


def history_faults(request: Mapping[str, object], rules: Rules = OPENAI) -> list[str]:
    return [
        *parameter_faults(request, rules),
        *tool_faults(request, rules),
        *message_faults(request.get("messages"), rules),
    ]


def parameter_faults(request: Mapping[str, object], rules: Rules = OPENAI) -> list[str]:
    """Faults of the top-level parameters, `messages` and `tools` aside."""
    faults = [f"unknown parameter '{key}'" for key in request if key not in rules.parameters]
    if not _is_text(request.get("model")):
        faults.append("model: a non-empty string is required")
    faults += _interval_faults("temperature", request, rules.temperature, rules.open_interval)
    faults += _interval_faults("top_p", request, (0.0, 1.0), rules.open_interval)
    for key in ("max_tokens", "max_completion_tokens"):
        value = request.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            faults.append(f"{key}: must be a whole number of at least 1, got {value!r}")
    faults += _sampling_faults(request)
    if not isinstance(request.get("stream", False), bool):
        faults.append("stream: must be true or false")
    if "stream_options" in request and request.get("stream") is not True:
        faults.append("stream_options: only allowed with stream: true")
    return faults


def _sampling_faults(request: Mapping[str, object]) -> Iterator[str]:
    for key in ("frequency_penalty", "presence_penalty"):
        yield from _interval_faults(key, request, (-2.0, 2.0), False)
    for key, low, high in (("seed", -(2**63), 2**63 - 1), ("n", 1, 128), ("top_logprobs", 0, 20)):
        value = request.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high):
            yield f"{key}: must be a whole number between {low} and {high}, got {value!r}"
    if request.get("top_logprobs") is not None and request.get("logprobs") is not True:
        yield "top_logprobs: only allowed with logprobs: true"
    stop = request.get("stop")
    if stop is not None and not _is_text(stop) and not (isinstance(stop, list) and 0 < len(stop) <= 4):
        yield "stop: must be a text or up to 4 of them"
    if request.get("parallel_tool_calls") is not None and "tools" not in request:
        yield "parallel_tool_calls: only allowed with tools"
    yield from _format_faults(request.get("response_format") or {"type": "text"})


def _format_faults(form: object) -> Iterator[str]:
    kind = _value_of(form, "type")
    if kind not in ("text", "json_object", "json_schema"):
        yield f"response_format.type: unknown value {kind!r}"
    elif kind == "json_schema":
        named = _value_of(form, "json_schema")
        if not _text_of(named, "name") or not isinstance(_value_of(named, "schema"), dict):
            yield "response_format.json_schema: a name and a schema are required"


def tool_faults(request: Mapping[str, object], rules: Rules = OPENAI) -> list[str]:
    """Faults of `tools` and of `tool_choice`."""
    if "tools" not in request:
        return ["tool_choice: only allowed with tools"] if "tool_choice" in request else []
    tools = request["tools"]
    if not isinstance(tools, list) or not tools:
        return ["tools: must be a list with at least one tool, or be left out"]
    faults = [] if len(tools) <= rules.max_tools else [f"tools: {len(tools)} given, at most {rules.max_tools} allowed"]
    names: list[str] = []
    for index, tool in enumerate(tools):
        faults += _offered_tool_faults(f"tools[{index}]", tool, rules, names)
    faults += [f"tools: two functions are named '{name}'" for name in _repeated(names)]
    return [*faults, *_choice_faults(request.get("tool_choice", "auto"), names)]


def message_faults(messages: object, rules: Rules = OPENAI) -> list[str]:
    """Faults of each message alone, then of their order."""
    if not isinstance(messages, list) or not messages:
        return ["messages: must be a list with at least one message"]
    faults: list[str] = []
    for index, message in enumerate(messages):
        faults += _one_message_faults(f"messages[{index}]", message, rules)
    if not any(_role(message) == "user" for message in messages):
        faults.append("messages: no user message")
    return [*faults, *_order_faults(messages)]


_KEYS = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"role", "content", "name", "tool_calls", "reasoning_content", "refusal", "annotations"}),
    "tool": frozenset({"role", "content", "name", "tool_call_id"}),
}


def _one_message_faults(where: str, message: object, rules: Rules) -> Iterator[str]:
    if not isinstance(message, dict):
        yield f"{where}: must be an object"
        return
    role = message.get("role")
    if not isinstance(role, str) or role not in _KEYS:
        yield f"{where}.role: unknown role {role!r}"
        return
    for key in message.keys() - _KEYS[role]:
        yield f"{where}.{key}: unknown key in a {role} message"
    if "name" in message and not _is_text(message["name"]):
        yield f"{where}.name: must not be empty"
    calls = "tool_calls" in message and role == "assistant"
    if not (calls and message.get("content") in (None, "")):
        yield from _content_faults(f"{where}.content", message.get("content"), role, rules)
    if calls:
        yield from _calls_faults(f"{where}.tool_calls", message["tool_calls"], rules)
    if role == "tool" and not _is_text(message.get("tool_call_id")):
        yield f"{where}.tool_call_id: a tool message must name the call it answers"
    if not isinstance(message.get("reasoning_content", ""), str):
        yield f"{where}.reasoning_content: must be a string"


def _content_faults(where: str, content: object, role: str, rules: Rules) -> Iterator[str]:
    if content is None:
        yield f"{where}: must not be null"
    elif isinstance(content, str):
        if not content:
            yield f"{where}: must not be empty"
    elif not isinstance(content, list) or not content:
        yield f"{where}: must be a string or a list of parts"
    else:
        for index, part in enumerate(content):
            if not isinstance(part, dict) or not _is_text(part.get("type")):
                yield f"{where}[{index}]: a part must be an object with a type"
            elif part["type"] == "text" and not _is_text(part.get("text")):
                yield f"{where}[{index}].text: must not be empty"
            elif part["type"] in ("image_url", "input_audio"):
                yield from _media_faults(f"{where}[{index}]", part, role, rules)


_DATA_URL = re.compile(r"data:image/(png|jpeg|gif|webp);base64,(.+)", re.DOTALL)
_BEGINNINGS = {"jpeg": (b"\xff\xd8\xff",), "gif": (b"GIF87a", b"GIF89a"), "webp": (b"RIFF",)}


def _media_faults(where: str, part: Mapping[str, object], role: str, rules: Rules) -> Iterator[str]:
    kind = str(part["type"])
    given = part.get(kind)
    if role != "user":
        yield f"{where}: Invalid 'messages'. Image URLs and audio are only allowed for messages with role 'user'"
    elif not (rules.images if kind == "image_url" else rules.audio):
        yield f"{where}: this model does not support {'image' if kind == 'image_url' else 'audio'} input"
    elif not isinstance(given, dict) or part.keys() != {"type", kind}:
        yield f"{where}.{kind}: must be an object, with nothing beside it"
    elif kind == "image_url":
        yield from _image_faults(f"{where}.image_url.url", given.get("url"))
    elif given.get("format") not in ("wav", "mp3") or given.keys() != {"data", "format"}:
        yield f"{where}.input_audio: needs data and a format, wav or mp3"
    elif not _decoded(given.get("data")):
        yield f"{where}.input_audio.data: is not base64"


def _image_faults(where: str, url: object) -> Iterator[str]:
    if isinstance(url, str) and url.startswith(("https://", "http://")):
        return
    found = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
    data = _decoded(found[2]) if found else b""
    if not found or not data:
        yield f"{where}: must be an address, or a data URL with an image in base64, got {str(url)[:40]!r}"
    elif not (_is_whole_png(data) if found[1] == "png" else data.startswith(_BEGINNINGS[found[1]])):
        yield f"{where}: You uploaded an unsupported image. Its bytes are no {found[1]}"


def _decoded(text: object) -> bytes:
    try:
        return b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        return b""


def _is_whole_png(data: bytes) -> bool:
    """Every chunk is there; those that matter have the right checksum."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return False
    at = 8
    while at + 12 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 4], "big")
        matters = data[at + 4 : at + 5].isupper()
        if matters and zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            return False
        if data[at + 4 : at + 8] == b"IEND":
            return True
        at = end + 4
    return False


def _calls_faults(where: str, calls: object, rules: Rules) -> Iterator[str]:
    if not isinstance(calls, list) or not calls:
        yield f"{where}: must be a list with at least one call, or be left out"
        return
    for index, call in enumerate(calls):
        yield from _call_faults(f"{where}[{index}]", call, rules)
    for repeated in _repeated(_call_ids(calls)):
        yield f"{where}: two calls have the id '{repeated}'"


def _call_faults(where: str, call: object, rules: Rules) -> Iterator[str]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        yield f"{where}: must be an object with a function"
        return
    for key in call.keys() - {"id", "type", "function", "index"}:
        yield f"{where}.{key}: unknown key in a tool call"
    for key in function.keys() - {"name", "arguments"}:
        yield f"{where}.function.{key}: unknown key in a tool call's function"
    call_id = call.get("id")
    if not isinstance(call_id, str) or not call_id:
        yield f"{where}.id: must not be empty"
    elif len(call_id) > rules.max_id_chars:
        yield f"{where}.id: {len(call_id)} characters, at most {rules.max_id_chars} allowed"
    if call.get("type") != "function":
        yield f"{where}.type: must be 'function', got {call.get('type')!r}"
    yield from _name_faults(f"{where}.function.name", function.get("name"))
    yield from _arguments_faults(f"{where}.function.arguments", function.get("arguments"))


def _arguments_faults(where: str, arguments: object) -> Iterator[str]:
    if not isinstance(arguments, str):
        yield f"{where}: must be a string of JSON, got {type(arguments).__name__}"
        return
    try:
        value = json.loads(arguments, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        yield f"{where}: is not JSON: {arguments[:60]!r}"
        return
    if not isinstance(value, dict):
        yield f"{where}: must be a JSON object, got {arguments[:60]!r}"


def _order_faults(messages: list[object]) -> Iterator[str]:
    """A reply's calls must be answered by the messages right after it, each call once."""
    owed: list[str] = []
    owner = ""
    seen: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if _role(message) == "tool":
            answered = _text_of(message, "tool_call_id")
            if answered in owed:
                owed.remove(answered)
            elif answered:
                yield f"{where}: answers '{answered}', which is no open call of the assistant message before it"
            continue
        if owed:
            yield f"{owner}: no tool message answers {_listed(owed)} before {where}"
        owed, owner = _call_ids(_value_of(message, "tool_calls")), where
        yield from (f"{where}: call id '{used}' was used before" for used in sorted(seen.intersection(owed)))
        seen.update(owed)
    if owed:
        yield f"{owner}: no tool message answers {_listed(owed)}"


def _offered_tool_faults(where: str, tool: object, rules: Rules, names: list[str]) -> Iterator[str]:
    kind = tool.get("type") if isinstance(tool, dict) else None
    if isinstance(tool, dict) and isinstance(kind, str) and kind in rules.provider_tools:
        if not isinstance(tool.get(kind), dict):
            yield f"{where}.{kind}: must be an object"
        return
    function = tool.get("function") if isinstance(tool, dict) else None
    if kind != "function" or not isinstance(function, dict):
        yield f"{where}: must be an object of type 'function' with a function, got type {kind!r}"
        return
    for key in function.keys() - {"name", "description", "parameters", "strict"}:
        yield f"{where}.function.{key}: unknown key in a function"
    yield from _name_faults(f"{where}.function.name", function.get("name"))
    if isinstance(function.get("name"), str):
        names.append(function["name"])
    if not isinstance(function.get("description", ""), str):
        yield f"{where}.function.description: must be a string"
    yield from _schema_faults(f"{where}.function.parameters", function.get("parameters", {"type": "object"}))


def _schema_faults(where: str, schema: object) -> Iterator[str]:
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield f"{where}: must be a JSON Schema of type 'object'"
        return
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        yield f"{where}.properties: must be an object"
        return
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield f"{where}.required: must be a list of names"


def _choice_faults(choice: object, names: list[str]) -> Iterator[str]:
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if choice.get("type") != "function" or name not in names:
            yield f"tool_choice: names {name!r}, which is not among the tools"
    elif choice not in ("none", "auto", "required"):
        yield f"tool_choice: must be none, auto, required or one of the functions, got {choice!r}"


def _name_faults(where: str, name: object) -> Iterator[str]:
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        yield f"{where}: {name!r} does not match ^{TOOL_NAME.pattern}$"


def _interval_faults(
    key: str, request: Mapping[str, object], interval: tuple[float, float], is_open: bool
) -> Iterator[str]:
    value = request.get(key)
    if value is None:
        return
    low, high = interval
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{key}: must be a number, got {value!r}"
    elif not low <= value <= high or (is_open and value in interval):
        shape = f"({low:g}, {high:g})" if is_open else f"[{low:g}, {high:g}]"
        yield f"{key}: {value:g} is outside {shape}"


def _role(message: object) -> object:
    return _value_of(message, "role")


def _value_of(message: object, key: str) -> object:
    return message.get(key) if isinstance(message, dict) else None


def _text_of(message: object, key: str) -> str:
    value = _value_of(message, key)
    return value if isinstance(value, str) else ""


def _call_ids(calls: object) -> list[str]:
    ids = [_text_of(call, "id") for call in calls] if isinstance(calls, list) else []
    return [call_id for call_id in ids if call_id]


def _repeated(names: Iterable[str]) -> list[str]:
    counted: dict[str, int] = {}
    for name in names:
        counted[name] = counted.get(name, 0) + 1
    return [name for name, count in counted.items() if count > 1]


def _listed(ids: list[str]) -> str:
    return ", ".join(f"'{one}'" for one in ids)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
