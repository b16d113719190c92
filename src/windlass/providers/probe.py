"""What a model can do, found by asking it: does it stream, call a tool, call several at once, honour `required`, and
keep its call ids apart?"""

from typing import Literal

from windlass.core.errors import ModelError
from windlass.core.events import Settings
from windlass.core.messages import ChatMessage, Choice, Toolset, ToolSpec
from windlass.core.ports import LiveEvent, Model, ModelRequest, Prompt, Reply, TextDelta
from windlass.core.values import value_object

NEEDED = ("answers", "streams", "calls a tool")
_SCHEMA = '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}'
_TOOLS = Toolset(
    "probe-1", (ToolSpec("get_weather", "windlass", "get_weather", "The weather in a city now.", _SCHEMA),)
)


@value_object
class ProbeFinding:
    question: str
    answer: Literal["yes", "no", "failed"]
    detail: str = ""


@value_object
class Findings:
    provider: str
    model: str
    findings: tuple[ProbeFinding, ...]

    @property
    def usable(self) -> bool:
        return any(found.question == "answers" and found.answer == "yes" for found in self.findings)

    @property
    def missing(self) -> tuple[str, ...]:
        """What a model needs for Windlass and does not do."""
        done = {found.question for found in self.findings if found.answer == "yes"}
        return tuple(question for question in NEEDED if question not in done)


@value_object
class _Seen:
    reply: Reply | None
    deltas: int = 0
    problem: str = ""


async def probe(model: Model, provider: str, name: str) -> Findings:
    plain = await _ask(model, provider, name, "Count from one to fifty in words, separated by commas.")
    if plain.reply is None:
        return Findings(provider, name, (ProbeFinding("answers", "failed", plain.problem),))
    one = await _ask(model, provider, name, "What is the weather in Oslo? Use the tool.", _TOOLS)
    two = await _ask(model, provider, name, "Weather in Oslo and in Lima? Call the tool twice, at once.", _TOOLS)
    forced = await _ask(model, provider, name, "Say hello.", _TOOLS, "required")
    findings = (
        _finding("answers", bool(plain.reply.text), plain, f"{len(plain.reply.text)} characters"),
        _finding("streams", plain.deltas > 1, plain, f"{plain.deltas} pieces"),
        _finding("calls a tool", _calls(one) > 0, one, _repairs(one)),
        _finding("several calls at once", _calls(two) > 1, two, f"{_calls(two)} calls"),
        _finding("honours required", _calls(forced) > 0, forced),
        _finding("repeats call ids", _repeats_ids(one, two, forced), two),
    )
    return Findings(provider, name, findings)


async def _ask(
    model: Model, provider: str, name: str, text: str, tools: Toolset | None = None, choice: Choice = "auto"
) -> _Seen:
    deltas = 0

    def emit(event: LiveEvent) -> None:
        nonlocal deltas
        deltas += isinstance(event, TextDelta)

    prompt = Prompt("", (), (ChatMessage("user", text),), choice)
    request = ModelRequest("turn-probe", Settings(provider, name), prompt, tools or Toolset())
    try:
        return _Seen(await model.reply(request, emit), deltas)
    except ModelError as error:
        return _Seen(None, deltas, error.message)


def _finding(question: str, yes: bool, seen: _Seen, detail: str = "") -> ProbeFinding:
    if seen.reply is None:
        return ProbeFinding(question, "failed", seen.problem)
    return ProbeFinding(question, "yes" if yes else "no", detail)


def _calls(seen: _Seen) -> int:
    return sum(not call.broken for call in seen.reply.calls) if seen.reply else 0


def _repairs(seen: _Seen) -> str:
    if seen.reply is None:
        return ""
    return ", ".join((*seen.reply.repairs, *(repair for call in seen.reply.calls for repair in call.repairs)))


def _repeats_ids(*seen: _Seen) -> bool:
    ids = [call.wire_id for one in seen if one.reply for call in one.reply.calls if call.wire_id]
    return len(set(ids)) < len(ids)
