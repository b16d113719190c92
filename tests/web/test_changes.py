"""`GET /events`: the list of conversations, as it changes."""

from typing import Any

from tests.kit.ledger_file import Ledger
from tests.kit.loop_clock import LoopClock
from tests.web.kit import Events, Site
from windlass.bus.waits import NAMED_AFTER_S
from windlass.testing import Gate, StrictLLM, call, error, say, wait_for

Json = dict[str, Any]


async def listed(site: Site, conversation_id: str) -> Json:
    rows = (await site.get("/conversations"))["conversations"]
    return next(row for row in rows if row["id"] == conversation_id)


async def changed(events: Events, conversation_id: str, **fields: object) -> Json:
    """The first row of the conversation that has these fields."""
    async for event in events:
        row = event.data.get("conversation")
        if event.event == "conversation_changed" and event.data["id"] == conversation_id and row is not None:
            if all(row[name] == value for name, value in fields.items()):
                return dict(row)
    raise AssertionError("the stream ended")


async def begin(site: Site, conversation_id: str) -> str:
    """A turn that goes on while nobody reads it."""
    body = {"content": "Go"}
    async with site.events(f"/conversations/{conversation_id}/chat", method="POST", body=body) as events:
        return str((await events.until("turn_started"))[-1].data["turn_id"])


async def test_what_is_made_renamed_answered_and_deleted_elsewhere_is_sent_as_the_list_shows_it(
    site: Site, strict_llm: StrictLLM
) -> None:
    strict_llm.then(say("Hi."))
    async with site.events("/events") as events:
        id = await site.conversation(title="First")
        assert (await changed(events, id))["state"] == "empty"
        await site.call("PATCH", f"/conversations/{id}", {"title": "Second"})
        assert await changed(events, id, title="Second") == await listed(site, id)
        await site.post(f"/conversations/{id}/chat", {"content": "Hello"})
        assert await changed(events, id, state="finished") == await listed(site, id)
        await site.call("DELETE", f"/conversations/{id}")
        gone = (await events.until("conversation_changed"))[-1]
        assert gone.data == {"id": id, "conversation": None}


async def test_a_question_of_a_tool_in_another_conversation_is_sent_when_it_is_asked_and_when_it_is_answered(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    watched, other = await site.conversation(), await site.conversation()
    await site.enable(other, "ask")
    strict_llm.then(call("ask"), say("Thanks."))
    async with site.events(f"/events?conversation_id={watched}") as events:
        turn_id = await begin(site, other)
        row = await changed(events, other, questions=1)
        assert (row["state"], row["waiting"]["for"]) == ("awaiting_person", "person")
        body = {"action": "decline"}
        await site.post(f"/turns/{turn_id}/calls/{row['waiting']['call_id']}/input", body)
        assert (await changed(events, other, state="finished"))["questions"] == 0


async def test_a_call_that_asks_is_counted_while_another_call_of_its_turn_still_runs(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation()
    await site.enable(id, "progress", "destroy")
    strict_llm.then(call("progress", steps=1, gate=ledger.gate()) + call("destroy", effect_id="it"), say("Done."))
    async with site.events("/events") as events:
        await begin(site, id)
        row = await changed(events, id, approvals=1, state="awaiting_person")
        assert row["head_turn_id"] is not None
        await ledger.seen("started")
        ledger.open("gate.1")


async def test_a_rate_limit_is_in_the_row_of_every_conversation_that_waits_for_it(
    site: Site, strict_llm: StrictLLM
) -> None:
    strict_llm.then(error(429, "1302", "slow down", {"Retry-After": "17"}))
    first, second = await site.conversation(), await site.conversation()
    async with site.events("/events") as events:
        await begin(site, first)
        refused = (await changed(events, first, state="running"))["waiting"]
        while refused is None:
            refused = (await changed(events, first))["waiting"]
        assert (refused["for"], refused["attempt"], refused["attempts"]) == ("rate_limit", 1, 3)
        await begin(site, second)
        held = None
        while held is None:
            held = (await changed(events, second))["waiting"]
        assert (held["for"], held["host"], held["ahead"]) == ("rate_limit", refused["host"], 0)
        assert held["until"] > held["since"]


async def test_a_wait_leaves_the_row_when_it_is_over(site: Site, strict_llm: StrictLLM, clock: LoopClock) -> None:
    gate, end = Gate(), Gate()
    strict_llm.then(wait_for(gate) + say("Here", wait_for(end), "."))
    id = await site.conversation()
    async with site.events("/events") as events:
        await begin(site, id)
        await gate.reached()
        assert (await listed(site, id))["waiting"] is None, "what is over at once is not shown"
        clock.jump(NAMED_AFTER_S)
        row = await changed(events, id)
        while row["waiting"] is None:
            row = await changed(events, id)
        assert row["waiting"]["for"] == "first_token"
        gate.open()
        assert (await changed(events, id, waiting=None))["state"] == "running"
        end.open()
        await changed(events, id, state="finished")


async def test_the_events_of_one_conversation_come_along_in_order_and_go_on_after_a_number(
    site: Site, strict_llm: StrictLLM
) -> None:
    strict_llm.then(say("Hi."))
    id = await site.conversation()
    await site.post(f"/conversations/{id}/chat", {"content": "Hello"})
    async with site.events(f"/conversations/{id}/events") as events:
        whole = [event for event in await events.until("turn_finished") if event.id]
    async with site.events(f"/events?conversation_id={id}") as events:
        assert [event for event in await events.until("turn_finished") if event.id] == whole
    async with site.events(f"/events?conversation_id={id}", after=whole[0].id) as events:
        assert [event for event in await events.until("turn_finished") if event.id] == whole[1:]


async def test_requests_in_openai_s_form_are_in_no_list(site: Site, strict_llm: StrictLLM) -> None:
    strict_llm.then(say("Hi."))
    async with site.events("/events") as events:
        body = {"model": "strict-model", "messages": [{"role": "user", "content": "Hello"}]}
        await site.post("/v1/chat/completions", body)
        id = await site.conversation()
        assert (await events.until("conversation_changed"))[-1].data["id"] == id


async def test_a_conversation_that_is_not_there_is_404(site: Site) -> None:
    reply = await site.call("GET", "/events?conversation_id=conv-none")
    assert (reply.status, reply.code) == (404, "not_found")
