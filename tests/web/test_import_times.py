"""An import keeps when things were said: in the list, at the messages, and when it is taken out again."""

import time
from pathlib import Path
from typing import Any

from tests.kit.ledger_file import Ledger
from tests.web.kit import Site, open_site
from windlass.config import LimitSettings
from windlass.testing import StrictLLM, call, say

OLD = [
    {"role": "user", "content": "Ahoy", "timestamp": "2023-03-01T14:05:00Z"},
    {"role": "assistant", "content": "Ahoy yourself.", "timestamp": "2023-03-01T14:05:09Z"},
    {"role": "user", "content": "Still there?", "timestamp": 1704067200},
    {"role": "assistant", "content": "Always."},
]


async def taken_in(site: Site, body: object) -> dict[str, Any]:
    reply = await site.call("POST", "/conversations/import", body)
    assert reply.status == 201, reply.text
    made: dict[str, Any] = reply.body["conversation"]
    return made


async def times(site: Site, id: str) -> list[str]:
    return [message["timestamp"] for message in (await site.get(f"/conversations/{id}/messages"))["messages"]]


async def test_an_imported_conversation_has_the_dates_of_its_messages(site: Site) -> None:
    now = await site.conversation(title="Of today")

    made = await taken_in(site, OLD)

    assert await times(site, made["id"]) == [
        "2023-03-01T14:05:00.000Z",
        "2023-03-01T14:05:09.000Z",
        "2024-01-01T00:00:00.000Z",
        "2024-01-01T00:00:00.000Z",
    ]
    listed = (await site.get("/conversations"))["conversations"]
    assert [one["id"] for one in listed] == [now, made["id"]], "the list is by time"
    assert listed[1]["created_at"] == "2023-03-01T14:05:00.000Z"
    assert listed[1]["updated_at"] == "2024-01-01T00:00:00.000Z"
    turns = (await site.get(f"/conversations/{made['id']}/turns"))["turns"]
    assert [turn["started_at"] for turn in turns] == ["2023-03-01T14:05:00.000Z", "2024-01-01T00:00:00.000Z"]


async def test_a_word_in_an_old_conversation_brings_it_to_the_top(site: Site, strict_llm: StrictLLM) -> None:
    made = await taken_in(site, OLD)
    await site.conversation(title="Of today")
    strict_llm.then(say("Here."))

    await site.post(f"/conversations/{made['id']}/chat", {"content": "And now?"})

    first = (await site.get("/conversations"))["conversations"][0]
    assert first["id"] == made["id"] and first["created_at"] == "2023-03-01T14:05:00.000Z"


async def test_an_export_that_comes_in_again_keeps_its_times(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation(title="Origin")
    await site.enable(id, "echo")
    strict_llm.then(call("echo", text="one"), say("First."), say("Second."))
    await site.post(f"/conversations/{id}/chat", {"content": "One"})
    await site.post(f"/conversations/{id}/chat", {"content": "Two"})
    exported = await site.get(f"/conversations/{id}/export")

    made = await taken_in(site, exported)

    for key in ("created_at", "updated_at"):
        assert made[key] == exported["conversation"][key]
    again = await site.get(f"/conversations/{made['id']}/export")
    assert _edges(again) == _edges(exported)
    third = await taken_in(site, again)
    assert await times(site, third["id"]) == await times(site, made["id"])


def _edges(exported: dict[str, Any]) -> list[tuple[str, str]]:
    """When each turn's first and last message were said."""
    said = [[message["timestamp"] for message in turn["messages"]] for turn in exported["turns"]]
    return [(times[0], times[-1]) for times in said]


async def test_messages_without_times_have_the_conversations_or_else_the_moment_they_came_in(site: Site) -> None:
    bare = [{"role": "user", "content": "Ahoy"}, {"role": "assistant", "content": "Ahoy.", "timestamp": "soon"}]

    dated = await taken_in(site, {"title": "T", "create_time": 1677679500, "messages": bare})
    undated = await taken_in(site, bare)

    assert dated["created_at"] == dated["updated_at"] == "2023-03-01T14:05:00.000Z"
    assert set(await times(site, dated["id"])) == {"2023-03-01T14:05:00.000Z"}
    assert undated["created_at"][:4] == time.strftime("%Y", time.gmtime())
    assert set(await times(site, undated["id"])) == {undated["updated_at"]}


async def test_an_old_conversation_that_came_in_today_is_not_tidied_away(tmp_path: Path, strict_llm: StrictLLM) -> None:
    async with open_site(tmp_path / "home", strict_llm, limits=LimitSettings(keep_days=30)) as site:
        made = await taken_in(site, OLD)
        await site.app.services.retention.purge()
        assert (await site.call("GET", f"/conversations/{made['id']}")).status == 200
        assert site.app.store.conversations.untouched(time.time() + 1) == [made["id"]]
