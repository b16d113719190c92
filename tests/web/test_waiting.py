"""What a turn waits for, as `GET /turns/{id}` and the event streams tell it."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import until
from tests.web.kit import TOKEN, Events, Site, open_site
from windlass import Windlass
from windlass.bus.waits import NAMED_AFTER_S
from windlass.config import LimitSettings
from windlass.core.ports import Waiting
from windlass.testing import Gate, StrictLLM, call, error, hang, say, wait_for

Json = dict[str, Any]


@asynccontextmanager
async def chatting(site: Site, conversation_id: str) -> AsyncIterator[tuple[str, Events]]:
    """A turn under way and its stream."""
    body = {"content": "Go"}
    async with site.events(f"/conversations/{conversation_id}/chat", method="POST", body=body) as events:
        started = (await events.until("turn_started"))[-1]
        yield started.data["turn_id"], events


async def waiting(site: Site, turn_id: str) -> Json | None:
    found: Json | None = (await site.get(f"/turns/{turn_id}"))["turn"]["waiting"]
    return found


async def announced(events: Events) -> Json:
    return (await events.until("waiting"))[-1].data


async def test_a_rate_limit_is_announced_at_once_with_its_end_and_to_those_who_join(
    site: Site, strict_llm: StrictLLM
) -> None:
    strict_llm.then(error(429, "1302", "slow down", {"Retry-After": "17"}))
    async with chatting(site, await site.conversation()) as (turn_id, events):
        told = await announced(events)
        assert told["for"] == "rate_limit" and told["model"] == "strict-model"
        assert told["host"] in strict_llm.base_url
        assert (told["attempt"], told["attempts"]) == (1, 3)
        assert told["since"] < told["until"]
        shown = await waiting(site, turn_id)
        assert shown == {name: value for name, value in told.items() if name not in ("turn_id", "seq")}
        async with site.events(f"/turns/{turn_id}/events") as joined:
            assert await announced(joined) == told


async def test_another_turn_waits_for_the_same_rate_limit_and_a_program_sees_it(
    site: Site, strict_llm: StrictLLM
) -> None:
    strict_llm.then(error(429, "1302", "slow down", {"Retry-After": "17"}))
    async with chatting(site, await site.conversation()) as (_, events):
        await announced(events)
        async with Windlass(site.url, TOKEN) as client, aclosing(client.stream("Go")) as stream:
            seen = await anext(event.what async for event in stream if isinstance(event.what, Waiting))
    assert (seen.for_, seen.model, seen.ahead, seen.attempt) == ("rate_limit", "strict-model", 0, 0)
    assert seen.until and 0 < seen.until - seen.since < 60


async def test_a_model_that_does_not_answer_is_named_after_a_while_and_forgotten_with_its_first_token(
    site: Site, strict_llm: StrictLLM, clock: LoopClock
) -> None:
    gate = Gate()
    strict_llm.then(wait_for(gate) + say("Here."))
    async with chatting(site, await site.conversation()) as (turn_id, events):
        await gate.reached()
        clock.jump(NAMED_AFTER_S)
        told = await announced(events)
        assert (told["for"], told["model"]) == ("first_token", "strict-model")
        gate.open()
        await events.until("turn_finished")
    assert await waiting(site, turn_id) is None


async def test_silence_in_the_middle_of_a_reply_is_named(site: Site, strict_llm: StrictLLM, clock: LoopClock) -> None:
    strict_llm.then(say("Half", hang()))
    async with chatting(site, await site.conversation()) as (turn_id, events):
        await events.until("text_delta")
        clock.jump(10)
        await until(lambda: site.app.bus.waiting(turn_id) is not None, "the silence")
        clock.jump(NAMED_AFTER_S)
        assert (await announced(events))["for"] == "silence"


async def test_a_turn_without_a_slot_says_how_many_are_ahead(
    tmp_path: Path, strict_llm: StrictLLM, clock: LoopClock
) -> None:
    gate = Gate()
    strict_llm.then(wait_for(gate) + say("One."), say("Two."), say("Three."))
    async with open_site(tmp_path / "one", strict_llm, limits=LimitSettings(at_once=1)) as site:
        async with chatting(site, await site.conversation()):
            await gate.reached()
            async with (
                chatting(site, await site.conversation()) as (_, second),
                chatting(site, await site.conversation()) as (_, third),
            ):
                clock.jump(NAMED_AFTER_S)
                told = [await announced(events) for events in (second, third)]
                assert [(one["for"], one["ahead"]) for one in told] == [("slot", 0), ("slot", 1)]
                assert "host" not in told[0]
                gate.open()
                await third.until("turn_finished")


async def test_a_call_without_progress_is_named_until_it_moves(
    site: Site, strict_llm: StrictLLM, ledger: Ledger, clock: LoopClock
) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation()
    await site.enable(id, "progress")
    strict_llm.then(call("progress", steps=1, gate=ledger.gate()), say("Done."))
    async with chatting(site, id) as (turn_id, events):
        started = (await events.until("tool_started"))[-1]
        await ledger.seen("started")
        clock.jump(NAMED_AFTER_S)
        told = await announced(events)
        assert (told["for"], told["server"], told["call_id"]) == ("tool", "ledger", started.data["call_id"])
        ledger.open("gate.1")
        await events.until("turn_finished")
    assert await waiting(site, turn_id) is None


@pytest.mark.parametrize("restarted", [False, True], ids=["at once", "after a restart"])
async def test_a_turn_that_needs_a_decision_waits_for_a_person(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger, restarted: bool
) -> None:
    strict_llm.then(call("destroy", effect_id="it"))
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.add_ledger(ledger)
        id = await site.conversation()
        await site.enable(id, "destroy")
        async with chatting(site, id) as (turn_id, events):
            told = await announced(events)
        assert told["for"] == "person" and told["call_id"]
        before = await waiting(site, turn_id)
    if restarted:
        async with open_site(tmp_path / "home", strict_llm) as site:
            assert await waiting(site, turn_id) == before


async def test_a_call_waits_for_its_server_to_start(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    strict_llm.then(call("destroy", effect_id="it"), say("Gone."))
    server_id = await site.add_ledger(ledger)
    id = await site.conversation()
    await site.enable(id, "destroy")
    async with chatting(site, id) as (turn_id, events):
        call_id = (await announced(events))["call_id"]
        await site.app.servers.restart(server_id)
        await site.post(f"/turns/{turn_id}/calls/{call_id}/decision", {"decision": "allow"})
        found: list[Waiting] = []

        def seen() -> bool:
            now = site.app.bus.waiting(turn_id)
            found.extend([now] if now and now.for_ == "server" else [])
            return bool(found)

        await until(seen, "the wait for the server")
        await events.until("turn_finished")
    assert (found[0].server, found[0].call_id) == ("ledger", call_id)
