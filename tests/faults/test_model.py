"""Faults of the model's side, seen through the whole server: what a person gets, and what the next request holds."""

import json
import random
from pathlib import Path

import pytest

from tests.kit.ledger_file import Ledger
from tests.proof.figures import FULL, note
from tests.providers.test_corpus import CASES, essence, load, replay
from tests.web.kit import open_site
from windlass.config import LimitSettings
from windlass.core.errors import ModelError
from windlass.core.ports import Reply as WholeReply
from windlass.testing import Reply, StrictLLM, Usage, call, raw_call, say, think
from windlass.testing.chat_wire import Answering, answer_body

SEED = 7
STREAMS = 24 if FULL else 3


async def test_a_stream_that_is_always_cut_fails_with_what_was_said_and_can_go_on(tmp_path: Path) -> None:
    cut = say("Half an ", "answer").cut_after(420)
    async with StrictLLM([cut, cut, say("The whole.")]) as llm:
        async with open_site(tmp_path, llm, limits=LimitSettings(attempts=2)) as site:
            conversation = await site.conversation()
            async with site.events(f"/conversations/{conversation}/events") as events:
                reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Hello"})
                heard = await events.until("turn_finished")
            turn = reply.body["turn_id"]
            again = await site.post(f"/turns/{turn}/continue")
            done = (await site.get(f"/turns/{again['turn']['id']}?wait=60"))["turn"]
    assert (reply.status, reply.body["outcome"], reply.body["assistant_message"]) == (502, "failed", None)
    assert [event.data["partial"] for event in heard if event.event == "model_failed"] == ["Half an "] * 2
    assert [event.data["attempt"] for event in heard if event.event == "reply_reset"] == [2]
    assert (done["outcome"], done["answer"]) == ("answered", "The whole.")


async def test_no_cut_of_a_recorded_stream_passes_for_whole() -> None:
    positions = 0
    for path in CASES if FULL else CASES[::9]:
        expected, body = load(path)
        positions += await cut_everywhere(body, expected.get("profile", "default"), bool(expected.get("whole")))
    assert positions > 1000
    note("cuts", count=positions)


async def test_no_cut_of_a_generated_stream_passes_for_whole() -> None:
    rng = random.Random(SEED)
    positions = 0
    for _ in range(STREAMS):
        body = answer_body(random_reply(rng), Answering(1, "m", 100, stream=True))
        positions += await cut_everywhere(body, "default", False)
    assert positions > 1000
    note("cuts", count=positions, seed=SEED)


async def cut_everywhere(body: bytes, profile: str, whole_body: bool) -> int:
    whole = await replay([body], profile)
    end = len(body.rstrip()) if whole_body else body.find(b'"finish_reason":"')
    for at in range(len(body)):
        given = await replay([body[:at]], profile)
        if not isinstance(given, ModelError):
            assert at >= end > 0, f"cut at {at} of {len(body)}, and taken for whole: {given}"
            assert isinstance(whole, WholeReply) and essence(given) == essence(whole)
    return len(body)


def random_reply(rng: random.Random) -> Reply:
    words = ["Hello ", "wörld ", "🌍", '{"a": 1}', "</think>", "\n\n", "data: ", "x" * 60]
    reply = think(*rng.choices(words, k=rng.randint(0, 3))) + say(*rng.choices(words, k=rng.randint(1, 5)))
    for _ in range(rng.randint(0, 2)):
        reply += call("get_weather", city=rng.choice(words))
    return reply.using(Usage(rng.randint(0, 99), 5)).in_pieces(rng.randint(1, 20))


async def test_ids_that_clash_or_are_missing_are_told_apart(tmp_path: Path, ledger: Ledger) -> None:
    """In one reply, and over two turns of one conversation; the strict server would refuse ids that meet twice."""
    names = ("same", "same", "", "")
    asking = sum((_record(f"a{n}", id) for n, id in enumerate(names)), start=Reply())
    second = _record("b0", "same")
    async with StrictLLM([asking, say("One."), second, say("Two.")]) as llm, open_site(tmp_path, llm) as site:
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "record", approval="auto")
        for text in ("first", "second"):
            answer = await site.post(f"/conversations/{conversation}/chat", {"content": text})
            assert answer["outcome"] == "answered"
    assert llm.refused == []
    assert ledger.counts() == {"a0": 1, "a1": 1, "a2": 1, "a3": 1, "b0": 1}


def _record(effect: str, id: str) -> Reply:
    return raw_call("record", json.dumps({"effect_id": effect}), id=id)


async def test_a_call_cut_at_the_models_limit_is_not_run(tmp_path: Path, ledger: Ledger) -> None:
    cut = raw_call("record", '{"effect_id": "a').ending("length")
    async with StrictLLM([cut, say("I will not.")]) as llm, open_site(tmp_path, llm) as site:
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "record")
        answer = await site.post(f"/conversations/{conversation}/chat", {"content": "go"})
    assert ledger.effects() == [] and llm.refused == []
    assert (answer["outcome"], answer["assistant_message"]["content"]) == ("answered", "I will not.")


@pytest.mark.parametrize(
    ("reason", "code"),
    [("sensitive", "content_filter"), ("network_error", "interrupted"), ("a_reason_of_tomorrow", "interrupted")],
)
async def test_an_end_that_is_none_gives_a_cause_in_words(reason: str, code: str, tmp_path: Path) -> None:
    async with StrictLLM(lambda request: say("Some words").ending(reason)) as llm:
        async with open_site(tmp_path, llm, limits=LimitSettings(attempts=1)) as site:
            conversation = await site.conversation()
            reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "go"})
    assert (reply.body["outcome"], reply.body["error"]["code"], reply.body["assistant_message"]) == (
        "failed",
        code,
        None,
    )
    assert len(reply.body["error"]["message"]) > 20
