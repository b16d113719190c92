"""Structured output at the wire: what each profile is sent, and what becomes of answers that do not fit."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.providers.kit import TOOLS, ask
from windlass.core.errors import BadInput, ModelError
from windlass.core.messages import ChatMessage, ToolCall, Toolset, Usage
from windlass.core.ports import DraftCall, Emit, ModelRequest, Reply, TextDelta
from windlass.providers.profiles import DEFAULT, Profile, profile_for
from windlass.providers.structured import ASKED_AGAIN, UNWRAPPED, output_format, structured_reply

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FORM: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "number", "schema": SCHEMA}}
OBJECT: dict[str, Any] = {"type": "json_object"}
GLM = profile_for("https://api.z.ai/api/paas/v4", "glm-4.7")
LM_STUDIO = profile_for("http://127.0.0.1:1234/v1", "x")
NO_TOOLS = Toolset()
CALLED = (
    ChatMessage("user", "How many?"),
    ChatMessage("assistant", None, (ToolCall("c1", "get_time"),)),
    ChatMessage("tool", "12:00", call_id="c1", name="get_time"),
)


class Sayings:
    """A model that gives these replies in order, and keeps what it was asked."""

    def __init__(self, *replies: Reply | str) -> None:
        self._replies = [Reply(one, usage=Usage(10, 1)) if isinstance(one, str) else one for one in replies]
        self.asked: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, emit: Emit) -> Reply:
        self.asked.append(request)
        emit(TextDelta(1, "piece"))
        return self._replies.pop(0)

    @property
    def forms(self) -> list[Any]:
        return [json.loads(one.settings.parameters or "{}").get("response_format") for one in self.asked]


def asking(form: object, *messages: ChatMessage, tools: Toolset = NO_TOOLS, **options: Any) -> ModelRequest:
    request = ask(*(messages or (ChatMessage("user", "How many?"),)), tools=tools, **options)
    return replace(request, settings=replace(request.settings, output=json.dumps(form)))


async def answered(model: Sayings, request: ModelRequest, profile: Profile = DEFAULT) -> Reply:
    emitted: list[object] = []
    reply = await structured_reply(model, profile, request, emitted.append)
    assert not any(isinstance(event, TextDelta) for event in emitted), "text may have to be asked for again"
    return reply


@pytest.mark.parametrize(
    ("profile", "form", "sent", "words"),
    [
        (DEFAULT, FORM, FORM, False),
        (GLM, FORM, OBJECT, True),
        (GLM, OBJECT, OBJECT, False),
        (
            LM_STUDIO,
            OBJECT,
            {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}},
            True,
        ),
        (replace(DEFAULT, formats=frozenset()), FORM, None, True),
    ],
    ids=["both", "no schema", "object", "schema alone", "neither"],
)
async def test_each_server_gets_the_form_that_it_knows_and_else_words(
    profile: Profile, form: object, sent: object, words: bool
) -> None:
    model = Sayings('{"n": 7}')
    assert (await answered(model, asking(form), profile)).text == '{"n": 7}'
    assert model.forms == [sent]
    assert ("JSON" in (model.asked[0].prompt.current[-1].content or "")) is words


async def test_an_answer_that_fits_by_itself_needs_no_further_request() -> None:
    model = Sayings('```json\n{"n": 7}\n```')
    reply = await answered(model, asking(FORM, tools=TOOLS))
    assert (reply.text, reply.repairs, model.forms) == ('{"n": 7}', (UNWRAPPED,), [None])


async def test_the_further_request_shows_calls_as_text_and_its_tokens_are_counted() -> None:
    model = Sayings("Twelve.", '{"n": "x"}', '{"n": 12}')
    reply = await answered(model, asking(FORM, *CALLED, tools=TOOLS))
    assert (reply.text, reply.repairs, reply.usage) == ('{"n": 12}', (ASKED_AGAIN,), Usage(30, 3))
    assert model.forms == [None, FORM, FORM] and not model.asked[1].tools.tools
    roles = [message.role for message in model.asked[1].prompt.current]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert "12:00" in (model.asked[1].prompt.current[2].content or "")


async def test_a_forced_answer_is_asked_for_in_its_form_at_once() -> None:
    model = Sayings('{"n": 12}')
    await answered(model, asking(FORM, *CALLED, ChatMessage("user", "Now."), tools=TOOLS, choice="none"))
    assert model.forms == [FORM] and not model.asked[0].tools.tools


@pytest.mark.parametrize(
    "reply",
    [
        Reply("Let me see.", (DraftCall("get_time"),)),
        Reply('{"n": ', finish="length"),
        Reply("I will not.", extra='{"refusal": "I will not."}'),
    ],
    ids=["calls", "cut", "refusal"],
)
async def test_what_is_no_answer_yet_or_none_at_all_is_given_as_it_came(reply: Reply) -> None:
    model = Sayings(reply)
    assert await answered(model, asking(FORM, tools=TOOLS), replace(DEFAULT, format_beside_tools=True)) == reply
    assert model.forms == [FORM] and model.asked[0].tools is TOOLS


@pytest.mark.parametrize("bad", ["Seven.", "NaN", "[1]", '{"n": 1.5}'])
async def test_a_second_answer_that_does_not_fit_is_a_failure_with_the_reason(bad: str) -> None:
    with pytest.raises(ModelError, match="form that was asked for") as failed:
        await answered(Sayings(bad, bad), asking(FORM))
    assert (failed.value.code, failed.value.retryable, failed.value.partial) == ("bad_output", False, bad)


@pytest.mark.parametrize("schema", [{"$ref": "https://a.example/s"}, {"type": 7}, {"pattern": "a" * 200_000}], ids=str)
def test_a_schema_that_cannot_be_checked_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="response_format"):
        output_format({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}})
