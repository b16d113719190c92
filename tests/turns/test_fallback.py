"""`fallback`: another provider answers when the first cannot, also after a restart in between."""

from pathlib import Path

from windlass.api import schemas
from windlass.app import open_app
from windlass.config import Config, LimitSettings, ProviderSettings
from windlass.core.events import ModelReplied
from windlass.providers import KeptList, ListedModel, ModelFacts
from windlass.testing import StrictLLM
from windlass.testing.replies import error, hang, say

HELLO = schemas.ChatRequest("Hello")
KEY = "key-of-the-second"
NO_KEY = error(401, "invalid_api_key", "no such key")


def settings(home: Path, first: StrictLLM, second: StrictLLM, *fallback: str) -> Config:
    providers = [
        ProviderSettings(first.base_url, "m1", "key-of-the-first", name="first", fallback=list(fallback)),
        ProviderSettings(second.base_url, "m2", KEY, name="second"),
    ]
    return Config(home=home, providers=providers, limits=LimitSettings(attempts=2))


async def test_the_answer_of_a_fallback_says_whose_it_is(tmp_path: Path) -> None:
    async with StrictLLM([NO_KEY]) as first, StrictLLM([say("From the second.")], api_key=KEY) as second:
        async with open_app(settings(tmp_path, first, second, "nobody/m", "second/m2"), grace_s=0) as app:
            made = (await app.services.conversations.create(schemas.NewConversation())).conversation.id
            answer = await app.services.turns.chat(made, HELLO)
            turn = (await app.services.turns.get(answer.turn_id, schemas.WaitQuery())).turn
            log = [row.event for row in app.store.logs.read(answer.turn_id)]
            [replied] = [event for event in log if isinstance(event, ModelReplied)]
    assert answer.assistant_message and answer.assistant_message.content == "From the second."
    assert answer.assistant_message.model == "second/m2"
    assert (turn.provider, turn.model, replied.provider, replied.model) == ("second", "m2", "second", "m2")


async def test_a_restart_goes_on_with_the_fallback(tmp_path: Path) -> None:
    async with StrictLLM([NO_KEY]) as first, StrictLLM([hang(), say("From the second.")]) as second:
        config = settings(tmp_path, first, second, "second/m2")
        async with open_app(config, grace_s=0) as app:
            made = (await app.services.conversations.create(schemas.NewConversation())).conversation.id
            stream = await app.services.turns.chat_watched(made, HELLO)
            await second.arrived(1)
            stream.close()
        async with open_app(config, grace_s=0) as app:
            await second.arrived(2)
            [turn] = app.store.conversations.turns(made)
            await app.runner.settled(turn.id, 30)
            assert app.store.conversations.turn(turn.id).outcome == "answered"
    assert len(first.requests) == 1


async def test_only_what_is_configured_and_able_takes_over(tmp_path: Path) -> None:
    async with StrictLLM() as first, StrictLLM() as second:
        async with open_app(settings(tmp_path, first, second, "second/mute", "second/m2"), grace_s=0) as app:
            models, provider = app.models, app.models.config("first")
            mute = ListedModel("mute", ModelFacts(tools=False))
            models.lists.restore(KeptList("second", second.base_url, (mute, ListedModel("m2"))))
            assert models.fallbacks(provider, "m1", tools=False) == (("second", "mute"), ("second", "m2"))
            assert models.fallbacks(provider, "m1", tools=True) == (("second", "m2"),)
            assert models.fallbacks(models.config("second"), "m2", tools=False) == ()
