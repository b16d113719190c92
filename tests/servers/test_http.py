"""The ledger server over streamable HTTP, in both eras, and the faults a network adds."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.ledger_http import ledger_http
from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import PATIENCE_S, until
from tests.servers.kit import ERAS, VERSIONS, run, text_of
from windlass.core.errors import ToolError
from windlass.servers import InputReply, Question, ServerConfig, Servers

pytestmark = pytest.mark.parametrize("era", ERAS)


def web(url: str, **more: Any) -> ServerConfig:
    return ServerConfig("srv-web", "web", transport="http", url=url, **more)


@asynccontextmanager
async def running(servers: Servers, ledger: Ledger, era: str, *options: str, **more: Any) -> AsyncIterator[str]:
    async with ledger_http(ledger, "--era", era, *options) as url:
        await run(servers, web(url, **more))
        yield url
        await servers.stop("web")


async def test_it_lists_calls_asks_and_reports_progress(servers: Servers, ledger: Ledger, era: str) -> None:
    async def answer(question: Question) -> InputReply:
        return InputReply("accept", {"name": "Ada", "number": 3})

    heard: list[float] = []
    async with running(servers, ledger, era):
        assert servers.status("web").era == VERSIONS[era] and servers.status("web").tools > 10
        result = await servers.call("web", "record", '{"effect_id": "a"}', key="call_1")
        assert text_of(result) == "recorded a" and ledger.effects()[0].meta["windlass/key"] == "call_1"
        assert text_of(await servers.call("web", "ask", "{}", on_input=answer)) == "Ada wants 3"
        await servers.call("web", "progress", "{}", on_progress=lambda progress, *_: heard.append(progress))
    assert heard == [1, 2, 3]


async def test_a_cancel_reaches_the_server(servers: Servers, ledger: Ledger, era: str) -> None:
    async with running(servers, ledger, era):
        call = asyncio.create_task(servers.call("web", "record_slow", '{"effect_id": "a"}'))
        await ledger.seen("started", "a")
        call.cancel()
        await ledger.seen("cancelled", "a")
        assert [effect.cancelled for effect in ledger.effects()] == [True]


async def test_a_timeout_reaches_the_server(servers: Servers, ledger: Ledger, clock: LoopClock, era: str) -> None:
    async with running(servers, ledger, era):
        call = asyncio.create_task(servers.call("web", "record_slow", '{"effect_id": "a"}', timeout_s=100))
        await ledger.seen("started", "a")
        clock.jump(100)
        with pytest.raises(ToolError) as caught:
            await call
        assert (caught.value.code, caught.value.sent) == ("timeout", True)
        await ledger.seen("cancelled", "a")


@pytest.mark.parametrize(
    ("fault", "cause", "sent"),
    [
        ("401", "unauthorized", False),
        ("500", "server_gone", True),
        ("503", "server_gone", True),
        ("redirect", "bad_result", True),
        ("cut", "server_gone", True),
        ("text", "bad_result", True),
        ("gzip", "server_gone", True),
    ],
)
async def test_a_fault_fails_its_own_call_and_no_other(
    servers: Servers, ledger: Ledger, era: str, fault: str, cause: str, sent: bool
) -> None:
    async with running(servers, ledger, era, "--http-fault", f"{fault}@2", "--gate", ledger.gate()):
        other = asyncio.create_task(servers.call("web", "record_slow", '{"effect_id": "other"}'))
        await ledger.seen("started", "other")
        with pytest.raises(ToolError) as caught:
            await servers.call("web", "record", '{"effect_id": "a"}')
        assert (caught.value.code, caught.value.sent) == (cause, sent), caught.value.message
        ledger.open()
        assert text_of(await other) == "recorded other slowly"
    assert ledger.counts()["a"] == 0


async def test_a_session_that_was_forgotten_is_opened_again_once(servers: Servers, ledger: Ledger, era: str) -> None:
    async with running(servers, ledger, era, "--http-fault", "404@1"):
        assert text_of(await servers.call("web", "record", '{"effect_id": "a"}')) == "recorded a"
        assert servers.status("web").starts == 2
    assert ledger.counts() == {"a": 1}


async def test_calls_that_find_the_session_gone_together_open_one_new_one(
    servers: Servers, ledger: Ledger, era: str
) -> None:
    faults = [word for n in (1, 2, 3) for word in ("--http-fault", f"404@{n}")]
    async with running(servers, ledger, era, *faults):
        async with asyncio.TaskGroup() as group:
            for n in range(3):
                group.create_task(servers.call("web", "record", json.dumps({"effect_id": str(n)})))
        assert servers.status("web").starts == 2
    assert ledger.counts() == {"0": 1, "1": 1, "2": 1}


async def test_a_server_that_is_not_there_was_not_reached(servers: Servers, ledger: Ledger, era: str) -> None:
    async with ledger_http(ledger, "--era", era) as url:
        await run(servers, web(url))
    with pytest.raises(ToolError) as caught:
        await servers.call("web", "record", '{"effect_id": "a"}')
    assert (caught.value.code, caught.value.sent) == ("server_gone", False)
    await until(lambda: servers.status("web").state != "running", "the status to follow")


async def test_headers_are_sent_and_revealed(ledger: Ledger, era: str) -> None:
    servers = Servers(reveal=lambda value: value.replace("secret:1", "s3cret"))
    async with running(servers, ledger, era, "--bearer", "s3cret", headers={"Authorization": "Bearer secret:1"}):
        assert servers.status("web").tools
    await servers.aclose()
    requests = [event for event in ledger.events() if event["event"] == "request"]
    assert all("cookie" not in event["headers"] for event in requests)


async def test_a_wrong_token_fails_with_a_word_about_it(servers: Servers, ledger: Ledger, era: str) -> None:
    async with ledger_http(ledger, "--era", era, "--bearer", "right") as url:
        await servers.put(web(url, headers={"Authorization": "Bearer wrong"}))
        servers.start("web")
        await until(lambda: servers.status("web").state == "failed", "its failure")
        assert "401" in servers.status("web").reason


async def test_nobody_listening_fails_with_a_word_about_it(servers: Servers, era: str) -> None:
    await servers.put(web("http://127.0.0.1:1/mcp"))
    servers.start("web")
    await until(lambda: servers.status("web").state == "failed", "its failure")
    assert "127.0.0.1" in servers.status("web").reason


async def test_an_answer_longer_than_allowed_fails_its_own_call(servers: Servers, ledger: Ledger, era: str) -> None:
    async with running(servers, ledger, era, line_cap=1 << 20):
        with pytest.raises(ToolError) as caught:
            await servers.call("web", "big", '{"megabytes": 2}')
        assert caught.value.sent
        assert text_of(await servers.call("web", "echo", json.dumps({"text": "next"}))) == "next"


async def test_what_the_sdk_would_log_of_a_result_stays_out_of_a_default_log(
    servers: Servers, ledger: Ledger, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with running(servers, ledger, era, "--http-fault", "text@2", "--http-fault", "redirect@3"):
        for kind in ("malformed", "image", "image"):
            with pytest.raises(ToolError):
                await servers.call("web", "odd", json.dumps({"kind": kind}))
    assert [record.getMessage() for record in caplog.records if record.name != "asyncio"] == []


async def test_a_server_that_hears_nothing_any_more_can_be_stopped(servers: Servers, ledger: Ledger, era: str) -> None:
    async with running(servers, ledger, era):
        (pid,) = ledger.pids()
        os.kill(pid, signal.SIGSTOP)
        async with asyncio.timeout(PATIENCE_S):
            await servers.stop("web")
        assert servers.status("web").state == "stopped"
