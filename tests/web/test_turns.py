"""Turns over HTTP: look at them, go on from them, and let people's words race."""

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.web.kit import Site, open_site
from windlass.testing import Gate, StrictLLM, call, calls, error, say, wait_for


async def approval(site: Site, llm: StrictLLM, ledger: Ledger) -> tuple[str, str]:
    """A turn that waits for a word; the path of the turn and of its call."""
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record", approval="ask")
    llm.then(call("record", effect_id="x"), say("Done."))
    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Do it"})
    turn = f"/turns/{body['turn_id']}"
    return turn, f"{turn}/calls/{body['pending_calls'][0]['call_id']}"


WORDS: dict[str, tuple[str, Any]] = {
    "stop": ("stop", None),
    "allow": ("decision", {"decision": "allow"}),
    "deny": ("decision", {"decision": "deny"}),
    "stop the call": ("call stop", None),
}


@pytest.mark.parametrize("order", list(itertools.permutations(WORDS, 2)), ids=" then ".join)
async def test_two_words_at_once_end_in_one_state(
    site: Site, strict_llm: StrictLLM, ledger: Ledger, order: tuple[str, str]
) -> None:
    turn, waiting = await approval(site, strict_llm, ledger)

    async def say_word(word: str) -> int:
        kind, body = WORDS[word]
        path = {"stop": f"{turn}/stop", "decision": f"{waiting}/decision", "call stop": f"{waiting}/stop"}[kind]
        return (await site.call("POST", path, body)).status

    statuses = await asyncio.gather(*(say_word(word) for word in order))

    done = (await site.get(f"{turn}?wait=60"))["turn"]
    assert statuses == [200, 200]
    assert done["state"] == "finished"
    log = (await site.get(f"{turn}/log"))["events"]
    assert [event["event"] for event in log].count("turn_finished") == 1
    assert [event["event"] for event in log].count("tool_finished") == 1
    (state,) = [one["state"] for one in done["calls"]]
    assert state in _ends(order)
    assert len(ledger.effects()) in {"ok": {1}, "unknown": {0, 1}}.get(state, {0})


def _ends(order: tuple[str, str]) -> set[str]:
    """Whichever of the two came first decides; a call that was allowed may be stopped before or after its effect."""
    ends = {"stop": "cancelled", "stop the call": "cancelled", "deny": "denied", "allow": "ok"}
    stopped_later = "allow" in order and "deny" not in order
    return {ends[word] for word in order} | ({"unknown"} if stopped_later else set())


async def test_twenty_approvals_at_once_run_the_call_once(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    turn, waiting = await approval(site, strict_llm, ledger)

    replies = await asyncio.gather(
        *(site.call("POST", f"{waiting}/decision", {"decision": "allow"}) for _ in range(20))
    )

    assert {reply.status for reply in replies} == {200}
    assert [reply.body["message"] for reply in replies].count("Decided") == 1
    assert (await site.get(f"{turn}?wait=60"))["turn"]["answer"] == "Done."
    assert ledger.counts() == {"x": 1}


async def test_words_after_the_end_change_nothing(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    turn, waiting = await approval(site, strict_llm, ledger)
    await site.post(f"{waiting}/decision", {"decision": "deny", "reason": "not today"})
    before = (await site.get(f"{turn}?wait=60"))["turn"]

    for path, body in (
        (f"{turn}/stop", None),
        (f"{waiting}/stop", None),
        (f"{waiting}/decision", {"decision": "allow"}),
    ):
        assert (await site.call("POST", path, body)).status == 200

    assert (await site.get(turn))["turn"] == before
    assert before["calls"][0]["state"] == "denied" and "not today" in strict_llm.requests[1].results[0]


async def test_a_stop_while_the_answer_streams_keeps_what_was_decided_first(site: Site, strict_llm: StrictLLM) -> None:
    conversation = await site.conversation()
    gate = Gate()
    strict_llm.then(say("One ", wait_for(gate), "two"))
    chat = asyncio.create_task(site.call("POST", f"/conversations/{conversation}/chat", {"content": "Go"}))
    await gate.reached()
    (turn,) = (await site.get(f"/conversations/{conversation}/turns"))["turns"]

    stopped = await site.post(f"/turns/{turn['id']}/stop")
    reply = await chat

    assert stopped["turn"]["outcome"] == "stopped"
    assert (reply.status, reply.body["success"], reply.body["outcome"]) == (200, False, "stopped")
    assert reply.body["assistant_message"] is None
    gate.open()


async def test_what_was_said_before_a_stop_stays_with_the_person_and_the_model(
    site: Site, strict_llm: StrictLLM
) -> None:
    conversation = await site.conversation()
    gate = Gate()
    strict_llm.then(say("Roses are ", wait_for(gate), "red"), say("red, as I said."))
    async with site.events(f"/conversations/{conversation}/chat", method="POST", body={"content": "A poem"}) as stream:
        turn = (await stream.until("text_delta"))[-1].data["turn_id"]
        for _ in range(2):
            await site.post(f"/turns/{turn}/stop")
        told = [event.event for event in await stream.until("turn_finished")]
    gate.open()
    await site.post(f"/conversations/{conversation}/chat", {"content": "Go on"})

    said = (await site.get(f"/conversations/{conversation}/messages"))["messages"]
    assert told.count("model_failed") == 1
    assert [message["content"] for message in said] == ["A poem", "Roses are ", "Go on", "red, as I said."]
    assert [one["content"] for one in strict_llm.requests[1].messages][-3:] == ["A poem", "Roses are ", "Go on"]


async def test_stopping_one_call_lets_the_others_and_the_turn_go_on(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record_slow", "echo")
    strict_llm.then(
        calls(call("record_slow", effect_id="slow", gate=ledger.gate()), call("echo", text="quick")),
        say("One stopped."),
    )
    chat = asyncio.create_task(site.post(f"/conversations/{conversation}/chat", {"content": "Go"}))
    await ledger.seen("started", "slow")
    (turn,) = (await site.get(f"/conversations/{conversation}/turns"))["turns"]
    slow = (await site.get(f"/turns/{turn['id']}"))["turn"]["calls"][0]
    assert slow["state"] == "running"

    shown = await site.post(f"/turns/{turn['id']}/calls/{slow['id']}/stop")

    assert shown["turn"]["calls"][0]["state"] == "unknown"
    assert (await chat)["assistant_message"]["content"] == "One stopped."


async def test_a_lasting_yes_holds_for_the_conversation_only(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    turn, waiting = await approval(site, strict_llm, ledger)
    await site.post(f"{waiting}/decision", {"decision": "allow", "scope": "conversation"})
    conversation = (await site.get(f"{turn}?wait=60"))["turn"]["conversation_id"]
    strict_llm.then(call("record", effect_id="y"), say("Again."))

    again = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Again"})

    assert (again.status, again.body["outcome"]) == (200, "answered")
    other = await site.conversation()
    await site.enable(other, "record", approval="ask")
    strict_llm.then(call("record", effect_id="z"))
    assert (await site.call("POST", f"/conversations/{other}/chat", {"content": "Now"})).status == 202


async def test_a_failed_turn_goes_on_as_its_child(site: Site, strict_llm: StrictLLM) -> None:
    conversation = await site.conversation()
    strict_llm.then(error(401, None, "bad key"), say("Now it works."))
    failed = (await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Hello"})).body

    reply = await site.call("POST", f"/turns/{failed['turn_id']}/continue", {})
    child = (await site.get(f"/turns/{reply.body['turn']['id']}?wait=60"))["turn"]

    assert reply.status == 201
    assert (child["parent_turn_id"], child["origin"], child["answer"]) == (
        failed["turn_id"], "continue", "Now it works.",
    )  # fmt: skip
    assert [m["content"] for m in strict_llm.requests[1].messages if m["role"] == "user"] == ["Hello"]
    again = await site.call("POST", f"/turns/{child['id']}/continue", {})
    assert (again.status, again.code) == (409, "not_continuable")


async def test_a_limit_goes_on_with_a_word_from_the_person(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record", approval="auto")
    strict_llm.then(*[call("record", effect_id=str(n)) for n in range(2)], say("So far."), say("More."))
    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Go", "max_rounds": 2})
    assert body["outcome"] == "limit"

    reply = await site.post(f"/turns/{body['turn_id']}/continue", {"rounds": 3})
    child = (await site.get(f"/turns/{reply['turn']['id']}?wait=60"))["turn"]

    assert child["answer"] == "More."
    assert strict_llm.requests[-1].messages[-1]["role"] == "user"


async def test_answering_again_makes_a_sibling_and_keeps_the_first(site: Site, strict_llm: StrictLLM) -> None:
    conversation = await site.conversation()
    strict_llm.then(say("Hi."), say("First."), say("Second."))
    root = await site.post(f"/conversations/{conversation}/chat", {"content": "Hello"})
    first = await site.post(f"/conversations/{conversation}/chat", {"content": "How are you?"})

    reply = await site.call("POST", f"/turns/{first['turn_id']}/retry", {"model": "strict-model"})
    sibling = (await site.get(f"/turns/{reply.body['turn']['id']}?wait=60"))["turn"]

    assert reply.status == 201 and sibling["parent_turn_id"] == root["turn_id"]
    shown = (await site.get(f"/conversations/{conversation}/messages"))["messages"]
    assert [m["content"] for m in shown] == ["Hello", "Hi.", "How are you?", "Second."]
    branch = (await site.get(f"/conversations/{conversation}/messages?head={first['turn_id']}"))["messages"]
    assert [m["content"] for m in branch][-1] == "First."


async def test_a_failed_call_runs_again_in_a_child_turn(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "fail")
    strict_llm.then(call("fail", message="no"), say("It failed."), say("Again."))
    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})
    (failed,) = (await site.get(f"/turns/{body['turn_id']}"))["turn"]["calls"]

    reply = await site.call("POST", f"/turns/{body['turn_id']}/calls/{failed['id']}/retry")
    child = (await site.get(f"/turns/{reply.body['turn']['id']}?wait=60"))["turn"]

    assert reply.status == 201 and child["parent_turn_id"] == body["turn_id"]
    assert (child["calls"][0]["name"], child["calls"][0]["state"]) == ("fail", "error")
    assert child["answer"] == "Again."
    assert len(ledger.effects()) == 2


async def test_the_prompt_shown_is_the_prompt_sent(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "echo")
    strict_llm.then(call("echo", text="a"), say("Done."))
    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})

    for number in (1, 2):
        shown = await site.get(f"/turns/{body['turn_id']}/prompt?request={number}")
        assert shown["requests"] == 2
        assert shown["body"] == strict_llm.requests[number - 1].body
    assert (await site.call("GET", f"/turns/{body['turn_id']}/prompt?request=3")).status == 404


async def test_a_large_result_is_read_in_pieces_that_break_no_character(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "echo")
    text = "äöü€🜁" * 5000
    strict_llm.then(call("echo", text=text), say("Long."))
    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})
    result = (await site.get(f"/turns/{body['turn_id']}"))["turn"]["calls"][0]["result_id"]

    pieces = ""
    offset: int | None = 0
    while offset is not None:
        piece = await site.get(f"/results/{result}?offset={offset}&length=1001")
        assert 0 < piece["length"] <= 1001
        pieces, offset = pieces + piece["text"], piece["next_offset"]

    assert pieces == text
    assert (await site.get(f"/results/{result}?offset=999999999"))["text"] == ""


async def test_a_turn_is_shown_with_everything_the_contract_names(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "echo")
    strict_llm.then(call("echo", text="a"), say("Done."))
    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})

    turn = (await site.get(f"/turns/{body['turn_id']}"))["turn"]

    assert {"id", "conversation_id", "parent_turn_id", "state", "outcome", "error", "calls", "usage", "rounds"} <= {
        *turn
    }
    (one,) = turn["calls"]
    assert json.loads(one["arguments"]) == {"text": "a"}
    assert (one["server_slug"], one["state"], one["repaired"]) == ("ledger", "ok", [])
    assert one["rule"] and one["hash"] and one["started_at"] <= one["finished_at"]
    assert turn["usage"]["total_tokens"] > 0 and turn["rounds"] == 1


async def test_calls_keep_the_name_of_a_server_that_is_gone(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "echo")
        strict_llm.then(call("echo", text="a"), say("Done."))
        body = await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})
        assert (await site.call("DELETE", "/servers/ledger")).status == 200

        turn = (await site.get(f"/turns/{body['turn_id']}"))["turn"]

        assert [one["server_slug"] for one in turn["calls"]] == ["ledger"]
    async with open_site(tmp_path / "home", strict_llm) as site:
        again = (await site.get(f"/turns/{body['turn_id']}"))["turn"]
        assert [one["server_slug"] for one in again["calls"]] == ["ledger"]


async def test_a_server_going_down_says_so_to_those_who_wait(site: Site, strict_llm: StrictLLM) -> None:
    conversation = await site.conversation()
    gate = Gate()
    strict_llm.then(say("One ", wait_for(gate), "two"))
    chat = asyncio.create_task(site.call("POST", f"/conversations/{conversation}/chat", {"content": "Go"}))
    await gate.reached()
    (turn,) = (await site.get(f"/conversations/{conversation}/turns"))["turns"]

    await site.app.runner.drain(0)
    reply = await chat

    assert (reply.status, reply.code, reply.headers["Retry-After"]) == (503, "shutting_down", "5")
    assert reply.body["error"]["detail"]["turn_id"] == turn["id"]
    assert (await site.get(f"/turns/{turn['id']}"))["turn"]["state"] == "running"


async def test_a_message_without_a_parent_begins_the_conversation_anew(site: Site, strict_llm: StrictLLM) -> None:
    conversation = await site.conversation()
    strict_llm.then(say("One."), say("Two."))
    await site.post(f"/conversations/{conversation}/chat", {"content": "First"})

    await site.post(f"/conversations/{conversation}/chat", {"content": "Edited", "parent_turn_id": None})

    shown = (await site.get(f"/conversations/{conversation}/messages"))["messages"]
    assert [message["content"] for message in shown] == ["Edited", "Two."]
    assert [m["content"] for m in strict_llm.requests[1].messages if m["role"] == "user"] == ["Edited"]
    turns = (await site.get(f"/conversations/{conversation}/turns"))["turns"]
    assert [turn["parent_turn_id"] for turn in turns] == [None, None]


async def test_a_stop_that_comes_too_late_does_not_claim_to_have_stopped_anything(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    turn, waiting = await approval(site, strict_llm, ledger)
    await site.post(f"{waiting}/decision", {"decision": "allow"})
    assert (await site.get(f"{turn}?wait=60"))["turn"]["outcome"] == "answered"

    assert (await site.post(f"{turn}/stop"))["message"] == "Finished already"
    assert (await site.post(f"{waiting}/stop"))["message"] == "Finished already"


async def test_a_stop_in_time_says_so_however_often_it_is_said(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    turn, waiting = await approval(site, strict_llm, ledger)

    said = [(await site.post(f"{path}/stop"))["message"] for path in (turn, turn, waiting)]

    assert said == ["Stopped"] * 3


async def test_a_conversation_is_not_listed_as_waiting_once_its_call_is_allowed(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record_slow", approval="ask")
    strict_llm.then(call("record_slow", effect_id="x", gate=ledger.gate()), say("Done."))
    waiting = await site.post(f"/conversations/{conversation}/chat", {"content": "Go"})
    (asked,) = waiting["pending_calls"]
    await site.post(f"/turns/{waiting['turn_id']}/calls/{asked['call_id']}/decision", {"decision": "allow"})
    await ledger.seen("started", "x")
    (listed,) = (await site.get("/conversations"))["conversations"]
    ledger.open()
    assert (listed["state"], listed["approvals"]) == ("running", 0)
