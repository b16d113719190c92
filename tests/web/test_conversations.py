"""Conversations over HTTP: create, page, search, change, export, import, delete for good."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.kit.holding import held
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import turns_of_the_loop, until
from tests.web.kit import Site, open_site
from windlass.api import schemas
from windlass.config import LimitSettings
from windlass.testing import Gate, StrictLLM, call, calls, error, history_faults, say, wait_for


async def test_a_conversation_has_the_seeds_envelope_and_its_own_fields(site: Site) -> None:
    fields = {"title": "Tides", "system_prompt": "Be wet.", "temperature": 0.5, "max_tokens": 1000}

    created = await site.call("POST", "/conversations", fields)

    assert created.status == 201
    assert (created.body["success"], created.body["message"]) == (True, "Conversation created")
    conversation = created.body["conversation"]
    assert conversation["id"].startswith("conv-") and conversation["created_at"].endswith("Z")
    assert {name: conversation[name] for name in fields} == fields
    assert (await site.get(f"/conversations/{conversation['id']}"))["conversation"] == conversation


async def test_a_change_touches_only_what_it_names_and_null_is_a_value(site: Site) -> None:
    id = await site.conversation(title="Old", max_tokens=10, system_prompt="Keep me.")

    for method in ("PATCH", "PUT"):
        reply = await site.call(method, f"/conversations/{id}", {"title": "New", "max_tokens": None})
        changed = reply.body["conversation"]
        assert (changed["title"], changed["max_tokens"], changed["system_prompt"]) == ("New", None, "Keep me.")


async def test_changes_at_the_same_moment_keep_each_others_fields(tmp_path: Path, strict_llm: StrictLLM) -> None:
    async with open_site(tmp_path / "home", strict_llm) as site:
        conversation = await site.conversation()
        conversations = site.app.services.conversations
        await asyncio.gather(
            conversations.change(conversation, schemas.ConversationChange(title="Docs")),
            conversations.change(conversation, schemas.ConversationChange(description="All about them")),
        )
        shown = (await site.get(f"/conversations/{conversation}"))["conversation"]
    assert (shown["title"], shown["description"]) == ("Docs", "All about them")


async def test_pages_show_every_conversation_once_newest_first(site: Site) -> None:
    made = [await site.conversation(title=str(n)) for n in range(7)]
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = await site.get(f"/conversations?limit=3&cursor={cursor}")
        assert page["count"] == len(page["conversations"]) <= 3
        seen += [one["id"] for one in page["conversations"]]
        cursor = page["next_cursor"]
    assert seen == made[::-1]


async def test_search_finds_messages_and_tool_results(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation(title="Fruit")
    await site.conversation(title="Other")
    await site.enable(id, "echo")
    strict_llm.then(call("echo", text="a persimmon"), say("Here it is."))
    await site.post(f"/conversations/{id}/chat", {"content": "Find a quince"})

    for words in ("quince", "persimmon", "QUIN"):
        found: list[Any] = []

        async def look(words: str = words, found: list[Any] = found) -> bool:
            found[:] = (await site.get(f"/conversations/search?q={words}"))["conversations"]
            return bool(found)

        await _until(look)
        assert [one["id"] for one in found] == [id]
        assert words.lower() in found[0]["excerpt"].lower()
        [hit] = found[0]["hits"]
        shown = (await site.get(f"/conversations/{id}/messages"))["messages"]
        assert words.lower() in next(one["content"] for one in shown if one["id"] == hit["message_id"]).lower()
        assert words.lower() in hit["pieces"][1].lower()


async def test_search_shows_each_conversation_as_the_list_does(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    gate = Gate()
    seconds: list[Any] = [
        call("record", effect_id="x"),
        error(401, None, "bad key"),
        say("Well"),
        wait_for(gate) + say("Done."),
    ]
    for second in seconds:
        id = await site.conversation()
        await site.enable(id, "record", approval="ask")
        await site.post(f"/conversations/{id}/messages", {"role": "user", "content": "A plover"})
        strict_llm.then(second)
        if second is seconds[-1]:
            asking = asyncio.create_task(site.call("POST", f"/conversations/{id}/chat", {"content": "And?"}))
            await gate.reached()
        else:
            await site.call("POST", f"/conversations/{id}/chat", {"content": "And?"})

    found = (await site.get("/conversations/search?q=plover"))["conversations"]
    listed = (await site.get("/conversations"))["conversations"]

    assert {one["state"] for one in listed} == {"running", "awaiting_person", "finished"}
    assert {one["outcome"] for one in listed} == {None, "failed", "answered"}
    assert all("plover" in one.pop("excerpt") and one.pop("hits") for one in found)
    assert sorted(found, key=lambda one: str(one["id"])) == sorted(listed, key=lambda one: str(one["id"]))
    gate.open()
    await asking


async def _until(condition: Any) -> None:
    for _ in range(2000):
        if await condition():
            return
    raise AssertionError("it never came true")


async def test_a_title_is_made_from_the_first_message_and_kept(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    strict_llm.then(say("Hi."), say("Again."))
    await site.post(f"/conversations/{id}/chat", {"content": "How do  tides\nwork? " + "Tell me all. " * 20})
    title = (await site.get(f"/conversations/{id}"))["conversation"]["title"]
    await site.post(f"/conversations/{id}/chat", {"content": "Something else"})

    assert title.startswith("How do tides work? Tell me") and title.endswith("…") and len(title) <= 60
    assert (await site.get(f"/conversations/{id}"))["conversation"]["title"] == title


async def test_deleting_leaves_nothing_of_it_in_the_data_folder(
    site: Site, strict_llm: StrictLLM, ledger: Ledger, tmp_path: Path
) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation(title="Canary-title")
    await site.enable(id, "echo", "big")
    await site.post(f"/conversations/{id}/context", {"descriptive_name": "n", "content": "Canary-context"})
    strict_llm.then(calls(call("echo", text="Canary-result"), call("big", chars=100_000)), say("Canary-answer"))
    body = await site.post(f"/conversations/{id}/chat", {"content": "Canary-question"})
    turn = (await site.get(f"/turns/{body['turn_id']}"))["turn"]
    result = turn["calls"][1]["result_id"]
    assert (await site.get(f"/results/{result}"))["size"] == 100_000

    deleted = await site.call("DELETE", f"/conversations/{id}")

    assert (deleted.status, deleted.body["message"]) == (200, "Conversation deleted")
    for path in (f"/conversations/{id}", f"/turns/{body['turn_id']}", f"/results/{result}"):
        assert (await site.call("GET", path)).status == 404
    home = tmp_path / "home"
    assert not [path for path in home.rglob("*") if path.is_file() and b"Canary-" in path.read_bytes()]
    assert not list(home.rglob(result))


async def test_conversations_are_kept_as_long_as_the_operator_says(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    async with open_site(home, strict_llm) as site:
        gone = await site.conversation(title="Seven three one five")
        await site.app.services.retention.purge()
        assert (await site.call("GET", f"/conversations/{gone}")).status == 200, "kept for ever by default"
    monkeypatch.setattr("windlass.app.PURGE_S", 0.01)
    async with open_site(home, strict_llm, limits=LimitSettings(keep_days=1)) as site:
        await site.add_ledger(ledger)
        waits = await site.conversation(title="Waits")
        await site.enable(waits, "record", approval="ask")
        strict_llm.then(call("record", effect_id="a"))
        await site.post(f"/conversations/{waits}/chat", {"content": "Hello"})
        left = site.app.store.conversations.untouched
        assert set(left(1e12)) == {gone, waits}
        in_two_days = time.time() + 2 * 86400
        monkeypatch.setattr("windlass.services.retention.time.time", lambda: in_two_days)
        await until(lambda: left(1e12) == [waits], "the tidying")
        await site.app.services.retention.purge()
        assert left(1e12) == [waits], "what waits for a person stays"
    assert not [file for file in home.rglob("*") if file.is_file() and b"Seven three" in file.read_bytes()]


async def test_deleting_a_running_conversation_stops_it_first(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation()
    await site.enable(id, "record", approval="ask")
    strict_llm.then(call("record", effect_id="x"))
    body = await site.post(f"/conversations/{id}/chat", {"content": "Wait"})

    assert (await site.call("DELETE", f"/conversations/{id}")).status == 200

    assert (await site.call("GET", f"/turns/{body['turn_id']}")).status == 404
    assert ledger.effects() == []


async def test_an_export_comes_back_in_with_all_its_branches(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation(title="Origin", system_prompt="Be exact.")
    await site.enable(id, "echo")
    await site.post(f"/conversations/{id}/context", {"descriptive_name": "n", "content": "c"})
    strict_llm.then(call("echo", text="one"), say("First."), say("Second."), say("Other second."))
    first = await site.post(f"/conversations/{id}/chat", {"content": "One"})
    await site.post(f"/conversations/{id}/chat", {"content": "Two"})
    branch = {"content": "Two, otherwise", "parent_turn_id": first["turn_id"]}
    await site.post(f"/conversations/{id}/chat", branch)
    exported = await site.get(f"/conversations/{id}/export")

    back = await site.call("POST", "/conversations/import", exported)

    assert back.status == 201 and back.body["repairs"] == []
    copy = back.body["conversation"]["id"]
    assert back.body["conversation"]["system_prompt"] == "Be exact."
    again = await site.get(f"/conversations/{copy}/export")
    assert [_said(m) for m in again["messages"]] == [_said(m) for m in exported["messages"]]
    assert _tree(again) == _tree(exported)
    assert [item["content"] for item in again["context"]] == ["c"]
    strict_llm.then(say("Third."))
    third = await site.post(f"/conversations/{copy}/chat", {"content": "Three"})
    assert third["outcome"] == "answered"
    assert history_faults(strict_llm.requests[-1].body) == []


def _said(message: dict[str, Any]) -> tuple[Any, ...]:
    made = [(c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", [])]
    return message["role"], message["content"], made


def _tree(exported: dict[str, Any]) -> list[tuple[int | None, list[Any]]]:
    places = {turn["id"]: place for place, turn in enumerate(exported["turns"])}
    return [
        (places.get(turn["parent_turn_id"]), [_said(message) for message in turn["messages"]])
        for turn in exported["turns"]
    ]


async def test_a_markdown_export_reads_well_and_cannot_be_broken_out_of(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation(title="Fences")
    await site.enable(id, "echo")
    strict_llm.then(call("echo", text="```\n# not a heading\n```"), say("Done."))
    await site.post(f"/conversations/{id}/chat", {"content": "Go"})

    reply = await site.call("GET", f"/conversations/{id}/export?format=markdown")

    assert reply.headers["Content-Type"].startswith("text/markdown")
    assert reply.headers["Content-Disposition"].startswith("attachment")
    assert reply.text.startswith("# Fences\n\n## User (")
    assert "````\n```\n# not a heading\n```\n````" in reply.text


BROKEN = [
    {"role": "system", "content": "You are old."},
    {"role": "tool", "tool_call_id": "lost", "content": "orphan"},
    {"role": "user", "content": [{"type": "text", "text": "Hello"}, {"type": "image_url", "image_url": {}}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look up!", "arguments": "{not json"}},
            {"id": "a", "type": "function", "function": {"name": "twice", "arguments": "{}"}},
            {"id": "b" * 100, "type": "function", "function": {"name": "f", "arguments": {"x": 1}}},
            {"function": None},
        ],
    },
    {"role": "tool", "tool_call_id": "b" * 100, "content": "fine"},
    {"role": "tool", "tool_call_id": "b" * 100, "content": "again"},
    {"role": "tool", "tool_call_id": "never", "content": "asked"},
    {"role": "assistant", "content": ""},
    {"role": "martian", "content": "beep"},
    {"role": "assistant", "content": "Answer."},
    {"role": "user", "content": "Unanswered"},
]


async def test_a_broken_history_is_repaired_on_import_and_takes_a_next_turn(site: Site, strict_llm: StrictLLM) -> None:
    back = await site.call("POST", "/conversations/import", {"title": "Broken", "messages": BROKEN})

    assert back.status == 201 and len(back.body["repairs"]) >= 7
    id = back.body["conversation"]["id"]
    messages = (await site.get(f"/conversations/{id}/messages"))["messages"]
    assert back.body["count"] == len(messages)
    turns = (await site.get(f"/conversations/{id}/turns"))["turns"]
    assert {turn["state"] for turn in turns} == {"finished"}
    strict_llm.then(say("Next."))
    assert (await site.post(f"/conversations/{id}/chat", {"content": "Go on"}))["outcome"] == "answered"
    assert history_faults(strict_llm.requests[0].body) == []


@pytest.mark.parametrize(
    "body",
    [{}, {"messages": "x"}, {"messages": [1]}, ["x"], {"format": "windlass", "turns": [1]},
     [{"title": "A file of chats", "mapping": {}}], {"messages": [{"role": "martian", "content": "beep"}]},
     {"messages": [], "title": 7}, {"format": "windlass", "turns": [], "context": [{"descriptive_name": 1}]}],
)  # fmt: skip
async def test_what_is_no_history_is_422_and_leaves_nothing(site: Site, body: object) -> None:
    assert (await site.call("POST", "/conversations/import", body)).status == 422
    assert (await site.get("/conversations"))["count"] == 0


async def test_a_nest_deeper_than_any_history_is_refused(site: Site) -> None:
    raw = b'{"messages": ' + b"[" * 200_000
    assert (await site.call("POST", "/conversations/import", raw=raw)).status == 400
    closed = b"[" * 900 + b"]" * 900
    assert (await site.call("POST", "/conversations/import", raw=closed)).status == 422


async def test_a_bare_list_of_messages_comes_in_in_order(site: Site) -> None:
    given = [{"role": "user" if n % 2 == 0 else "assistant", "content": str(n)} for n in range(200)]

    back = await site.call("POST", "/conversations/import", given)

    messages = (await site.get(f"/conversations/{back.body['conversation']['id']}/messages"))["messages"]
    assert [message["content"] for message in messages] == [str(n) for n in range(200)]
    assert back.body["conversation"]["title"] == "0"


async def test_an_import_whose_sender_left_at_its_very_beginning_leaves_nothing(site: Site) -> None:
    async with held(site.app.config.home):
        given = {"messages": [{"role": "user", "content": "Hello"}]}
        importing = asyncio.create_task(site.app.services.conversations.import_(given))
        await turns_of_the_loop()
        importing.cancel()
        await turns_of_the_loop()
    await asyncio.wait([importing])
    await site.app.store.check()
    assert (await site.get("/conversations"))["conversations"] == []
