"""The scripted model that ships for other people's tests."""

import asyncio

import pytest

from tests.kit.waiting import turns_of_the_loop
from tests.providers.kit import Recorder, ask
from windlass.core.errors import ModelError
from windlass.core.messages import SourceLink
from windlass.core.ports import CallDelta, DraftCall, ModelRequest, ReasoningDelta, TextDelta
from windlass.providers.scripted import ScriptedLine, ScriptedModel, call, draft, say, think


async def test_each_request_takes_the_next_line() -> None:
    model = ScriptedModel(call("look", path="/"), say("Two ", "files."))
    recorder = Recorder()
    first = await model.reply(ask("What is there?"), recorder)
    second = await model.reply(ask("And?"), recorder)
    assert first.calls == (DraftCall("look", '{"path": "/"}'),)
    assert (first.finish, second.finish, second.text) == ("tool_calls", "stop", "Two files.")
    assert recorder.events == [CallDelta(1, 0, "look", '{"path": "/"}'), TextDelta(1, "Two "), TextDelta(1, "files.")]
    assert [request.prompt.current[0].content for request in model.requests] == ["What is there?", "And?"]
    assert model.left == 0


async def test_lines_add_up() -> None:
    line = think("Hm.") + say("Let me see. ") + call("a") + call("b")
    recorder = Recorder()
    reply = await ScriptedModel(line.citing(SourceLink("T", "https://t.example")).ending("length")).reply(
        ask(), recorder
    )
    assert (reply.reasoning, reply.text, [one.name for one in reply.calls]) == ("Hm.", "Let me see. ", ["a", "b"])
    assert (reply.finish, reply.sources) == ("length", (SourceLink("T", "https://t.example"),))
    assert recorder.events[0] == ReasoningDelta(1, "Hm.")
    assert recorder.events[-1] == CallDelta(1, 1, "b", "{}")


async def test_a_line_may_be_an_error_or_a_function_of_the_request() -> None:
    def echo(request: ModelRequest) -> ScriptedLine:
        return say(request.prompt.current[0].content or "")

    model = ScriptedModel(ModelError("timeout", "Too slow.", retryable=True))
    model.then(echo, draft(DraftCall("x", broken="cut", raw="{")))
    with pytest.raises(ModelError, match="Too slow"):
        await model.reply(ask(), Recorder())
    assert (await model.reply(ask("Back to me"), Recorder())).text == "Back to me"
    assert (await model.reply(ask(), Recorder())).calls[0].broken == "cut"


async def test_a_line_waits_at_an_event() -> None:
    gate, recorder = asyncio.Event(), Recorder()
    reply = asyncio.create_task(ScriptedModel(say("a", gate, "b")).reply(ask(), recorder))
    await turns_of_the_loop()
    assert recorder.events == [TextDelta(1, "a")]
    gate.set()
    assert (await reply).text == "ab"


async def test_a_request_beyond_the_script_is_an_error() -> None:
    with pytest.raises(ModelError, match="no line for request 1"):
        await ScriptedModel().reply(ask(), Recorder())
