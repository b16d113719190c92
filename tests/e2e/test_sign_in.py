"""A turn whose server asks for a sign-in: its calls wait, through kill -9 too, and run once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.kit.authorized_server import Authority, AuthorizedServer, authorized_server, final_address
from tests.kit.windlass_process import WindlassProcess, model_settings, windlass
from windlass.testing import StrictLLM, call, say


async def sign_in(server: WindlassProcess, name: str = "guarded") -> str:
    """As a browser does; gives the page that it ends at."""
    begun = await server.post(f"/servers/{name}/login")
    assert begun["host"] == "127.0.0.1" and begun["authorize_url"].startswith("http://127.0.0.1:")
    async with httpx2.AsyncClient() as browser:
        return (await browser.get(await final_address(begun["authorize_url"]))).text


@asynccontextmanager
async def signed_in(home: Path, llm: StrictLLM, site: AuthorizedServer) -> AsyncIterator[tuple[WindlassProcess, str]]:
    async with windlass(home, env=model_settings(llm.base_url)) as server:
        new = {"name": "Guarded", "slug": "guarded", "url": site.url, "tools": "*", "approval": "auto"}
        await server.post("/servers", new)
        started = (await server.post("/servers/guarded/start"))["server"]
        assert (started["status"], started["signed_in"]) == ("needs_sign_in", False)
        assert "Signed in to Guarded" in await sign_in(server)
        yield server, (await server.post("/conversations"))["conversation"]["id"]


async def chat(server: WindlassProcess, conversation: str, text: str) -> Any:
    return (await server.call("POST", f"/conversations/{conversation}/chat", {"content": text})).body


async def test_a_call_waits_for_a_sign_in_and_is_sent_once_although_windlass_is_killed_meanwhile(
    tmp_path: Path, strict_llm: StrictLLM
) -> None:
    async with authorized_server() as site, signed_in(tmp_path / "home", strict_llm, site) as (server, conversation):
        site.authority.revoke_all()
        strict_llm.then(call("keep", text="x"), say("Kept."))
        answer = await chat(server, conversation, "keep x")
        [pending] = answer["pending_calls"]
        assert (answer["outcome"], pending["kind"], pending["server_slug"]) == ("awaiting_person", "sign_in", "guarded")
        assert pending["settle"] == {"method": "POST", "path": "/servers/guarded/login", "body": {}}
        turn = (await server.get(f"/turns/{answer['turn_id']}"))["turn"]
        assert (turn["waiting"]["for"], turn["waiting"]["server"]) == ("sign_in", "guarded")

        await server.kill()
        await server.start()
        found = await server.until(f"/turns/{answer['turn_id']}", lambda found: found["turn"]["pending_calls"])
        turn = found["turn"]
        assert [one["kind"] for one in turn["pending_calls"]] == ["sign_in"] and site.calls == []

        assert "Signed in to Guarded" in await sign_in(server)
        turn = await server.settled(answer["turn_id"])
        assert (turn["outcome"], turn["answer"], site.calls) == ("answered", "Kept.", ["x"])
        assert not any(secret in server.log for secret in site.authority.secrets)


async def test_a_turn_says_whose_tools_are_missing_to_the_person_and_to_the_model(
    tmp_path: Path, strict_llm: StrictLLM
) -> None:
    async with authorized_server() as site, signed_in(tmp_path / "home", strict_llm, site) as (server, conversation):
        await server.post("/servers/guarded/logout")
        await server.post("/servers/guarded/start")
        strict_llm.then(say("I cannot reach it."))
        answer = await chat(server, conversation, "keep x")
        assert answer["unavailable"] == [
            {"server_slug": "guarded", "status": "needs_sign_in", "reason": "127.0.0.1 asks for a sign-in."}
        ]
        assert (await server.get(f"/turns/{answer['turn_id']}"))["turn"]["unavailable"] == answer["unavailable"]
        told = strict_llm.requests[-1].body["messages"][-1]["content"]
        assert "guarded (the user has to sign in to it)" in told
        await sign_in(server)
        strict_llm.then(say("Here again."))
        answer = await chat(server, conversation, "and now?")
        assert "unavailable" not in answer and "keep" in strict_llm.requests[-1].tool_names


async def test_a_caller_who_cannot_wait_is_told_at_once(tmp_path: Path, strict_llm: StrictLLM) -> None:
    async with authorized_server() as site, signed_in(tmp_path / "home", strict_llm, site) as (server, conversation):
        site.authority.revoke_all()
        strict_llm.then(call("keep", text="x"), say("It asks for a sign-in."))
        body = {"content": "keep x", "asks": "refuse"}
        answer = await server.post(f"/conversations/{conversation}/chat", body)
        assert answer["outcome"] == "answered" and site.calls == []
        assert "sign-in" in strict_llm.requests[-1].results[0]


async def test_a_server_that_was_away_and_lost_its_sessions_answers_the_next_question_with_nothing_asked(
    tmp_path: Path, strict_llm: StrictLLM
) -> None:
    home, authority = tmp_path / "home", Authority()
    async with authorized_server(authority) as site:
        port = int(site.url.split(":")[2].split("/")[0])
        async with signed_in(home, strict_llm, site) as (server, conversation):
            await server.kill()
    authority.expire_all()
    async with windlass(home, env=model_settings(strict_llm.base_url)) as server:
        strict_llm.then(say("It is away."))
        answer = await chat(server, conversation, "keep x")
        assert [one["status"] for one in answer["unavailable"]] == ["failed"]
        async with authorized_server(authority, port) as back:
            strict_llm.then(call("keep", text="x"), say("Kept."))
            answer = await chat(server, conversation, "keep x")
            assert (answer["outcome"], back.calls) == ("answered", ["x"])
            assert "unavailable" not in answer and back.requests["GET /authorize"] == 0
            assert authority.redemptions == 1
            await server.stop()
