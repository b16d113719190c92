"""Chat over HTTP: the seed's flow to the letter, and every way a turn can end."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit import real_servers
from tests.kit.fenced import unfenced
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import windlass
from tests.web.kit import Site, open_site
from windlass.config import LimitSettings
from windlass.testing import StrictLLM, call, calls, error, hang, raw_call, say

OPTIONAL = {"turn_id", "sources", "usage", "reasoning", "error"}
GOLDEN = json.loads((Path(__file__).parent / "golden" / "seed_messages.json").read_text())


@pytest.mark.npm
async def test_the_seeds_flow_gives_the_seeds_messages_key_for_key(
    site: Site, strict_llm: StrictLLM, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "README.md").touch()
    (docs / "API.md").touch()
    conversation = await _with_real_files(site, docs)
    answer = "The /docs directory contains: README.md and API.md"
    strict_llm.then(call("list_directory", path=str(docs)), say(answer))

    reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "What files are in /docs?"})

    assert reply.status == 200
    assert (reply.body["success"], reply.body["message"]) == (True, "Chat completed successfully")
    assert reply.body["assistant_message"]["content"] == answer
    stored = (await site.get(f"/conversations/{conversation}/messages"))["messages"]
    assert [_comparable(message, docs) for message in stored] == GOLDEN


async def _with_real_files(site: Site, docs: Path) -> str:
    command, *args = real_servers.filesystem(docs)
    added = await site.post("/servers", {"name": "files", "command": command, "args": args})
    server = added["server"]
    assert (server["status"], server["trusted"]) == ("draft", False)
    await site.post(f"/servers/{server['id']}/confirm", {"argv": server["argv"]})
    assert (await site.post(f"/servers/{server['id']}/start"))["server"]["status"] == "running"
    conversation = await site.conversation(title="Docs")
    available = await site.get(f"/conversations/{conversation}/tools/available")
    assert "list_directory" in [tool["tool_name"] for tool in available["available_tools"]]
    body = {"server_id": server["id"], "tool_name": "list_directory"}
    enabled = await site.post(f"/conversations/{conversation}/tools", body)
    assert [tool["tool_name"] for tool in enabled["enabled_tools"]] == ["list_directory"]
    return conversation


def _comparable(message: dict[str, Any], docs: Path) -> dict[str, Any]:
    """Without what the contract adds, and with fixed words where a run has its own."""
    kept = {key: value for key, value in message.items() if key not in OPTIONAL}
    kept["id"], kept["timestamp"] = "msg-xxx", "2025-01-11T19:00:00Z"
    text = json.dumps(kept).replace(str(docs), "/docs")
    made: dict[str, Any] = json.loads(text)
    for one in made.get("tool_calls", []):
        one["id"] = "call_123"
    if "tool_call_id" in made:
        made["tool_call_id"] = "call_123"
    return made


async def test_on_the_wire_everything_is_there_once_and_in_order(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation(system_prompt="Be brief.")
    note = {"descriptive_name": "The project", "content": "It is called Nimbus.", "related_files": ["a.md"]}
    await site.post(f"/conversations/{conversation}/context", note)
    await site.enable(conversation, "echo")
    strict_llm.then(calls(call("echo", text="one"), call("echo", text="two")), say("Both."), say("Again."))

    await site.post(f"/conversations/{conversation}/chat", {"content": "Echo twice"})
    await site.post(f"/conversations/{conversation}/chat", {"content": "And now?"})

    first, second, third = strict_llm.requests
    system = first.messages[0]["content"]
    assert "Be brief." in system and "It is called Nimbus." in system
    assert [m["content"] for m in first.messages if m["role"] == "user"] == ["Echo twice"]
    assert [m["role"] for m in second.messages] == ["system", "user", "assistant", "tool", "tool"]
    made = [one["id"] for one in second.messages[2]["tool_calls"]]
    assert [m["tool_call_id"] for m in second.messages[3:]] == made
    assert [m["content"] for m in third.messages if m["role"] == "user"] == ["Echo twice", "And now?"]
    assert all("echo" in request.tool_names for request in strict_llm.requests)


async def test_the_keywords_and_files_of_a_context_item_are_labels(
    site: Site, strict_llm: StrictLLM, tmp_path: Path
) -> None:
    """The item is in every prompt, whatever the message says, and the file is named without being read."""
    file = tmp_path / "tides.md"
    file.write_text("canary-in-the-file")
    conversation = await site.conversation()
    item = {"descriptive_name": "Tides", "content": "High water at noon."}
    labels = {"related_keywords": ["tide", "moon"], "related_files": [str(file)]}
    await site.post(f"/conversations/{conversation}/context", item | labels)
    strict_llm.then(say("Hello."), say("At noon."))

    await site.post(f"/conversations/{conversation}/chat", {"content": "Good morning"})
    await site.post(f"/conversations/{conversation}/chat", {"content": "When is the tide?"})

    first, second = (request.messages[0]["content"] for request in strict_llm.requests)
    assert first == second and "canary-in-the-file" not in first
    assert f"Keywords: tide, moon\nFiles, named and not read: {file}\nHigh water at noon." in first
    described = (await site.get("/openapi.json"))["components"]["schemas"]["NewContextItem"]["properties"]
    assert "No file is read" in described["related_files"]["description"]
    assert "select nothing" in described["related_keywords"]["description"]


async def test_a_failing_unknown_or_badly_called_tool_is_told_to_the_model(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "fail", "record")
    strict_llm.then(
        calls(call("fail", message="no luck"), call("nothing_like_it"), raw_call("record", "{not json")), say("I see.")
    )

    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Try"})

    assert body["outcome"] == "answered"
    failed, *refused = strict_llm.requests[1].results
    results = [json.loads(refused[0])["error"], json.loads(unfenced(refused[1]))["error"]]
    assert '{"error": "no luck"}' in failed and "nothing_like_it" in results[0] and "arguments" in results[1]
    turn = (await site.get(f"/turns/{body['turn_id']}"))["turn"]
    assert [one["state"] for one in turn["calls"]] == ["error", "error", "error"]


async def test_a_stopped_servers_tools_are_not_offered_and_the_answer_says_so(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "echo")
    await site.post("/servers/ledger/stop")
    strict_llm.then(say("I have no tools."))

    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Echo"})

    assert body["unavailable"] == [{"server_slug": "ledger", "status": "stopped"}]
    assert strict_llm.requests[0].tool_names == []
    available = await site.get(f"/conversations/{conversation}/tools/available")
    assert available["unavailable"] == body["unavailable"]


async def test_ten_rounds_then_the_forced_answer_and_outcome_limit(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record", approval="auto")
    strict_llm.then(*[call("record", effect_id=str(n)) for n in range(10)], say("What I have."))

    reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Go"})

    assert (reply.status, reply.body["success"], reply.body["outcome"]) == (200, False, "limit")
    assert reply.body["assistant_message"]["content"] == "What I have."
    assert reply.body["rounds"] == 10
    assert len(ledger.effects()) == 10
    assert strict_llm.requests[-1].tool_choice == "none"


async def test_a_single_round_ends_the_seeds_way(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "echo")
    strict_llm.then(call("echo", text="a"), call("echo", text="b"))

    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Go", "max_rounds": 1})

    assert (body["outcome"], body["message"]) == ("limit", "Multi-round tool calls not supported")
    assert body["assistant_message"] is None


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (error(401, None, "bad key"), 502, "auth"),
        (error(500, None, "broken"), 502, "server_error"),
        (error(429, None, "slow down", {"Retry-After": "0"}), 429, "rate_limited"),
    ],
)
async def test_a_failed_turn_has_the_status_of_its_cause(tmp_path: Path, failure: Any, status: int, code: str) -> None:
    async with (
        StrictLLM(lambda request: failure) as llm,
        open_site(tmp_path, llm, limits=LimitSettings(attempts=1)) as site,
    ):
        conversation = await site.conversation()

        reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Hello"})

        assert (reply.status, reply.body["success"], reply.body["outcome"]) == (status, False, "failed")
        assert reply.body["error"]["code"] == code
        assert reply.body["user_message"]["content"] == "Hello"
        assert reply.body["assistant_message"] is None


async def test_a_call_that_needs_a_person_gives_202_and_goes_on_after_the_word(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record", approval="ask")
    strict_llm.then(call("record", effect_id="x"), say("Done."))

    reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Do it"})

    assert (reply.status, reply.body["outcome"]) == (202, "awaiting_person")
    (pending,) = reply.body["pending_calls"]
    assert (pending["kind"], pending["name"], pending["server_slug"]) == ("approval", "record", "ledger")
    assert ledger.effects() == []
    turn = f"/turns/{reply.body['turn_id']}"
    wrong = await site.call("POST", f"{turn}/calls/{pending['call_id']}/decision", {"decision": "allow", "hash": "x"})
    assert wrong.status == 409
    word = {"decision": "allow", "hash": pending["hash"]}
    await site.post(f"{turn}/calls/{pending['call_id']}/decision", word)
    done = (await site.get(f"{turn}?wait=60"))["turn"]
    assert (done["state"], done["outcome"], done["answer"]) == ("finished", "answered", "Done.")
    again = await site.post(f"{turn}/calls/{pending['call_id']}/decision", {"decision": "deny"})
    assert again["message"] == "Decided already"
    assert ledger.counts() == {"x": 1}


async def test_edited_arguments_are_checked_and_used(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record", approval="ask")
    strict_llm.then(call("record", effect_id="x"), say("Done."))
    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Do it"})
    decision = f"/turns/{body['turn_id']}/calls/{body['pending_calls'][0]['call_id']}/decision"

    bad = await site.call("POST", decision, {"decision": "allow", "arguments": {"effect_id": 7}})
    await site.post(decision, {"decision": "allow", "arguments": {"effect_id": "y"}})
    await site.get(f"/turns/{body['turn_id']}?wait=60")

    assert bad.status == 422 and "effect_id" in bad.body["error"]["message"]
    assert ledger.counts() == {"y": 1}


async def test_edited_arguments_cannot_be_what_a_rule_denies(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    await site.call("PUT", "/policy", {"rules": [{"then": "deny", "arguments": {"effect_id": "forbidden*"}}]})
    conversation = await site.conversation()
    await site.enable(conversation, "record", approval="ask")
    strict_llm.then(call("record", effect_id="x"), say("Done."))
    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Do it"})
    decision = f"/turns/{body['turn_id']}/calls/{body['pending_calls'][0]['call_id']}/decision"

    denied = await site.call("POST", decision, {"decision": "allow", "arguments": {"effect_id": "forbidden-1"}})
    await site.post(decision, {"decision": "allow"})
    await site.get(f"/turns/{body['turn_id']}?wait=60")

    assert (denied.status, denied.code) == (422, "policy")
    assert ledger.counts() == {"x": 1}


async def test_a_tool_that_asks_a_person_gives_202_and_takes_the_answer(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "ask")
    strict_llm.then(call("ask"), say("Hello Ada."))

    reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Ask me"})

    assert reply.status == 202
    (pending,) = reply.body["pending_calls"]
    assert pending["kind"] == "input" and "Who are you" in pending["question"]
    turn = f"/turns/{reply.body['turn_id']}"
    wrong = {"action": "accept", "content": {"name": "Ada", "number": 70}}
    refused = await site.call("POST", f"{turn}/calls/{pending['call_id']}/input", wrong)
    assert refused.status == 422 and "number" in refused.body["error"]["message"]
    answer = {"action": "accept", "content": {"name": "Ada", "number": 3}}
    await site.post(f"{turn}/calls/{pending['call_id']}/input", answer)
    assert (await site.get(f"{turn}?wait=60"))["turn"]["answer"] == "Hello Ada."
    assert "Ada wants 3" in strict_llm.requests[1].results[0]
    late = await site.call("POST", f"{turn}/calls/{pending['call_id']}/input", answer)
    assert late.status == 409


async def test_d5_a_tools_question_waits_for_a_person_in_every_list(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "ask")
    strict_llm.then(call("ask"), say("Hello Ada."))
    asked = await site.post(f"/conversations/{conversation}/chat", {"content": "Ask me"})

    async def shown() -> list[tuple[str, int]]:
        [listed] = (await site.get("/conversations"))["conversations"]
        alone = (await site.get(f"/conversations/{conversation}"))["conversation"]
        [turn] = (await site.get(f"/conversations/{conversation}/turns"))["turns"]
        chats = [(one["state"], one["questions"]) for one in (listed, alone)]
        return [*chats, (turn["state"], 0)]

    assert await shown() == [("awaiting_person", 1), ("awaiting_person", 1), ("awaiting_person", 0)]
    turn = f"/turns/{asked['turn_id']}"
    await site.post(f"{turn}/calls/{asked['pending_calls'][0]['call_id']}/input", {"action": "decline"})
    await site.get(f"{turn}?wait=60")
    assert await shown() == [("finished", 0)] * 3


async def test_the_time_a_person_takes_to_answer_is_no_work_of_the_turns(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    """Known by a later turn, which works until its time is up."""
    limits = LimitSettings(turn_s=4)
    async with open_site(tmp_path / "home", strict_llm, durability="normal", limits=limits) as site:
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "ask")
        strict_llm.then(call("ask"), hang())
        asked = await site.post(f"/conversations/{conversation}/chat", {"content": "Ask me"})
        works = await site.call("POST", f"/conversations/{await site.conversation()}/chat", {"content": "Work"})
        assert (works.status, works.body["error"]["code"]) == (504, "turn_timeout")

        assert (await site.get(f"/turns/{asked['turn_id']}"))["turn"]["state"] == "awaiting_person"
        strict_llm.then(say("Hello Ada."))
        path = f"/turns/{asked['turn_id']}/calls/{asked['pending_calls'][0]['call_id']}/input"
        await site.post(path, {"action": "accept", "content": {"name": "Ada", "number": 3}})
        assert (await site.get(f"/turns/{asked['turn_id']}?wait=10"))["turn"]["answer"] == "Hello Ada."


async def test_fifty_identical_posts_at_once_make_one_turn(site: Site, strict_llm: StrictLLM) -> None:
    conversation = await site.conversation()
    strict_llm.then(say("Once."))
    body = {"content": "Hello", "client_message_id": "m-1"}

    replies = await asyncio.gather(*(site.call("POST", f"/conversations/{conversation}/chat", body) for _ in range(50)))

    assert {(reply.status, reply.body["turn_id"]) for reply in replies} == {(200, replies[0].body["turn_id"])}
    assert len(strict_llm.requests) == 1
    other = await site.call("POST", f"/conversations/{conversation}/chat", {**body, "content": "Bye"})
    assert (other.status, other.code) == (409, "client_message_id_used")


async def test_a_second_message_on_a_running_branch_is_refused_naming_the_turn(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record", approval="ask")
    strict_llm.then(call("record", effect_id="x"))
    running = await site.post(f"/conversations/{conversation}/chat", {"content": "Wait"})

    refused = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Me too"})

    assert (refused.status, refused.code) == (409, "turn_running")
    assert refused.body["error"]["detail"] == {"turn_id": running["turn_id"]}


async def test_stop_works_while_an_approval_waits_and_is_idempotent(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record", approval="ask")
    strict_llm.then(call("record", effect_id="x"))
    body = await site.post(f"/conversations/{conversation}/chat", {"content": "Wait"})

    first = await site.post(f"/turns/{body['turn_id']}/stop")
    second = await site.post(f"/turns/{body['turn_id']}/stop")

    assert first["turn"]["outcome"] == second["turn"]["outcome"] == "stopped"
    assert [one["state"] for one in first["turn"]["calls"]] == ["cancelled"]
    assert ledger.effects() == []


@pytest.mark.parametrize("window", [None, 4])
async def test_a_parent_that_is_not_of_this_conversation_is_not_found(
    site: Site, strict_llm: StrictLLM, window: int | None
) -> None:
    strict_llm.then(say("Elsewhere."))
    other = await site.post(f"/conversations/{await site.conversation()}/chat", {"content": "Hello"})
    here = await site.conversation()
    await site.call("PATCH", f"/conversations/{here}", {"max_messages": window})
    for parent in (other["turn_id"], "turn-of-nobody"):
        reply = await site.call("POST", f"/conversations/{here}/chat", {"content": "Hello", "parent_turn_id": parent})
        assert (reply.status, reply.body["error"]["code"]) == (404, "not_found")


async def test_a_message_refused_while_a_turn_runs_does_not_cut_that_turn_off_later_prompts(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.call("PATCH", f"/conversations/{conversation}", {"max_messages": 20})
    await site.enable(conversation, "record", approval="ask")
    strict_llm.then(call("record", effect_id="x"), say("The answer that must be remembered."), say("Yes."))
    waiting = await site.post(f"/conversations/{conversation}/chat", {"content": "Wait"})
    refused = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Me too"})
    assert refused.status == 409
    (asked,) = waiting["pending_calls"]
    await site.post(f"/turns/{waiting['turn_id']}/calls/{asked['call_id']}/decision", {"decision": "allow"})
    await site.get(f"/turns/{waiting['turn_id']}?wait=30")
    await site.post(f"/conversations/{conversation}/chat", {"content": "Do you remember?"})
    assert "The answer that must be remembered." in str(strict_llm.requests[-1])


async def test_without_a_model_named_the_request_is_refused_with_those_there_are(tmp_path: Path) -> None:
    listed = ["text-embedding-3", "big-model", "small-model"]
    async with StrictLLM(models=listed) as llm:
        env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": llm.base_url}
        async with windlass(tmp_path / "home", env=env) as server:
            conversation = (await server.post("/conversations"))["conversation"]["id"]
            chat = await server.call("POST", f"/conversations/{conversation}/chat", {"content": "Hello"})
            hello = {"messages": [{"role": "user", "content": "Hello"}]}
            v1 = await server.call("POST", "/v1/chat/completions", hello)
            llm.then(say("Hello."))
            named = await server.call(
                "POST", f"/conversations/{conversation}/chat", {"content": "Hello", "model": "big-model"}
            )
    error = chat.body["error"]
    assert (chat.status, error["code"], error["detail"]["models"]) == (422, "model_required", listed[1:])
    assert "LLM_MODEL" in error["hint"] and "big-model, small-model" in error["hint"]
    assert (v1.status, v1.body["error"]["code"], v1.body["error"]["param"]) == (400, "model_required", "model")
    assert named.status == 200
    assert [request.body["model"] for request in llm.requests] == ["big-model"]


async def test_a_provider_of_the_file_is_named_a_model_in_the_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "windlass.toml").write_text('[provider]\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "k"\n')
    async with windlass(home, env={"LLM_MODEL": "counts for the environment alone"}) as server:
        conversation = (await server.post("/conversations"))["conversation"]["id"]
        chat = await server.call("POST", f"/conversations/{conversation}/chat", {"content": "Hello"})
    hint = chat.body["error"]["hint"]
    assert chat.status == 422 and "windlass.toml" in hint and "LLM_MODEL" not in hint


async def test_a_missing_model_name_is_said_also_where_no_list_can_be_read(tmp_path: Path) -> None:
    env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    async with windlass(tmp_path / "home", env=env) as server:
        conversation = (await server.post("/conversations"))["conversation"]["id"]
        chat = await server.call("POST", f"/conversations/{conversation}/chat", {"content": "Hello"})
    error = chat.body["error"]
    assert (chat.status, error["code"], error["detail"]["models"]) == (422, "model_required", [])
    assert "LLM_MODEL" in error["hint"] and "Its models:" not in error["hint"]
