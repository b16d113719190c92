"""A call whose outcome nobody knows: not repeated by Windlass, and asked about when the model wants it again."""

from pathlib import Path

from tests.e2e.test_loop import with_ledger
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import model_settings, windlass
from windlass.testing import StrictLLM, call, say


async def test_the_same_call_asks_in_a_later_turn(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> None:
    with_ledger(tmp_path / "home", ledger, tools={"record_slow": {"timeout_s": 2}}, enabled="*")
    strict_llm.then(
        call("record_slow", effect_id="e1", gate=ledger.gate()),
        say("I do not know whether that worked."),
        call("record_slow", effect_id="e1", gate=ledger.gate()) + call("record", effect_id="e2"),
        say("Left it alone."),
    )
    async with windlass(tmp_path / "home", env=model_settings(strict_llm.base_url)) as server:
        await server.running("ledger")
        conversation = (await server.post("/conversations", {}))["conversation"]["id"]
        first = await server.post(f"/conversations/{conversation}/chat", {"content": "send it"})
        turn = (await server.get(f"/turns/{first['turn_id']}"))["turn"]
        assert [one["state"] for one in turn["calls"]] == ["unknown"]

        second = await server.call("POST", f"/conversations/{conversation}/chat", {"content": "send it again"})
        assert second.status == 202
        (pending,) = second.body["pending_calls"]
        assert (pending["kind"], pending["rule"]) == ("approval", "the same call once ended unknown")
        decision = f"/turns/{second.body['turn_id']}/calls/{pending['call_id']}/decision"
        await server.post(decision, {"decision": "deny", "reason": "not twice"})
        done = await server.settled(second.body["turn_id"])
        assert [one["state"] for one in done["calls"]] == ["denied", "ok"]
    assert ledger.counts() == {"e1": 1, "e2": 1}


async def test_a_result_that_cannot_be_kept_does_not_pass_for_a_failed_call(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    """The tool did its work; told that it failed, a model would do it again."""
    home = tmp_path / "home"
    with_ledger(home, ledger)
    (home / "blobs").write_text("a file where the folder should be")
    strict_llm.then(call("big", chars=200_000), say("I do not know whether that worked."))
    async with windlass(home, env=model_settings(strict_llm.base_url)) as server:
        await server.running("ledger")
        conversation = (await server.post("/conversations", {}))["conversation"]["id"]
        answer = await server.post(f"/conversations/{conversation}/chat", {"content": "much, please"})
        turn = (await server.get(f"/turns/{answer['turn_id']}"))["turn"]
        assert [one["state"] for one in turn["calls"]] == ["unknown"]
