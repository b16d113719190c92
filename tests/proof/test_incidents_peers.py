"""The bugs of our nearest peers, mcp-open-client and ExFrame: the same situation here, and what must come of it."""

from pathlib import Path

from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess, model_settings
from tests.proof.attacks import ATTACKS, led_astray, stage
from tests.web.kit import open_site
from windlass.config import LimitSettings
from windlass.testing import StrictLLM, call, calls, error, say


async def test_mcp_open_client_the_user_message_is_sent_once(tmp_path: Path, ledger: Ledger) -> None:
    async with (
        StrictLLM([call("echo", text="a"), say("Done."), say("Again.")]) as llm,
        open_site(tmp_path / "home", llm) as site,
    ):
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "echo")
        for text in ("first", "second"):
            await site.post(f"/conversations/{conversation}/chat", {"content": text})
    said = [[one["content"] for one in request.messages if one["role"] == "user"] for request in llm.requests]
    assert said == [["first"], ["first"], ["first", "second"]]


async def test_mcp_open_client_an_exhausted_loop_is_no_success(tmp_path: Path, ledger: Ledger) -> None:
    script = [*(call("record", effect_id=str(n)) for n in range(3)), say("What I have so far.")]
    async with StrictLLM(script) as llm, open_site(tmp_path / "home", llm) as site:
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "record", approval="auto")
        answer = await site.post(f"/conversations/{conversation}/chat", {"content": "go", "max_rounds": 3})
    assert (answer["success"], answer["outcome"]) == (False, "limit")
    assert answer["assistant_message"]["content"] == "What I have so far."


async def test_mcp_open_client_what_was_acknowledged_outlives_a_crash(tmp_path: Path) -> None:
    async with StrictLLM([say("One."), say("Two.")]) as llm:
        server = WindlassProcess(tmp_path, model_settings(llm.base_url))
        await server.start()
        try:
            conversation = (await server.post("/conversations", {"title": "Kept"}))["conversation"]["id"]
            await server.post(f"/conversations/{conversation}/chat", {"content": "first"})
            await server.kill()
            await server.start()
            await server.post(f"/conversations/{conversation}/chat", {"content": "second"})
            kept = (await server.get(f"/conversations/{conversation}/messages"))["messages"]
        finally:
            await server.kill()
    assert [one["content"] for one in kept] == ["first", "One.", "second", "Two."]


async def test_exframe_every_call_of_a_reply_is_run_and_answered(tmp_path: Path, ledger: Ledger) -> None:
    three = calls(*(call("record", effect_id=f"e{n}") for n in range(3)))
    async with StrictLLM([three, say("All three.")]) as llm, open_site(tmp_path / "home", llm) as site:
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "record")
        await site.post(f"/conversations/{conversation}/chat", {"content": "go"})
    assert ledger.counts() == {"e0": 1, "e1": 1, "e2": 1}
    assert len(llm.requests[1].results) == 3


async def test_exframe_the_tools_are_there_in_every_request(tmp_path: Path, ledger: Ledger) -> None:
    rounds = [call("echo", text=str(n)) for n in range(3)]
    async with StrictLLM([*rounds, say("Done.")]) as llm, open_site(tmp_path / "home", llm) as site:
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "echo")
        await site.post(f"/conversations/{conversation}/chat", {"content": "go"})
    assert [("echo" in request.tool_names) for request in llm.requests] == [True] * 4


async def test_exframe_an_error_is_no_answer(tmp_path: Path) -> None:
    async with StrictLLM(lambda request: error(500, None, "broken")) as llm:
        async with open_site(tmp_path / "home", llm, limits=LimitSettings(attempts=1)) as site:
            conversation = await site.conversation()
            reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "go"})
            messages = (await site.get(f"/conversations/{conversation}/messages"))["messages"]
    assert reply.status == 502 and reply.body["success"] is False and reply.body["assistant_message"] is None
    assert [one["role"] for one in messages] == ["user"]


async def test_exframe_sources_arrive_with_the_answer(tmp_path: Path) -> None:
    page = {"title": "A page", "link": "http://10.0.0.7/x", "content": "Rain.", "media": "", "icon": "", "refer": ""}
    script = [say("Let me see."), say("It rains [1].")]
    async with (
        StrictLLM(script, dialect="zai", coding_plan=True, search=[page]) as llm,
        open_site(tmp_path / "home", llm) as site,
    ):
        conversation = await site.conversation()
        answer = await site.post(f"/conversations/{conversation}/chat", {"content": "// the weather in Nanaimo"})
        messages = (await site.get(f"/conversations/{conversation}/messages"))["messages"]
    for told in (answer, messages[-1]):
        assert [one["url"] for one in told["sources"]] == ["http://10.0.0.7/x"], told


async def test_mcptox_a_poisoned_description_moves_an_obedient_model_to_nothing(tmp_path: Path, ledger: Ledger) -> None:
    [destructive] = [one for one in ATTACKS if one.name == "a destructive tool that was named"]
    async with stage(tmp_path, ledger) as (site, model):
        turn = await led_astray(site, model, "description", destructive)
        assert model.obeyed == 1 and turn["state"] == "awaiting_person"
    assert ledger.counts() == {}
