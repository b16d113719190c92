"""Streams: every event once and in order, whatever is cut; the turn never waits for its watchers."""

import asyncio
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import until
from tests.web.kit import TOKEN, Site, SseEvent, open_site
from tests.web.test_protocol import connected, request, server_end
from windlass.core.ports import TextDelta
from windlass.testing import Gate, StrictLLM, call, calls, loop, say, think, wait_for
from windlass.web.sse import PIECE

CUTS = {"small": 50, "full": 1000}[os.environ.get("SCALE", "small")]
DURABLE = {
    *("turn_started", "turn_claimed", "model_replied", "model_failed", "call_judged", "call_decided"),
    *("call_resolved", "tool_started", "tool_finished", "stop_requested", "history_trimmed", "turn_finished"),
}


def durable(events: list[SseEvent]) -> list[tuple[int | None, str, int]]:
    return [(event.id, event.event, event.data["seq"]) for event in events if event.event in DURABLE]


async def log_of(site: Site, turn_id: str) -> list[tuple[int | None, str, int]]:
    events = (await site.get(f"/turns/{turn_id}/log"))["events"]
    return [(event["id"], event["event"], event["seq"]) for event in events]


async def test_a_chat_streams_its_turn_and_ends_with_it(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation()
    await site.enable(id, "echo")
    strict_llm.then(think("Hm.") + call("echo", text="hi"), say("Hello ", "world"))

    async with site.events(f"/conversations/{id}/chat", method="POST", body={"content": "Go"}) as stream:
        assert stream.response.headers["Content-Type"].startswith("text/event-stream")
        events = [event async for event in stream]

    assert events[0].event == "turn_started" and events[-1].event == "turn_finished"
    assert events[0].data["conversation_id"] == id and events[0].data["parent_turn_id"] is None
    assert events[0].data["opening"][0]["content"] == "Go"
    assert events[0].data["at"].endswith("Z")
    assert all("turn_id" in event.data and "seq" in event.data for event in events if event.event != "ping")
    assert "".join(e.data["text"] for e in events if e.event == "text_delta") == "Hello world"
    assert "".join(e.data["text"] for e in events if e.event == "reasoning_delta") == "Hm."
    assert {e.event for e in events if e.id is None} <= {"text_delta", "reasoning_delta", "call_delta"}
    assert durable(events) == await log_of(site, events[0].data["turn_id"])


async def test_closing_the_stream_does_not_stop_the_turn(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    gate = Gate()
    strict_llm.then(say("One ", wait_for(gate), "two"))
    async with site.events(f"/conversations/{id}/chat", method="POST", body={"content": "Go"}) as stream:
        turn_id = (await stream.until("text_delta"))[-1].data["turn_id"]
    gate.open()

    turn = (await site.get(f"/turns/{turn_id}?wait=60"))["turn"]

    assert (turn["outcome"], turn["answer"]) == ("answered", "One two")


async def test_a_late_watcher_gets_the_reply_so_far_then_what_follows(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    gate = Gate()
    strict_llm.then(think("Hm.") + say("One ", wait_for(gate), "two"))
    async with site.events(f"/conversations/{id}/chat", method="POST", body={"content": "Go"}) as first:
        heard = await first.until("text_delta")
        turn_id, last = heard[0].data["turn_id"], max(event.id or 0 for event in heard)
        for after in (0, last):
            async with site.events(f"/turns/{turn_id}/events", after=after) as late:
                caught_up = await late.until("reply_so_far")
                assert caught_up[-1].data["text"] == "One " and caught_up[-1].data["reasoning"] == "Hm."
                assert caught_up[-1].data["seq"] == heard[-1].data["seq"]
                assert all((event.id or last + 1) > after for event in caught_up)
        async with site.events(f"/turns/{turn_id}/events", after=last) as late:
            await late.until("reply_so_far")
            gate.open()
            rest = [event async for event in late]
    assert [event.data.get("text") for event in rest[:1]] == ["two"]
    assert rest[-1].event == "turn_finished"


async def test_random_cuts_and_reconnects_give_the_log_exactly(tmp_path: Path, ledger: Ledger) -> None:
    """The server is restarted in between as well; a watcher only remembers the last id it saw."""
    chance = random.Random(7)
    async with StrictLLM(loop("echo", {"text": "x"}, rounds=3)) as llm:
        async with open_site(tmp_path / "home", llm, durability="normal") as site:
            await site.add_ledger(ledger)
            id = await site.conversation()
            await site.enable(id, "echo")
            for n in range(4):
                await site.post(f"/conversations/{id}/chat", {"content": str(n)})
            turns = [turn["id"] for turn in (await site.get(f"/conversations/{id}/turns"))["turns"]]
            whole = [row for turn in turns for row in await log_of(site, turn)]
            for _ in range(CUTS // 2):
                assert await _read_with_cuts(site, f"/conversations/{id}/events", whole, chance) == whole
        async with open_site(tmp_path / "home", llm, durability="normal") as site:
            for _ in range(CUTS // 2):
                assert await _read_with_cuts(site, f"/conversations/{id}/events", whole, chance) == whole
            one = await log_of(site, turns[2])
            assert await _read_with_cuts(site, f"/turns/{turns[2]}/events", one, chance) == one


async def _read_with_cuts(site: Site, path: str, wanted: list[Any], chance: random.Random) -> list[Any]:
    seen: list[Any] = []
    while len(seen) < len(wanted):
        patience = chance.randint(1, len(wanted))
        async with site.events(path, after=seen[-1][0] if seen else None) as stream:
            async for event in stream:
                seen += durable([event])
                patience -= 1
                if patience == 0 or len(seen) >= len(wanted):
                    break
    return seen


@pytest.mark.parametrize("last", ["0", "-1", "abc", "99999999", "1e3", "9" * 40, "٣"])
async def test_a_last_id_that_is_none_of_ours_starts_over(site: Site, strict_llm: StrictLLM, last: str) -> None:
    id = await site.conversation()
    strict_llm.then(say("Hi."))
    body = await site.post(f"/conversations/{id}/chat", {"content": "Go"})

    headers = {"Authorization": "Bearer the-token-of-the-tests", "Last-Event-ID": last}
    async with site.session.get(f"{site.url}/turns/{body['turn_id']}/events", headers=headers) as answer:
        text = await answer.text()

    assert text.count("event: turn_started") == 1 and text.count("event: turn_finished") == 1


async def test_a_finished_turns_stream_ends_at_once(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    strict_llm.then(say("Hi."))
    body = await site.post(f"/conversations/{id}/chat", {"content": "Go"})
    last = (await log_of(site, body["turn_id"]))[-1][0]

    for after, count in ((None, 4), (last, 0)):
        async with site.events(f"/turns/{body['turn_id']}/events", after=after) as stream:
            assert len([event async for event in stream]) == count


async def test_watchers_of_a_conversation_see_all_its_turns_in_one_count(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    strict_llm.then(say("One."), say("Two."))
    async with site.events(f"/conversations/{id}/events") as one, site.events(f"/conversations/{id}/events") as two:
        for n in range(2):
            await site.post(f"/conversations/{id}/chat", {"content": str(n)})
        seen = [[*await stream.until("turn_finished"), *await stream.until("turn_finished")] for stream in (one, two)]
    ids = [event.id for event in seen[0] if event.id is not None]
    assert ids == list(range(1, len(ids) + 1))
    assert durable(seen[0]) == durable(seen[1])


async def test_a_stalled_reader_holds_nothing_up_and_still_gets_everything(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    strict_llm.then(say(*(["x" * 2000] * 3000)))
    async with site.events(f"/conversations/{id}/events") as stalled:
        body = await site.post(f"/conversations/{id}/chat", {"content": "Go"})
        assert body["outcome"] == "answered"
        seen = await stalled.until("turn_finished")
    assert durable(seen) == await log_of(site, body["turn_id"])


async def test_e3_a_stalled_socket_is_sent_a_long_past_piece_by_piece(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    strict_llm.then(say(*(["x" * 20_000] * 150)))
    body = await site.post(f"/conversations/{id}/chat", {"content": "Go"})
    async with connected(site) as (reader, writer):
        end = await server_end(site, writer)
        writer.write(request(site, f"/turns/{body['turn_id']}/events", token=TOKEN))
        await until(lambda: end.flow.write_paused, "the stream to back up")
        assert end.transport.get_write_buffer_size() <= 4 * PIECE
        received = b""
        while not received.endswith(b"\r\n0\r\n\r\n"):
            received += await reader.read(PIECE)
    assert received.count(b"x") > 3_000_000 and b"event: turn_finished" in received


async def test_a_reader_that_goes_is_forgotten(site: Site) -> None:
    id = await site.conversation()
    async with site.events(f"/conversations/{id}/events"):
        assert (await site.get("/ready"))["watchers"] == 1
    for _ in range(1000):
        if (await site.get("/ready"))["watchers"] == 0:
            return
    raise AssertionError("the watcher is still there")


async def test_a_quiet_stream_pings(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.web.sse.PING_S", 0.01)
    id = await site.conversation()
    async with site.events(f"/conversations/{id}/events") as stream:
        assert [event.event for event in await stream.until("ping")] == ["ping"]


async def test_a_decision_and_the_question_reach_every_watcher(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    id = await site.conversation()
    await site.enable(id, "record", approval="ask")
    strict_llm.then(calls(call("record", effect_id="a"), call("record", effect_id="b")), say("Done."))
    async with site.events(f"/conversations/{id}/events") as stream:
        body = await site.post(f"/conversations/{id}/chat", {"content": "Go"})
        for pending, decision in zip(body["pending_calls"], ("allow", "deny"), strict=True):
            path = f"/turns/{body['turn_id']}/calls/{pending['call_id']}/decision"
            await site.post(path, {"decision": decision})
        events = await stream.until("turn_finished")
    decided = [(event.data["call_id"], event.data["allow"]) for event in events if event.event == "call_decided"]
    assert decided == [(body["pending_calls"][0]["call_id"], True), (body["pending_calls"][1]["call_id"], False)]
    assert ledger.counts() == {"a": 1}


async def test_deltas_are_numbered_by_attempt_and_a_cut_reply_is_reset(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    strict_llm.then(say("Half").cut_after(200), say("Whole."))

    async with site.events(f"/conversations/{id}/chat", method="POST", body={"content": "Go"}) as stream:
        events = [event async for event in stream]

    names = [event.event for event in events]
    reset = names.index("reply_reset")
    assert events[reset].data["attempt"] == 2
    assert {e.data["attempt"] for e in events[reset:] if e.event == "text_delta"} == {2}
    assert TextDelta(2, "Whole.").text in "".join(e.data["text"] for e in events[reset:] if e.event == "text_delta")


async def test_ten_watchers_cost_one_encoding(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    strict_llm.then(say("Hello"))
    streams = [site.events(f"/conversations/{id}/events") for _ in range(10)]
    opened = [await stream.__aenter__() for stream in streams]
    try:
        await site.post(f"/conversations/{id}/chat", {"content": "Go"})
        seen = await asyncio.gather(*(stream.until("turn_finished") for stream in opened))
    finally:
        for stream in opened:
            await stream.__aexit__(None, None, None)
    assert all(one == seen[0] for one in seen)


async def test_streams_end_when_the_house_goes_down_and_new_ones_do_too(site: Site, strict_llm: StrictLLM) -> None:
    id = await site.conversation()
    strict_llm.then(say("Hi."))
    async with site.events(f"/conversations/{id}/events") as stream:
        await site.post(f"/conversations/{id}/chat", {"content": "Go"})
        await stream.until("turn_finished")
        site.app.bus.close()
        assert [event async for event in stream] == []
    async with site.events(f"/conversations/{id}/events") as late:
        assert [event async for event in late] == []


async def test_a_question_that_was_kept_is_told_after_a_restart_and_not_once_it_was_answered(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    """Whoever comes before the turn was taken up again, or after, hears it last."""
    strict_llm.then(call("ask"), say("Hello Ada."))
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.add_ledger(ledger, "--era", "stateless")
        conversation = await site.conversation()
        await site.enable(conversation, "ask")
        turn_id = (await site.post(f"/conversations/{conversation}/chat", {"content": "Ask me"}))["turn_id"]
    async with open_site(tmp_path / "home", strict_llm) as site:
        [pending] = (await site.get(f"/turns/{turn_id}?wait=10"))["turn"]["pending_calls"]
        assert pending["kind"] == "input"
        async with site.events(f"/turns/{turn_id}/events") as events:
            names = [event.event for event in await events.until("input_needed")]
            assert names[-3:] == ["turn_claimed", "reply_so_far", "input_needed"]
            answer = {"action": "accept", "content": {"name": "Ada", "number": 3}}
            await site.post(f"/turns/{turn_id}/calls/{pending['call_id']}/input", answer)
            assert "input_needed" not in [event.event for event in await events.until("turn_finished")]
