"""`windlass doctor --live` against a stand-in for an account, in health and in failure."""

from pathlib import Path
from typing import Any

from tests.kit.zai_search import KEY, RemoteSearch, remote_route, zai_origin
from windlass.api import schemas
from windlass.app import open_app
from windlass.config import Config, ProviderSettings, WebSearchSettings
from windlass.services.live_check import MOST_REQUESTS
from windlass.testing import StrictLLM, call, error, say
from windlass.testing.recording import RecordedRequest
from windlass.testing.replies import Scripted

CANARY = "4f7a91c0d2canary"
FOUND = [{"title": "Nanaimo", "link": "https://a.test/", "content": "7 degrees."}]


async def report(home: Path, base_url: str, model: str = "glm-4.7", key: str = KEY) -> schemas.LiveReport:
    config = Config(
        home=home,
        providers=[ProviderSettings(base_url, model, key, name="account")],
        web_search=WebSearchSettings(keyless=False),
    )
    async with open_app(config, grace_s=0) as app:
        return await app.services.live_checks.check("account")


def results(found: schemas.LiveReport) -> dict[str, str]:
    return {row.check: row.result for row in found.rows}


def healthy(request: RecordedRequest) -> Scripted:
    if isinstance(request.body["messages"][0]["content"], list):
        return say("Red.")
    if not request.tools or request.tool_choice == "none" or request.tools[0]["type"] == "web_search":
        return say(*(f"{number}, " for number in range(1000))) if "Count" in request.user_text else say("ready")
    oslo = call("get_weather", city="Oslo")
    return oslo + call("get_weather", city="Lima") if "twice" in request.user_text else oslo


async def test_an_account_in_health_passes_with_twelve_requests_at_most(tmp_path: Path) -> None:
    remote = RemoteSearch(FOUND)
    async with remote_route(remote) as route:
        zai: dict[str, Any] = {"dialect": "zai", "api_key": KEY, "search": FOUND, "routes": [route]}
        async with StrictLLM(healthy, **zai) as llm:
            found = await report(tmp_path, llm.base_url, "glm-4.6v")
    assert results(found) == {
        "chat": "ok",
        "stream": "ok",
        "tools": "ok",
        "two requests at once": "ok",
        "two calls in one reply": "ok",
        "tool_choice: none": "ok",
        "picture": "ok",
        "coding endpoint": "no",  # this stand-in has the general one alone
        "search: zai": "ok",
        "search: zai-mcp": "ok",
    }
    assert found.ok and llm.refused == []
    assert len(llm.requests) + len(llm.searches) + len(remote.asked) == found.requests - 1 < MOST_REQUESTS
    assert KEY not in str(found) and found.address.startswith("127.0.0.1/")
    assert all(request.body["max_tokens"] <= 1024 for request in llm.requests)


async def test_the_coding_plan_is_the_configured_address_and_its_search_the_remote_one(tmp_path: Path) -> None:
    async with zai_origin(RemoteSearch(FOUND)) as llm:
        llm.then(say("ready"), error(500, None, "down"), say("Sunny."), say("ready"), say("Sunny."), say("Sunny."))
        found = await report(tmp_path, llm.base_url)
    rows = results(found)
    assert (rows["coding endpoint"], rows["search: zai"], rows["search: zai-mcp"]) == ("ok", "failed", "ok")
    assert (rows["stream"], rows["tools"], rows["two calls in one reply"]) == ("failed", "failed", "no")
    assert (rows["picture"], found.ok) == ("skipped", False)


async def test_a_key_that_is_refused_ends_the_questions_to_the_model_and_is_not_shown(tmp_path: Path) -> None:
    refusal = error(401, "1000", f"{CANARY} is not valid")
    async with StrictLLM(lambda request: refusal, dialect="zai", search=None) as llm:
        found = await report(tmp_path, llm.base_url, key=CANARY)
    assert [row.check for row in found.rows] == ["chat", "coding endpoint", "search: zai", "search: zai-mcp"]
    assert not found.ok and found.requests == 4 and CANARY not in str(found)
