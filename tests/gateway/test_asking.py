"""Calls that ask first: who is asked, what counts as an answer, and what nobody can approve by waiting."""

import asyncio
from contextlib import suppress
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from tests.gateway.kit import ERAS, Person, accept, mcp_client, text_of
from tests.gateway.test_tools import only_turn
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S, until, until_found
from tests.web.kit import Site

ARGUMENTS = {"effect_id": "a\u202eb"}


@pytest.mark.parametrize("mode", ERAS)
async def test_the_programs_person_allows_a_call_once(asking_site: Site, ledger: Ledger, mode: str) -> None:
    await asking_site.add_ledger(ledger, tools="*")
    person = Person(accept(decision="allow once"), accept(decision="deny"))
    async with mcp_client(asking_site, person, mode=mode) as client:
        allowed = await client.call_tool("destroy", ARGUMENTS)
        denied = await client.call_tool("destroy", ARGUMENTS)
    message = person.asked[0].message
    assert "May Test Desktop call destroy on ledger?" in message
    assert '"effect_id": "a\\u202eb"' in message, "nothing in it is invisible"
    assert "it changes something, and nothing allows that yet" in message
    assert not allowed.is_error and denied.is_error
    assert text_of(denied) == "The person denied this call."
    assert ledger.counts() == {ARGUMENTS["effect_id"]: 1}
    entries = (await asking_site.get("/audit"))["entries"]
    assert [entry["by"] for entry in entries if entry["kind"] == "call"] == ["Test Desktop 1.2 (token)"] * 2


@pytest.mark.parametrize("mode", ERAS)
async def test_a_declined_question_denies_the_call(asking_site: Site, ledger: Ledger, mode: str) -> None:
    await asking_site.add_ledger(ledger, tools="*")
    async with mcp_client(asking_site, Person(types.ElicitResult(action="decline")), mode=mode) as client:
        result = await client.call_tool("destroy", {"effect_id": "a"})
    assert result.is_error and ledger.counts() == {}


@pytest.mark.parametrize("answer", [accept(), accept(decision="yes"), types.ElicitResult(action="cancel")])
async def test_an_answer_that_decides_nothing_leaves_the_call_to_the_page(
    asking_site: Site, ledger: Ledger, answer: types.ElicitResult
) -> None:
    """A program that accepts every form by itself, with nothing in it or with defaults, has approved nothing."""
    await asking_site.add_ledger(ledger, tools="*")
    person = Person(answer)
    async with mcp_client(asking_site, person) as client:
        calling = asyncio.ensure_future(client.call_tool("destroy", {"effect_id": "a"}))
        turn = await only_turn(asking_site, "awaiting_person")
        await until_asked(person)
        await decide(asking_site, turn, "deny")
        result = await calling
    assert result.is_error and ledger.counts() == {}


@pytest.mark.parametrize("mode", ERAS)
async def test_unless_the_operator_says_so_the_program_approves_nothing(site: Site, ledger: Ledger, mode: str) -> None:
    await site.add_ledger(ledger, tools="*")
    person, heard = Person(), asyncio.Event()
    messages: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message)
        heard.set()

    async with mcp_client(site, person, mode=mode) as client:
        calling = asyncio.ensure_future(client.call_tool("destroy", {"effect_id": "a"}, progress_callback=hear))
        turn = await only_turn(site, "awaiting_person")
        async with asyncio.timeout(PATIENCE_S):
            await heard.wait()
        listed = (await site.get("/conversations"))["conversations"]
        await decide(site, turn, "allow")
        result = await calling
    assert person.asked == []
    assert messages[0] == f"destroy on ledger needs approval. Decide at {site.url}/ui/activity"
    assert [(one["title"], one["approvals"]) for one in listed] == [("Test Desktop asks: destroy on ledger", 1)]
    assert text_of(result) == "recorded a"
    assert (await site.get("/conversations"))["count"] == 0


async def test_a_token_that_may_not_approve_does_not_approve_through_its_program(
    asking_site: Site, ledger: Ledger
) -> None:
    await asking_site.add_ledger(ledger, tools="*")
    person = Person(accept(decision="allow once"))
    async with mcp_client(asking_site, person, token=asking_site.token("chat")) as client:
        calling = asyncio.ensure_future(client.call_tool("destroy", {"effect_id": "a"}))
        turn = await only_turn(asking_site, "awaiting_person")
        await decide(asking_site, turn, "deny")
        result = await calling
    assert person.asked == [] and result.is_error and ledger.counts() == {}


async def test_a_program_that_cannot_ask_waits_for_a_decision_elsewhere(asking_site: Site, ledger: Ledger) -> None:
    await asking_site.add_ledger(ledger, tools="*")
    async with mcp_client(asking_site) as client:
        calling = asyncio.ensure_future(client.call_tool("destroy", {"effect_id": "a"}))
        await decide(asking_site, await only_turn(asking_site, "awaiting_person"), "allow", scope="conversation")
        assert text_of(await calling) == "recorded a"
        again = await client.call_tool("destroy", {"effect_id": "b"})
    assert text_of(again) == "recorded b", "allowed for this program"


async def test_a_decision_on_the_page_takes_the_question_back(asking_site: Site, ledger: Ledger) -> None:
    await asking_site.add_ledger(ledger, tools="*")
    asked = asyncio.Event()

    async def undecided(context: Any, params: Any) -> types.ElicitResult:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async with mcp_client(asking_site, undecided) as client:  # type: ignore[arg-type]
        calling = asyncio.ensure_future(client.call_tool("destroy", {"effect_id": "a"}))
        await asked.wait()
        await decide(asking_site, await only_turn(asking_site, "awaiting_person"), "allow")
        result = await calling
    assert text_of(result) == "recorded a"


async def test_what_a_rule_denies_is_an_error_with_the_reason(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    rules = [{"server": "ledger", "tool": "destroy", "approval": "deny"}]
    version = (await site.get("/policy"))["version"]
    assert (await site.call("PUT", "/policy", {"rules": rules, "version": version})).status == 200
    async with mcp_client(site) as client:
        result = await client.call_tool("destroy", {"effect_id": "a"})
    assert result.is_error and text_of(result).startswith("Not allowed here:")
    assert ledger.counts() == {}


async def test_a_tool_named_one_by_one_asks_since_nobody_knows_what_the_program_has_read(
    site: Site, ledger: Ledger
) -> None:
    await site.add_ledger(ledger, tools="record,read_only")
    async with mcp_client(site) as client:
        assert text_of(await client.call_tool("read_only", {"effect_id": "a"})) == "read a"
        calling = asyncio.ensure_future(client.call_tool("record", {"effect_id": "b"}))
        turn = await only_turn(site, "awaiting_person")
        await decide(site, turn, "deny")
        assert (await calling).is_error
    assert turn["pending_calls"][0]["step"] == 6


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_a_question_of_a_tool_reaches_the_programs_person(
    site: Site, ledger: Ledger, mode: str, era: str
) -> None:
    await site.add_ledger(ledger, "--era", era, tools="*", approval="auto")
    person = Person(accept(name="Ada", number=7))
    async with mcp_client(site, person, mode=mode) as client:
        result = await client.call_tool("ask", {"effect_id": "a"})
    assert text_of(result) == "Ada wants 7"
    assert person.asked[0].message == "ledger asks: Who are you, and how many?"
    assert person.asked[0].requested_schema["required"] == ["name", "number"]


async def test_a_question_of_a_tool_is_answered_on_the_page_where_the_program_cannot(
    site: Site, ledger: Ledger
) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    async with mcp_client(site) as client:
        calling = asyncio.ensure_future(client.call_tool("ask", {"effect_id": "a"}))
        turn = await only_turn(site, "awaiting_person")
        title = (await site.get("/conversations"))["conversations"][0]["title"]
        pending = turn["pending_calls"][0]
        body = {"action": "accept", "content": {"name": "Bo", "number": 2}}
        await site.post(f"/turns/{turn['id']}/calls/{pending['call_id']}/input", body)
        assert text_of(await calling) == "Bo wants 2"
    assert title == "Test Desktop asks: ask on ledger"


async def test_a_call_that_waits_and_is_taken_back_is_never_made(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, tools="*")
    async with mcp_client(site) as client:
        calling = asyncio.ensure_future(client.call_tool("destroy", {"effect_id": "a"}))
        await only_turn(site, "awaiting_person")
        calling.cancel()
        turn = await only_turn(site, "finished")
    assert [call["state"] for call in turn["calls"]] == ["cancelled"]
    assert ledger.counts() == {}


async def test_a_question_that_the_program_never_answers_stops_the_call(
    asking_site: Site, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the stateless protocol the call is over with the question, and comes again with the answer, or never."""
    monkeypatch.setattr("windlass.gateway.protocol.LEFT_S", 0.05)
    await asking_site.add_ledger(ledger, tools="*")
    async with mcp_client(asking_site, Person(), mode="auto") as client:
        left = await client.session.call_tool("destroy", {"effect_id": "a"}, allow_input_required=True)
        assert isinstance(left, types.InputRequiredResult)
        turn = await only_turn(asking_site, "finished")
    assert [call["state"] for call in turn["calls"]] == ["cancelled"]


async def test_a_question_whose_answer_does_not_fit_stops_the_call_later(
    site: Site, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program is told, and may never answer again."""
    monkeypatch.setattr("windlass.gateway.protocol.LEFT_S", 0.5)
    await site.add_ledger(ledger, tools="*", approval="auto")
    async with mcp_client(site, Person(accept(name=7)), mode="auto") as client:
        with suppress(MCPError):
            await client.call_tool("ask", {"effect_id": "a"})
        turn = await only_turn(site, "finished")
    assert turn["outcome"] == "stopped"


@pytest.mark.parametrize("mode", ERAS)
async def test_a_call_that_waits_ends_with_its_token(site: Site, ledger: Ledger, mode: str) -> None:
    await site.add_ledger(ledger, tools="*")
    token, secret = site.access.tokens.make("desktop", ["chat"], None)
    async with mcp_client(site) as other, mcp_client(site, token=secret, mode=mode, name="x" * 59 + " y") as client:
        kept = asyncio.ensure_future(other.call_tool("destroy", {"effect_id": "b"}))
        waiting = await only_turn(site, "awaiting_person")
        calling = asyncio.ensure_future(client.call_tool("destroy", {"effect_id": "a"}))
        await asks(site, 2)
        assert (await site.call("DELETE", f"/tokens/{token.id}")).status == 200
        turn = await only_turn(site, "finished")
        calling.cancel()
        await decide(site, waiting, "allow")
        assert text_of(await kept) == "recorded b"
    assert [call["state"] for call in turn["calls"]] == ["cancelled"]
    assert ledger.counts() == {"b": 1}


async def test_a_call_that_was_given_back_with_a_question_ends_with_its_token(
    asking_site: Site, ledger: Ledger
) -> None:
    await asking_site.add_ledger(ledger, tools="*")
    token, secret = asking_site.access.tokens.make("desktop", ["chat", "approve"], None)
    async with mcp_client(asking_site, Person(), token=secret, mode="auto") as client:
        left = await client.session.call_tool("destroy", {"effect_id": "a"}, allow_input_required=True)
        assert isinstance(left, types.InputRequiredResult)
        assert (await asking_site.call("DELETE", f"/tokens/{token.id}")).status == 200
        turn = await only_turn(asking_site, "finished")
    assert [call["state"] for call in turn["calls"]] == ["cancelled"]


async def test_an_answer_belongs_to_the_very_call_that_asked(asking_site: Site, ledger: Ledger) -> None:
    await asking_site.add_ledger(ledger, tools="*")
    allow: Any = {"approval": accept(decision="allow once")}
    async with (
        mcp_client(asking_site, Person(), mode="auto") as one,
        mcp_client(asking_site, Person(), mode="auto", name="Another") as other,
    ):
        left = await one.session.call_tool("destroy", {"effect_id": "a"}, allow_input_required=True)
        assert isinstance(left, types.InputRequiredResult)
        state = left.request_state
        for client, effect in ((one, "b"), (other, "a")):
            with pytest.raises(Exception, match="not the call that the question belongs to"):
                await client.session.call_tool(
                    "destroy", {"effect_id": effect}, input_responses=allow, request_state=state
                )
    assert ledger.counts() == {}


async def test_nobody_talks_in_the_chat_of_a_program(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, tools="*", approval="auto")
    async with mcp_client(site) as client:
        await client.call_tool("fail", {"message": "no"})
    turn = await only_turn(site, "finished")
    call = turn["calls"][0]["id"]
    for path, body in (
        (f"/conversations/{turn['conversation_id']}/chat", {"content": "hello"}),
        (f"/turns/{turn['id']}/retry", {}),
        (f"/turns/{turn['id']}/calls/{call}/retry", None),
    ):
        reply = await site.call("POST", path, body)
        assert (reply.status, reply.code) == (409, "calls_of_a_program"), reply.text


async def decide(site: Site, turn: Any, decision: str, **fields: object) -> None:
    pending = turn["pending_calls"][0]
    body = {"decision": decision, "hash": pending["hash"], **fields}
    reply = await site.call("POST", pending["settle"]["path"], body)
    assert reply.status == 200, reply.text


async def asks(site: Site, count: int) -> None:
    async def asking() -> bool:
        return len((await site.get("/conversations"))["conversations"]) == count

    await until_found(asking, "calls that ask")


async def until_asked(person: Person) -> None:
    await until(lambda: bool(person.asked), "a question")
