"""Limits that a person sets: kept, in force for the next turn, and never over the operator's file."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.web.kit import Site, open_site
from windlass.api.schemas import LimitChange
from windlass.config import LimitSettings, load
from windlass.testing import StrictLLM, say


async def limit(site: Site, name: str) -> dict[str, Any]:
    return next(one for one in (await site.get("/limits"))["limits"] if one["name"] == name)


async def test_a_limit_holds_for_the_next_turn_and_outlives_a_restart(tmp_path: Path, strict_llm: StrictLLM) -> None:
    async with open_site(tmp_path / "home", strict_llm) as site:
        changed = await site.call("PATCH", "/limits", {"limits": {"message_chars": 1000, "silence_s": 7.5}})
        assert changed.status == 200
        assert await limit(site, "silence_s") == {
            **{"name": "silence_s", "value": 7.5, "default": 240},
            **{"source": "saved", "live": True},
        }
        assert {config.patience.silence_s for config in site.app.models.configs()} == {7.5}
        conversation = await site.conversation()
        long = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "x" * 1001})
        assert long.status == 422 and "1,000" in long.body["error"]["message"]
    async with open_site(tmp_path / "home", strict_llm) as site:
        assert (await limit(site, "message_chars"))["value"] == 1000
        assert {config.patience.silence_s for config in site.app.models.configs()} == {7.5}
        await site.call("PATCH", "/limits", {"limits": {"message_chars": 1_000_000}})
        assert (await limit(site, "message_chars"))["source"] == "default"
        strict_llm.then(say("Hello."))
        body = await site.post(f"/conversations/{conversation}/chat", {"content": "x" * 1001})
        assert body["assistant_message"]["content"] == "Hello."


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"rounds": 3}, 409, "from_config"),
        ({"at_once": 3}, 409, "needs_restart"),
        ({"colour": 3}, 422, "bad_input"),
        ({"calls": 0}, 422, "bad_input"),
        ({"calls": None}, 422, "bad_input"),
        ({"calls": 2.5}, 422, "bad_input"),
        ({"message_chars": 10}, 422, "bad_input"),
        ({"keep_days": 0.5}, 422, "bad_input"),
        ({"calls": 5, "rounds": 3}, 409, "from_config"),
    ],
)
async def test_what_cannot_be_set_is_refused_whole(
    tmp_path: Path, strict_llm: StrictLLM, change: dict[str, Any], status: int, code: str
) -> None:
    async with open_site(tmp_path / "home", strict_llm, limits=LimitSettings(rounds=20)) as site:
        before = await site.get("/limits")
        refused = await site.call("PATCH", "/limits", {"limits": change})
        assert (refused.status, refused.code) == (status, code)
        assert refused.body["error"]["hint"]
        assert await site.get("/limits") == before


async def test_a_limit_that_the_file_sets_later_wins(tmp_path: Path, strict_llm: StrictLLM) -> None:
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.call("PATCH", "/limits", {"limits": {"rounds": 3, "turn_tokens": 500}})
    async with open_site(tmp_path / "home", strict_llm, limits=LimitSettings(rounds=20)) as site:
        assert (await limit(site, "rounds"))["value"] == 20
        assert (await limit(site, "turn_tokens"))["value"] == 500


async def test_a_limit_that_the_file_sets_to_its_default_is_the_operators_too(
    tmp_path: Path, strict_llm: StrictLLM
) -> None:
    file = tmp_path / "windlass.toml"
    file.write_text("limits = { rounds = 10 }\n")
    read = load(config=file)
    async with open_site(tmp_path / "home", strict_llm, limits=read.limits, limits_set=read.limits_set) as site:
        assert (await limit(site, "rounds"))["source"] == "file"
        refused = await site.call("PATCH", "/limits", {"limits": {"rounds": 3}})
        assert (refused.status, refused.code) == (409, "from_config")


async def test_of_two_changes_at_once_neither_is_lost(tmp_path: Path, strict_llm: StrictLLM) -> None:
    async with open_site(tmp_path / "home", strict_llm) as site:
        change = site.app.services.limits.change
        wanted = {"rounds": 3, "calls": 5}
        await asyncio.gather(*(change(LimitChange({name: value})) for name, value in wanted.items()))
        assert {name: (await limit(site, name))["value"] for name in wanted} == wanted


async def test_the_audit_names_the_limits_that_a_change_gave_and_no_values(
    tmp_path: Path, strict_llm: StrictLLM
) -> None:
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.call("PATCH", "/limits", {"limits": {"message_chars": 1234, "silence_s": 7.5}})
        [entry] = [one for one in (await site.get("/audit"))["entries"] if one["kind"] == "limits"]
        assert (entry["action"], entry["summary"]) == ("change", "limits=message_chars silence_s")
