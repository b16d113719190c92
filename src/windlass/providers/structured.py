"""Answers in a form that the caller chose: JSON, or JSON that fits a schema. The form goes with the request where the
model takes it beside tools, else with one further request without tools. Each answer is checked here, whatever its
server promises; one that does not fit is asked for once more."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from windlass.core.errors import BadInput, ModelError
from windlass.core.messages import ChatMessage, Toolset, Usage
from windlass.core.ports import Emit, LiveEvent, Model, ModelRequest, Reply, TextDelta
from windlass.core.prompt import without_calls
from windlass.core.values import value_object
from windlass.json_schema import DEEPEST, check_bounds, compiled, deepest_value, depth_of, errors_of
from windlass.providers.failures import BAD_REQUEST
from windlass.providers.profiles import Format, Profile

BAD_OUTPUT = "bad_output"
FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)
UNWRAPPED = "the answer was taken out of a code block"
ASKED_AGAIN = "the answer did not have the form that was asked for; asked again"
_ANY_OBJECT = {"type": "object"}


@value_object
class OutputFormat:
    """What a `response_format` asks for; `schema` is what an answer must fit."""

    kind: Format
    schema: dict[str, Any]
    sent: dict[str, Any]  # as the caller wrote it
    deepest: int = DEEPEST  # how deep an answer may be nested

    def problem(self, text: str) -> str:
        """Why the text is not such an answer, or "" when it is."""
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            return f"It is not valid JSON: {error}"
        if depth_of(value) > self.deepest:
            return f"It is nested deeper than {self.deepest} levels, which cannot be checked against this schema."
        return "; ".join(errors_of(compiled(self.schema), value, "(answer)"))

    def for_profile(self, profile: Profile) -> dict[str, Any] | None:
        """The `response_format` to send; None where the server has none that helps."""
        if self.kind in profile.formats:
            return self.sent
        if "json_object" in profile.formats:
            return {"type": "json_object"}
        named = {"name": "answer", "schema": self.schema}
        return {"type": "json_schema", "json_schema": named} if "json_schema" in profile.formats else None

    def in_words(self) -> str:
        if self.kind == "json_object":
            return "Answer with one JSON object and nothing else: no code block, no words around it."
        schema = json.dumps(self.schema, ensure_ascii=False)
        return f"Answer with JSON that fits this JSON Schema, without a code block or words around it:\n{schema}"


def output_format(given: object) -> OutputFormat | None:
    """None for plain text. Raises `BadInput` for what cannot be kept."""
    match given:
        case None | {"type": "text"}:
            return None
        case {"type": "json_object"}:
            return OutputFormat("json_object", _ANY_OBJECT, {"type": "json_object"})
        case {"type": "json_schema", "json_schema": {"name": str(), "schema": dict() as schema} as named}:
            try:
                check_bounds(schema)
                compiled(schema)
                deepest = deepest_value(schema)
            except BadInput as error:
                raise _refused(error.message) from None
            return OutputFormat("json_schema", schema, {"type": "json_schema", "json_schema": named}, deepest)
    raise _refused("`text`, `json_object`, or `json_schema` with a `name` and a `schema`.")


async def structured_reply(model: Model, profile: Profile, request: ModelRequest, emit: Emit) -> Reply:
    """A reply with calls is given as it came: it is not the answer yet. Text is not streamed, since it may have to be
    asked for again."""
    wanted = output_format(json.loads(request.settings.output))
    if wanted is None:
        return await model.reply(request, emit)
    exchange = _Exchange(model, profile, request, wanted, _without_text(emit))
    alone = not request.tools.tools
    reply = await exchange.first()
    for _ in range(1 if alone or profile.format_beside_tools else 2):
        if reply.calls or _cut_or_refused(reply):
            return reply
        if not (problem := wanted.problem(reply.text)):
            return reply
        reply = await exchange.again(reply, problem)
    if not _cut_or_refused(reply) and (problem := wanted.problem(reply.text)):
        raise ModelError(
            BAD_OUTPUT,
            f"The model's answer does not have the form that was asked for. {problem}",
            hint="Ask again, simplify the schema, or choose another model.",
            partial=reply.text,
        )
    return reply


class _Exchange:
    def __init__(self, model: Model, profile: Profile, request: ModelRequest, wanted: OutputFormat, emit: Emit) -> None:
        self._model = model
        self._request = request
        self._wanted = wanted
        self._emit = emit
        self._format = wanted.for_profile(profile)
        self._beside_tools = profile.format_beside_tools
        self._asked = False

    async def first(self) -> Reply:
        request = self._request
        alone = bool(request.tools.tools) and not self._beside_tools
        if alone and request.prompt.choice != "none":
            return _unwrapped(await self._model.reply(request, self._emit))
        words = () if self._format == self._wanted.sent else (ChatMessage("user", self._wanted.in_words()),)
        return await self._ask(words, alone=alone)

    async def again(self, reply: Reply, problem: str) -> Reply:
        words = ChatMessage("user", f"{self._wanted.in_words()}\nThe last answer cannot be used. {problem}")
        last = (ChatMessage("assistant", reply.text),) if reply.text else ()
        repairs = (*reply.repairs, ASKED_AGAIN) if self._asked else reply.repairs
        later = await self._ask((*last, words), alone=True)
        usage = _sum(reply.usage, later.usage)
        return replace(later, usage=usage, repairs=(*repairs, *later.repairs), sources=reply.sources)

    async def _ask(self, more: Sequence[ChatMessage], *, alone: bool) -> Reply:
        self._asked = True
        try:
            return _unwrapped(await self._model.reply(self._with_form(more, alone), self._emit))
        except ModelError as error:
            if error.code != BAD_REQUEST.cause or "response_format" not in error.message:
                raise
        self._format = None  # this server has none; words must do
        more = more or (ChatMessage("user", self._wanted.in_words()),)
        return _unwrapped(await self._model.reply(self._with_form(more, alone), self._emit))

    def _with_form(self, more: Sequence[ChatMessage], alone: bool) -> ModelRequest:
        """`alone`: without tools, and the history's calls as text."""
        request, prompt = self._request, self._request.prompt
        form = {"response_format": self._format} if self._format else {}
        parameters = json.dumps({**json.loads(request.settings.parameters or "{}"), **form}, ensure_ascii=False)
        if alone:
            past = [message for turn in prompt.past for message in turn.messages]
            messages = tuple(without_calls((*past, *prompt.current, *more)))
            prompt = replace(prompt, past=(), current=messages, choice="none", offers=False)
        else:
            prompt = replace(prompt, current=(*prompt.current, *more))
        tools = Toolset() if alone else request.tools
        return replace(request, prompt=prompt, tools=tools, settings=replace(request.settings, parameters=parameters))


def _without_text(emit: Emit) -> Emit:
    def emit_the_rest(event: LiveEvent) -> None:
        if not isinstance(event, TextDelta):
            emit(event)

    return emit_the_rest


def _cut_or_refused(reply: Reply) -> bool:
    return reply.finish == "length" or bool(json.loads(reply.extra or "{}").get("refusal"))


def _unwrapped(reply: Reply) -> Reply:
    found = None if reply.calls else FENCED.fullmatch(reply.text)
    return replace(reply, text=found[1], repairs=(*reply.repairs, UNWRAPPED)) if found else reply


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.prompt + other.prompt,
        one.completion + other.completion,
        one.cached + other.cached,
        one.reasoning + other.reasoning,
    )


def _refused(reason: str) -> BadInput:
    return BadInput(f"response_format: {reason}", detail={"path": "response_format"})


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
