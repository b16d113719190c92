"""A stream ends with the session or token that opened it."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from tests.kit.waiting import PATIENCE_S, until
from tests.web.kit import Events, Site
from windlass.testing import StrictLLM, hang, say

Ending = Callable[[Site, dict[str, str], str], Awaitable[object]]


async def sign_out(site: Site, page: dict[str, str], token: str) -> None:
    await site.call("DELETE", "/session", token="", headers=page)


async def end_from_elsewhere(site: Site, page: dict[str, str], token: str) -> None:
    (own,) = [one for one in (await site.get("/sessions"))["sessions"] if one["name"] == "phone"]
    await site.call("DELETE", f"/sessions/{own['id']}")


async def revoke(site: Site, page: dict[str, str], token: str) -> None:
    (own,) = [one for one in (await site.get("/tokens"))["tokens"] if one["name"] == "phone"]
    await site.call("DELETE", f"/tokens/{own['id']}")


async def expect_end(events: Events) -> None:
    async with asyncio.timeout(PATIENCE_S):
        async for _ in events:
            pass


@pytest.mark.parametrize("ending", [sign_out, end_from_elsewhere, revoke])
async def test_a3_the_stream_of_a_page_ends_with_its_session(site: Site, ending: Ending) -> None:
    token = site.token("admin", name="phone")
    page = site.browser(token=token)
    path = f"/conversations/{await site.conversation()}/events"
    async with site.events(path, credentials=page) as mine, site.events(path) as other:
        await until(lambda: site.app.bus.watchers == 2, "both streams")
        await ending(site, page, token)
        await expect_end(mine)
        await until(lambda: site.app.bus.watchers == 1, "the stream to be let go")
        assert not other.response.content.at_eof()


async def test_a3_the_streams_of_a_token_end_with_it_and_with_its_time(site: Site) -> None:
    bearer = {"Authorization": f"Bearer {site.token('read', name='phone')}"}
    timed = {"Authorization": f"Bearer {site.token('read', name='guest', expires_at=time.time() + 1)}"}
    path = f"/conversations/{await site.conversation()}/events"
    async with site.events(path, credentials=bearer) as mine, site.events(path, credentials=timed) as guest:
        await expect_end(guest)
        await revoke(site, {}, "")
        await expect_end(mine)


async def test_a3_a_rotated_token_ends_what_it_opened(site: Site) -> None:
    site.access.fixed = False
    path = f"/conversations/{await site.conversation()}/events"
    page = site.browser()
    async with site.events(path) as program, site.events(path, credentials=page) as browser:
        await site.post("/token/rotate")
        await expect_end(program)
        await expect_end(browser)


async def test_a3_a_turn_goes_on_when_the_stream_of_its_chat_ends(site: Site, strict_llm: StrictLLM) -> None:
    strict_llm.then(hang())
    token = site.token("chat", name="phone")
    conversation = await site.conversation()
    chat = site.events(
        f"/conversations/{conversation}/chat",
        method="POST",
        body={"content": "Hello"},
        credentials={"Authorization": f"Bearer {token}"},
    )
    async with chat as stream:
        await until(lambda: bool(strict_llm.requests), "the model to be asked")
        await revoke(site, {}, "")
        await expect_end(stream)
    turn = (await site.get(f"/conversations/{conversation}/turns"))["turns"][-1]
    assert turn["state"] == "running"
    await site.post(f"/turns/{turn['id']}/stop")


@pytest.mark.parametrize("stream", [True, False])
async def test_a3_a_completion_ends_with_its_token_as_if_its_caller_had_gone(
    site: Site, strict_llm: StrictLLM, stream: bool
) -> None:
    strict_llm.then(hang())
    token = site.token("chat", name="phone")
    body = {"model": "strict-model", "stream": stream, "messages": [{"role": "user", "content": "Hello"}]}
    asking = asyncio.create_task(site.call("POST", "/v1/chat/completions", body, token=token))
    await until(lambda: bool(strict_llm.requests), "the model to be asked")
    await revoke(site, {}, "")
    async with asyncio.timeout(PATIENCE_S):
        reply = await asking
    assert reply.status == 401  # nothing was sent yet, so the status can say it
    await until(lambda: site.app.runner.running == 0, "the turn to end")


async def test_a3_a_streamed_completion_that_has_begun_breaks_off_with_its_token(
    site: Site, strict_llm: StrictLLM
) -> None:
    strict_llm.then(say("One ") + hang())
    body = {"model": "strict-model", "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
    headers = {"Authorization": f"Bearer {site.token('chat', name='phone')}"}
    async with site.session.post(f"{site.url}/v1/chat/completions", json=body, headers=headers) as answer:
        first = await answer.content.readany()
        await revoke(site, {}, "")
        async with asyncio.timeout(PATIENCE_S):
            rest = await answer.content.read()
    assert answer.status == 200 and b"data: " in first and b"[DONE]" not in first + rest
