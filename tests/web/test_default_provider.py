"""Who new chats use: a provider without a model, or one that does not answer, never becomes the default by itself."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.web.kit import Site, open_site
from windlass.testing import StrictLLM

NOBODY = "http://127.0.0.1:9/v1"


@pytest_asyncio.fixture
async def picky() -> AsyncIterator[StrictLLM]:
    async with StrictLLM(api_key="right") as made:
        yield made


def fields(llm: StrictLLM, **more: Any) -> dict[str, Any]:
    return {"name": "Own", "base_url": llm.base_url, "api_key": "right", "model": "m", **more}


async def defaults(site: Site) -> list[str]:
    return [one["name"] for one in (await site.get("/providers"))["providers"] if one["default"]]


@pytest.mark.parametrize(
    ("change", "status", "code", "words"),
    [
        ({"model": ""}, 422, "model_required", "Choose a model first"),
        ({"api_key": "wrong"}, 409, "provider_unusable", "rejected the API key"),
        ({"base_url": NOBODY}, 409, "provider_unusable", "127.0.0.1:9 cannot be reached"),
        ({"base_url": "http://\U0010fbf3/v1"}, 409, "provider_unusable", "address or key cannot be used"),
    ],
)
async def test_a_provider_that_cannot_answer_is_refused_as_the_default(
    site: Site, picky: StrictLLM, change: dict[str, Any], status: int, code: str, words: str
) -> None:
    before = await defaults(site)
    refused = await site.call("POST", "/providers", fields(picky, default=True) | change)
    assert (refused.status, refused.code) == (status, code)
    assert words in refused.body["error"]["message"] and refused.body["error"]["hint"]
    kept = (await site.post("/providers", fields(picky) | change))["provider"]["id"]
    refused = await site.call("PATCH", f"/providers/{kept}", {"default": True})
    assert (refused.status, refused.code) == (status, code)
    assert await defaults(site) == before


async def test_the_default_keeps_a_model(site: Site, picky: StrictLLM) -> None:
    id = (await site.post("/providers", fields(picky, default=True)))["provider"]["id"]
    refused = await site.call("PATCH", f"/providers/{id}", {"model": ""})
    assert (refused.status, refused.code) == (422, "model_required")
    assert await defaults(site) == ["Own"]


async def test_one_that_does_not_answer_leaves_the_demo_until_it_does(tmp_path: Path, picky: StrictLLM) -> None:
    async with open_site(tmp_path / "home") as site:
        added = await site.post("/providers", fields(picky) | {"api_key": "wrong"})
        assert "New chats don't use it yet" in added["message"] and "rejected the API key" in added["message"]
        assert await defaults(site) == ["Demo model"]
    async with open_site(tmp_path / "home") as site:
        assert await defaults(site) == ["Demo model"], "a restart does not forget it"
        mended = await site.call("PATCH", f"/providers/{added['provider']['id']}", {"api_key": "right"})
        assert mended.body["message"] == "Provider changed"
        assert await defaults(site) == ["Own"]


async def test_a_deleted_default_is_followed_by_one_that_answers(
    tmp_path: Path, strict_llm: StrictLLM, picky: StrictLLM
) -> None:
    async with open_site(tmp_path / "home") as site:
        first = (await site.post("/providers", fields(strict_llm, name="First")))["provider"]["id"]
        dead = (await site.post("/providers", fields(picky, name="Dead")))["provider"]["id"]
        await site.post("/providers", fields(picky, name="Third"))
        assert (await site.call("PATCH", f"/providers/{dead}", {"api_key": "wrong"})).status == 200
        assert await defaults(site) == ["First"]
        gone = await site.call("DELETE", f"/providers/{first}")
        assert gone.body["message"] == "Provider and key deleted. New chats use Third"
        assert await defaults(site) == ["Third"]
