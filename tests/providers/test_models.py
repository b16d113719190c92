"""Providers behind one port: dispatch, change at run time, lists, detection, probing."""

import asyncio

import pytest
from yarl import URL

from tests.kit.waiting import turns_of_the_loop
from tests.providers.kit import QUICK, Recorder, ask, raw_server
from windlass.core.errors import ModelError
from windlass.providers import DemoModel, FoundServer, Models, ProviderConfig, ScriptedModel, detect_local
from windlass.providers.model_lists import ModelLists
from windlass.providers.models import WIRES
from windlass.providers.scripted import call, say
from windlass.testing import StrictLLM
from windlass.testing import call as wire_call
from windlass.testing import say as wire_say
from windlass.testing.recording import RecordedRequest
from windlass.testing.replies import ScriptedReply


def provider(name: str, base_url: str) -> ProviderConfig:
    return ProviderConfig(name, base_url=base_url, api_key="key-for-tests", model="m", patience=QUICK)


async def test_a_request_goes_to_the_provider_of_its_turn() -> None:
    async with StrictLLM([wire_say("from a")]) as a, StrictLLM([wire_say("from b")]) as b:
        models = Models([provider("a", a.base_url), provider("b", b.base_url)])
        assert (await models.reply(ask(provider="b"), Recorder())).text == "from b"
        assert (await models.reply(ask(), Recorder())).text == "from a"
        await models.aclose()


async def test_the_demo_steps_back_when_there_is_a_real_model() -> None:
    models = Models([ProviderConfig("demo", wire="demo")])
    assert models.config().id == "demo"
    models.put(ProviderConfig("real"))
    assert models.config().id == "real"
    models.remove("real")
    assert models.config().id == "demo"


async def test_the_default_can_be_named() -> None:
    models = Models([ProviderConfig("a"), ProviderConfig("b")], default="b")
    models.use("b", ScriptedModel(say("b here")))
    assert (await models.reply(ask(), Recorder())).text == "b here"


async def test_providers_are_replaced_and_removed_while_running() -> None:
    async with StrictLLM([wire_say("old")]) as old, StrictLLM([wire_say("new")]) as new:
        models = Models([provider("a", old.base_url)])
        assert (await models.reply(ask(provider="a"), Recorder())).text == "old"
        models.put(provider("a", new.base_url))
        assert (await models.reply(ask(provider="a"), Recorder())).text == "new"
        models.remove("a")
        with pytest.raises(ModelError, match="no provider 'a'") as caught:
            await models.reply(ask(provider="a"), Recorder())
        assert (caught.value.code, caught.value.retryable) == ("no_provider", False)
        await models.aclose()


async def test_no_provider_at_all_says_how_to_add_one() -> None:
    with pytest.raises(ModelError, match="No model provider is configured") as caught:
        await Models().reply(ask(), Recorder())
    assert "OPENAI_API_KEY" in caught.value.hint


def test_a_key_is_in_no_representation() -> None:
    assert "key-for-tests" not in repr(provider("a", "http://x/v1"))


async def test_the_demo_model_needs_no_address() -> None:
    models = Models([ProviderConfig("demo", wire="demo")])
    assert isinstance(models.model(), DemoModel)
    assert await models.list_models() == ("demo",)


async def test_the_models_of_a_server_are_listed() -> None:
    async with StrictLLM(models=["m1", "m2"], api_key="key-for-tests") as llm:
        models = Models([provider("a", llm.base_url)])
        assert await models.list_models("a") == ("m1", "m2")
        models.put(ProviderConfig("a", base_url=llm.base_url, api_key="wrong"))
        with pytest.raises(ModelError) as caught:
            await models.list_models("a")
        assert caught.value.code == "auth"
        await models.aclose()


@pytest.mark.parametrize(
    ("answer", "listed"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", ("m",)),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"data":[]}', ("m",)),
    ],
)
async def test_a_server_without_a_list_has_its_configured_model(answer: bytes, listed: tuple[str, ...]) -> None:
    async def serve(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    async with raw_server(serve) as base_url:
        models = Models([provider("a", base_url)])
        assert await models.list_models() == listed
        await models.aclose()


async def test_a_long_list_is_read_to_its_end() -> None:
    names = [f"model-{number}" for number in range(20_000)]
    async with StrictLLM(models=names) as llm:
        models = Models([provider("a", llm.base_url)])
        assert await models.list_models() == tuple(names)
        await models.aclose()


async def test_a_list_of_another_shape_is_an_error() -> None:
    async def serve(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n<html/>xxxxx")

    async with raw_server(serve) as base_url:
        models = Models([provider("a", base_url)])
        with pytest.raises(ModelError, match="no list of models"):
            await models.list_models()
        await models.aclose()


async def test_a_local_server_is_known_by_the_shape_of_its_list() -> None:
    async def page(writer: asyncio.StreamWriter) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{"data":"hello"}')

    async def model(writer: asyncio.StreamWriter) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n{"data":[{"id":"llama3"}]}')

    async def mute(writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with raw_server(page) as a, raw_server(model) as b, raw_server(mute) as c:
        ports = tuple(URL(base_url).port or 0 for base_url in (a, c, b))
        assert await detect_local(ports) == (FoundServer("Local server", b, ("llama3",)),)


async def test_a_good_model_passes_every_probe() -> None:
    def answer(request: RecordedRequest) -> ScriptedReply:
        if not request.tools:
            return wire_say("one, ", "two, ", "three")
        twice = "twice" in request.user_text
        oslo = wire_call("get_weather", city="Oslo")
        return oslo + wire_call("get_weather", city="Lima") if twice else oslo

    async with StrictLLM(answer) as llm:
        models = Models([provider("a", llm.base_url)])
        found = await models.probe("a", "m")
        await models.aclose()
    assert {one.question: one.answer for one in found.findings} == {
        "answers": "yes",
        "streams": "yes",
        "calls a tool": "yes",
        "several calls at once": "yes",
        "honours required": "yes",
        "repeats call ids": "no",
    }
    assert found.usable
    assert llm.requests[3].tool_choice == "required"


async def test_a_poor_model_is_found_out() -> None:
    models = Models()
    models.use("a", ScriptedModel(*(say("No tools here.") for _ in range(4))))
    found = await models.probe("a", "m")
    answers = {one.question: one.answer for one in found.findings}
    assert answers["streams"] == answers["calls a tool"] == answers["honours required"] == "no"


async def test_a_model_that_fails_is_reported_not_raised() -> None:
    models = Models()
    models.use("a", ScriptedModel(ModelError("auth", "The key is wrong.")))
    found = await models.probe("a", "m")
    assert [(one.answer, one.detail) for one in found.findings] == [("failed", "The key is wrong.")]
    assert not found.usable


async def test_a_probe_goes_on_when_one_question_fails() -> None:
    models = Models()
    refused = ModelError("bad_request", "No tools.")
    models.use("a", ScriptedModel(say("one ", "two"), refused, call("get_weather", city="Oslo"), refused))
    found = {one.question: one.answer for one in (await models.probe("a", "m")).findings}
    assert (found["calls a tool"], found["several calls at once"]) == ("failed", "no")


async def test_a_wire_is_chosen_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WIRES, "echo", lambda config, cache, media: ScriptedModel(say(f"by {config.wire}")))
    reply = await Models([ProviderConfig("own", wire="echo", model="m")]).reply(ask("Hello"), lambda event: None)
    assert reply.text == "by echo"


async def test_a_wire_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ModelError) as caught:
        Models([ProviderConfig("own", wire="telegraph")]).model()
    assert caught.value.code == "unknown_wire" and "openai" in caught.value.hint


async def test_a_provider_that_hangs_holds_up_one_look_up_and_not_those_that_follow() -> None:
    now, hung = [0.0], asyncio.Event()

    async def hang(writer: object) -> None:
        await hung.wait()

    async with raw_server(hang) as address:
        both = [provider("a", address), ProviderConfig("b", model="m2")]
        lists = ModelLists(lambda: now[0])
        first = asyncio.create_task(lists.find("b/other", "a", both))
        await turns_of_the_loop(20)
        assert not first.done()
        now[0] = 6.0
        later = asyncio.create_task(lists.find("b/other", "a", both))
        await turns_of_the_loop(20)
        assert later.done() and later.result().model == "other"
        first.cancel()
        hung.set()
        await lists.aclose()
