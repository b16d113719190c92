"""A model's name in a chat, from the request to the provider that is asked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.web.kit import Site, open_site
from windlass.store import NAMES_EDITION
from windlass.testing import StrictLLM
from windlass.testing.replies import say


@asynccontextmanager
async def site_with(home: Path, default: StrictLLM, *others: StrictLLM) -> AsyncIterator[Site]:
    async with open_site(home, default) as site:
        known = {one["name"] for one in (await site.get("/providers"))["providers"]}
        for number, llm in enumerate(others):
            if f"other-{number}" not in known:
                new = {"name": f"other-{number}", "base_url": llm.base_url, "api_key": "k"}
                await site.post("/providers", new)
        yield site


async def test_a_chat_goes_to_the_provider_that_lists_the_model(tmp_path: Path) -> None:
    async with StrictLLM(models=["strict-model", "both"]) as default, StrictLLM(models=["both", "only/there"]) as other:
        async with site_with(tmp_path / "home", default, other) as site:
            conversation = await site.conversation()
            for name in ("both", "only/there", "other-0/both", "strict-model"):
                (default if name in ("both", "strict-model") else other).then(say("Yes."))
                await site.post(f"/conversations/{conversation}/chat", {"content": "Hello", "model": name})
            refused = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "?", "model": "bot"})
    assert [request.model for request in default.requests] == ["both", "strict-model"]
    assert [request.model for request in other.requests] == ["only/there", "both"]
    assert (refused.status, refused.body["error"]["code"]) == (422, "unknown_model")
    assert any(name.endswith("/both") for name in refused.body["error"]["detail"]["models"])


async def test_the_last_known_lists_outlive_their_servers_and_a_restart(tmp_path: Path) -> None:
    async with StrictLLM([say("Yes.")], models=["strict-model", "another"]) as default:
        async with site_with(tmp_path / "home", default) as site:
            conversation = await site.conversation()
            await site.post(f"/conversations/{conversation}/chat", {"content": "Hello", "model": "another"})
    async with site_with(tmp_path / "home", default) as site:  # nothing answers at its address any more
        unknown = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "?", "model": "unlisted"})
        assert (unknown.status, unknown.body["error"]["code"]) == (422, "unknown_model")
        assert (await site.app.models.find("another")).config.id == "strict"


async def test_a_name_stored_by_the_first_edition_keeps_its_provider(tmp_path: Path) -> None:
    async with StrictLLM(models=["strict-model"]) as default, StrictLLM(models=["glm-4.7"]) as other:
        async with site_with(tmp_path / "home", default, other) as site:
            conversation = await site.conversation(model="glm-4.7")
            row = site.app.store.conversations.get(conversation)
            assert row.names_edition == NAMES_EDITION
            other.then(say("Yes."))
            await site.post(f"/conversations/{conversation}/chat", {"content": "Hello"})
            await site.app.store.conversations.change(conversation, {"names_edition": 1})
            await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Hello"})
            await site.call("PATCH", f"/conversations/{conversation}", {"model": "glm-4.7"})
            other.then(say("Yes."))
            await site.post(f"/conversations/{conversation}/chat", {"content": "Hello"})
    assert [request.model for request in default.requests] == ["glm-4.7"]
    assert len(other.requests) == 2


async def test_the_name_windlass_is_reserved_for_personas(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home") as site:
        new = {"name": "Windlass", "base_url": "http://127.0.0.1:9/v1"}
        refused = await site.call("POST", "/providers", new)
        assert (refused.status, refused.body["error"]["detail"]["path"]) == (422, "name")
        made = (await site.post("/providers", {**new, "name": "Mine"}))["provider"]["id"]
        assert (await site.call("PATCH", f"/providers/{made}", {"name": "windlass"})).status == 422


async def test_a_chat_whose_provider_was_deleted_can_name_another_model(tmp_path: Path) -> None:
    async with StrictLLM([say("Yes.")], models=["strict-model"]) as default, StrictLLM(models=["there"]) as other:
        async with site_with(tmp_path / "home", default, other) as site:
            [made] = [one["id"] for one in (await site.get("/providers"))["providers"] if one["name"] == "other-0"]
            conversation = await site.conversation(provider=made)
            await site.call("DELETE", f"/providers/{made}")
            chat = f"/conversations/{conversation}/chat"
            await site.post(chat, {"content": "Hello", "model": "strict-model"})
            assert (await site.call("POST", chat, {"content": "Hello"})).body["error"]["code"] == "no_provider"
    assert len(default.requests) == 1
