"""The demo model: no key, no network, the same answer each time. It calls real tools through the real loop, so that
everything else can be seen at work before a model is connected."""

import asyncio
import json
import re
import shlex

from windlass.core.errors import ModelError
from windlass.core.messages import ChatMessage, Toolset, ToolSpec, Usage
from windlass.core.ports import CallDelta, DraftCall, Emit, ModelRequest, ReasoningDelta, Reply, TextDelta
from windlass.providers.failures import NO_MODEL

DEMO_MODEL = "demo"
PAUSE_S = 0.048
SHOWN_CHARS = 600
_COMMAND = re.compile(r"/([A-Za-z0-9_.-]+)(?:\s+(.*))?", re.DOTALL)
_PAIR = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_FENCED = re.compile(r"<(result-\w+) [^>]*>\n(.*)\n</\1>\Z", re.DOTALL)
_ATTACHED = re.compile(r"\n\n<result-\w+ ")  # resources that came with the message: data, not commands
_CITED = re.compile(r"^\[(\d+)\] (.+)$", re.MULTILINE)
_PIECES = re.compile(r"(?:\s*\S+\s?){1,4}|\s+")


class DemoModel:
    """A `Model`. `pause_s` is the time between two pieces of text, so that streaming can be seen."""

    def __init__(self, pause_s: float = PAUSE_S) -> None:
        self._pause_s = pause_s

    async def reply(self, request: ModelRequest, emit: Emit) -> Reply:
        _check_name(request.settings.model)
        reply = demo_reply(request)
        for piece in _PIECES.findall(reply.reasoning):
            emit(ReasoningDelta(request.attempt, piece))
            await asyncio.sleep(self._pause_s)
        for piece in _PIECES.findall(reply.text):
            emit(TextDelta(request.attempt, piece))
            await asyncio.sleep(self._pause_s)
        for index, call in enumerate(reply.calls):
            emit(CallDelta(request.attempt, index, call.name, call.arguments))
            await asyncio.sleep(self._pause_s)
        return reply


def _check_name(model: str) -> None:
    """An answer in another model's name would pass for that model's."""
    if model not in ("", DEMO_MODEL):
        problem = f"No model is connected that could answer as {model[:100]!r}; there is only {DEMO_MODEL!r}."
        raise ModelError(NO_MODEL.cause, problem, hint=ONLY_DEMO_HINT)


def demo_reply(request: ModelRequest) -> Reply:
    """The demo model's reply, as a pure function of the request."""
    results = _results(request.prompt.current)
    asked = _asked(request.prompt.current)
    goes_on = request.prompt.choice != "none" and request.tools.tools
    if results:
        again = _endless_calls(asked, request, len(results)) if goes_on else None
        return again or _text_reply(request, _summary(results))
    if goes_on and request.settings.search == "due" and "web_search" in request.tools.by_name:
        return _call_reply(request, [DraftCall("web_search", json.dumps({"query": request.settings.query or asked}))])
    return _follow_commands(request, asked)


def _follow_commands(request: ModelRequest, asked: str) -> Reply:
    commands = [found for line in asked.splitlines() if (found := _COMMAND.fullmatch(line.strip()))]
    calls = [
        DraftCall(found[1], arguments_for(request.tools.by_name[found[1]], found[2] or ""))
        for found in commands
        if found[1] in request.tools.by_name
    ]
    if calls:
        return _call_reply(request, calls)
    if commands:
        return _trick(request, commands[0][1], commands[0][2] or "")
    return _text_reply(request, _explanation(request.tools))


def arguments_for(tool: ToolSpec, text: str) -> str:
    """A JSON object as it is, or `key=value` pairs as the tool's schema wants them. Values without a key go to the
    tool's first parameter."""
    if _is_object(text):
        return text
    properties = json.loads(tool.schema).get("properties", {})
    found: dict[str, str] = {}
    key = next(iter(properties), "input")
    for part in _split(text):
        pair = _PAIR.fullmatch(part)
        if pair and (pair[1] in properties or not found):
            key, part = pair[1], pair[2]
            found.pop(key, None)
        found[key] = f"{found[key]} {part}" if key in found else part
    typed = {name: _typed(value, properties.get(name)) for name, value in found.items()}
    return json.dumps(typed, ensure_ascii=False)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _typed(value: str, schema: object) -> object:
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind in ("string", None):
        return value
    try:
        return json.loads(value.lower() if kind == "boolean" else value)
    except ValueError:
        return value


def _trick(request: ModelRequest, name: str, rest: str) -> Reply:
    if name == "fail":
        raise ModelError("demo_failure", FAILURE, hint=FAILURE_HINT)
    if name == "long":
        return _text_reply(request, LONG)
    if name == "think":
        return _text_reply(request, f"You asked: {rest or 'nothing in particular'}.", THOUGHT)
    if name == "limit":
        again = _endless_calls("/limit", request, 0)
        return again or _text_reply(request, "`/limit` needs the tool `calculate`, which is not enabled here.")
    if name in ("help", "tools"):
        return _text_reply(request, _explanation(request.tools))
    return _text_reply(request, f"There is no tool `{name}` in this chat.\n\n{_listed(request.tools)}")


def _endless_calls(asked: str, request: ModelRequest, done: int) -> Reply | None:
    """Calls without end, for the limit of rounds to stop."""
    if asked.strip() != "/limit" or "calculate" not in request.tools.by_name:
        return None
    return _call_reply(request, [DraftCall("calculate", json.dumps({"expression": f"{done} + 1"}))])


def _summary(results: list[ChatMessage]) -> str:
    texts = [_result(message) for message in results]
    cited = sorted({int(n) for message in results for n, _ in _CITED.findall(message.content or "")})
    sources = f"\n\nSources: {' '.join(f'[{n}]' for n in cited)}" if cited else ""
    opening = "The tool has answered." if len(results) == 1 else f"All {len(results)} calls have ended."
    return f"{opening}\n\n" + "\n\n".join(texts) + sources


def _result(message: ChatMessage) -> str:
    text = _unfenced(message.content or "")
    failed = _error_in(text)
    if failed:
        return f"**{message.name}** failed: {failed}"
    body = text.partition("\n\nSources, to be cited as [n]:")[0]
    shown = body if len(body) <= SHOWN_CHARS else body[:SHOWN_CHARS] + "…"
    return f"**{message.name}**\n\n```\n{shown.replace('```', chr(0x2032) * 3)}\n```"


def _unfenced(text: str) -> str:
    """Without the fence that tells a model not to obey the text; this one cannot anyway."""
    fenced = _FENCED.search(text)
    return text[: fenced.start()] + fenced[2] if fenced else text


def _error_in(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return ""
    error = value.get("error") if isinstance(value, dict) and len(value) == 1 else None
    return error if isinstance(error, str) else ""


def _explanation(tools: Toolset) -> str:
    return f"{WELCOME}\n\n{_listed(tools)}\n\n{TRICKS}\n\n{HOW_TO_CONNECT}"


def _listed(tools: Toolset) -> str:
    if not tools.tools:
        return "No tools are enabled in this chat. Enable some, then ask again."
    lines = [f"- `{_example(tool)}` {tool.description.partition(chr(10))[0]}".rstrip() for tool in tools.tools]
    return "Tools you can call here:\n\n" + "\n".join(lines)


def _example(tool: ToolSpec) -> str:
    if tool.name in EXAMPLES:
        return EXAMPLES[tool.name]
    needed = json.loads(tool.schema).get("required", [])
    return " ".join([f"/{tool.name}", *(f"{name}=…" for name in needed)])


def _results(current: tuple[ChatMessage, ...]) -> list[ChatMessage]:
    return [message for message in current if message.role == "tool"]


def _asked(current: tuple[ChatMessage, ...]) -> str:
    """The person's own message: the first user message; a later one is the loop's request to answer now."""
    texts = [message.content or "" for message in current if message.role == "user"]
    return _ATTACHED.split(texts[0])[0] if texts else ""


def _text_reply(request: ModelRequest, text: str, reasoning: str = "") -> Reply:
    return Reply(text, reasoning=reasoning, usage=_usage(request, text + reasoning), model=DEMO_MODEL)


def _call_reply(request: ModelRequest, calls: list[DraftCall]) -> Reply:
    output = "".join(call.name + call.arguments for call in calls)
    return Reply("", tuple(calls), usage=_usage(request, output), finish="tool_calls", model=DEMO_MODEL)


def _usage(request: ModelRequest, output: str) -> Usage:
    prompt_chars = len(request.prompt.system) + sum(len(message.content or "") for message in request.prompt.current)
    return Usage(1 + prompt_chars // 4, 1 + len(output) // 4)


WELCOME = (
    "**This is the demo model.** It understands no language and gives the same answer each time, but the tools are "
    "real, and so is everything that happens around them. Start a line with `/` and a tool's name to call it; several "
    "such lines are called at once."
)

TRICKS = """\
What else is worth seeing:

- `/long` a long answer, to watch it stream and to stop it half way
- `/think` an answer with reasoning shown apart
- `/fail` a model that fails, and what can be done then
- `/limit` calls without end, until the limit of rounds stops them"""

HOW_TO_CONNECT = """\
**To connect a model**, open Models and add one, or set these before starting:

    OPENAI_API_KEY=…
    OPENAI_BASE_URL=https://api.z.ai/api/coding/paas/v4
    LLM_MODEL=glm-4.7

Any OpenAI-compatible server will do. Ollama, LM Studio, llama.cpp and vLLM on this machine are found by themselves."""

EXAMPLES = {
    "get_time": "/get_time",
    "calculate": "/calculate expression=6*7",
    "list_directory": "/list_directory path=.",
    "read_file": "/read_file path=welcome.md",
    "search_docs": "/search_docs query=approval",
    "count_slowly": "/count_slowly to=5",
    "write_note": '/write_note title=Hello text="Asks before it writes"',
}

FAILURE = "The demo model failed because it was asked to."
FAILURE_HINT = "Nothing was lost: retry the turn, or continue the chat."
ONLY_DEMO_HINT = (
    "Connect it under Models, or with OPENAI_API_KEY, OPENAI_BASE_URL and LLM_MODEL, and try again. Until then choose "
    "the model `demo` for this chat."
)

THOUGHT = (
    "The person wants to see what reasoning looks like. It is streamed and kept apart from the answer, and it is "
    "never sent to another provider. Now the answer itself."
)

LONG = """\
## A windlass, in some detail

A windlass is a drum that is turned by a crank. A rope is wound on the drum and a load hangs on the rope; each turn of \
the crank raises the load a little. What makes it safe is not the crank but the **pawl**: a small finger that drops \
behind each tooth of a wheel as it passes. Let go of the crank, and the load stays where it is.

### What that means here

1. A *turn* is a message of yours and everything it sets off: calls to the model, calls to tools, the answer.
2. Every step is written down before the next one begins. That is the pawl.
3. When the machine stops, in whatever way, the turn goes on from the last step that was written.
4. A tool call that may have had an effect is never repeated without asking you.

### What you can do while this streams

- Press **Stop**: the turn ends within two seconds, and the partial answer is kept.
- Reload the page, or open it in a second window: both show the same text at the same moment.
- Close the page: the turn goes on without you, and the answer is there when you return.

### A table, because answers have tables

| part | in a windlass | in Windlass |
|---|---|---|
| crank | turns the drum | your message |
| rope | carries the load | the log of the turn |
| pawl | holds each tooth | every event is written first |
| load | never slips back | nothing is lost or done twice |

### And some code

```python
from windlass import Windlass

async with Windlass() as w:
    turn = await w.ask("What can you do?")
    print(turn.answer)
```

That is all. The demo model has nothing more to say about windlasses, which is more than most models know."""
