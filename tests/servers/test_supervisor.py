"""Servers as their owner wants them: drafts, status, restarts, and nothing left behind."""

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S, turns_of_the_loop, until
from tests.servers.kit import Census, alive, family, ledger_config, program, run, text_of
from windlass.core.errors import BadInput, Conflict, NotFound, ToolError
from windlass.servers import ServerConfig, Servers
from windlass.toolbox.offers import offered_names


async def test_a_draft_does_not_start_until_its_command_is_confirmed(servers: Servers, ledger: Ledger) -> None:
    draft = ledger_config(ledger, confirmed=False)
    await servers.put(draft)
    assert servers.status("ledger").state == "draft"
    with pytest.raises(Conflict, match="draft"):
        servers.start("ledger")
    servers.start_all()
    await servers.put(replace(draft, confirmed=True))
    assert servers.status("ledger").state == "configured"
    assert ledger.pids() == []
    servers.start("ledger")
    assert (await servers.wait_ready("ledger", PATIENCE_S)).state == "running"


async def test_states_follow_a_server_through_its_life(ledger: Ledger) -> None:
    seen: list[str] = []

    def note(server: str) -> None:
        seen.append(servers.status(server).state)

    servers = Servers(on_change=note)
    await servers.put(ledger_config(ledger))
    servers.start("ledger")
    await servers.wait_ready("ledger", PATIENCE_S)
    await servers.stop("ledger")
    await servers.aclose()
    assert [state for before, state in zip(["", *seen], seen, strict=False) if state != before] == [
        "configured",
        "starting",
        "running",
        "stopped",
    ]


async def test_a_stopped_server_has_no_tools_and_refuses_calls(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger))
    await servers.stop("ledger")
    assert servers.status("ledger").state == "stopped" and servers.tools("ledger") == ()
    with pytest.raises(ToolError) as caught:
        await servers.call("ledger", "record", '{"effect_id": "a"}')
    assert (caught.value.code, caught.value.sent) == ("not_running", False)


async def test_a_server_that_died_is_started_again(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger))
    os.kill(family(servers, "ledger")[-1], signal.SIGKILL)
    await until(lambda: len(ledger.pids()) == 2, "a second start")
    assert (await servers.wait_ready("ledger", PATIENCE_S)).state == "running"
    assert text_of(await servers.call("ledger", "echo", '{"text": "back"}')) == "back"
    assert servers.status("ledger").starts == 2


async def test_the_waits_grow_and_after_five_failures_it_is_left_alone(
    servers: Servers, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    really = asyncio.sleep

    async def hurry(seconds: float) -> None:
        if seconds >= 1:
            waits.append(seconds)
        await really(min(seconds, 0.01))

    monkeypatch.setattr("windlass.servers.lifecycle.asyncio.sleep", hurry)
    await servers.put(ledger_config(ledger, "--fault", "exit"))
    servers.start("ledger")
    await until(lambda: "not restarted any more" in servers.status("ledger").reason, "the end of its patience")
    status = servers.status("ledger")
    assert (status.state, status.starts, status.retry_at) == ("failed", 5, 0)
    assert waits == [1, 2, 4, 8]
    servers.start("ledger")
    await until(lambda: servers.status("ledger").starts > 5, "a start by hand")


async def test_waiting_for_a_server_ends_when_it_will_not_come(servers: Servers, ledger: Ledger) -> None:
    await servers.put(ledger_config(ledger))
    assert (await servers.wait_ready("ledger", PATIENCE_S)).state == "configured"
    await servers.put(ledger_config(ledger, "--start-gate", ledger.gate(), slug="slow"))
    servers.start("slow")
    assert (await servers.wait_ready("slow", 0.2)).state == "starting"
    ledger.open()
    assert (await servers.wait_ready("slow", PATIENCE_S)).state == "running"


async def test_a_call_that_was_not_sent_is_tried_again_when_retries_allow(servers: Servers, ledger: Ledger) -> None:
    await servers.put(ledger_config(ledger, "--start-gate", ledger.gate(), retries=1))
    servers.start("ledger")
    call = asyncio.create_task(servers.call("ledger", "record", '{"effect_id": "a"}'))
    await ledger.seen("born")
    ledger.open()
    assert text_of(await call) == "recorded a"


async def test_only_a_safe_call_is_repeated_after_it_was_sent(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, retries=1))
    arguments = json.dumps({"effect_id": "unsafe", "when": "after"})
    with pytest.raises(ToolError):
        await servers.call("ledger", "crash", arguments)
    assert ledger.counts()["unsafe"] == 1
    await until(lambda: servers.status("ledger").state == "running", "the restart")
    with pytest.raises(ToolError):
        await servers.call("ledger", "crash", arguments.replace("unsafe", "safe"), safe=True)
    assert ledger.counts()["safe"] == 2


async def test_an_answer_that_says_no_is_not_asked_for_again(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, retries=3))
    with pytest.raises(ToolError, match="refused"):
        await servers.call("ledger", "raise_error", "{}", safe=True)
    assert servers.status("ledger").calls == 1


async def test_a_change_of_what_runs_restarts_it_and_other_changes_do_not(servers: Servers, ledger: Ledger) -> None:
    config = ledger_config(ledger)
    await run(servers, config)
    await servers.put(replace(config, trusted=True, name="The ledger", timeout_s=5))
    assert len(ledger.pids()) == 1 and servers.status("ledger").config.trusted
    await servers.put(replace(config, args=(*config.args, "--extra", "2")))
    assert (await servers.wait_ready("ledger", PATIENCE_S)).state == "running"
    assert len(ledger.pids()) == 2
    assert "extra_0001" in {tool.name for tool in servers.tools("ledger")}


async def test_a_changed_command_that_nobody_confirmed_stops_it(servers: Servers, ledger: Ledger) -> None:
    config = ledger_config(ledger)
    await run(servers, config)
    processes = family(servers, "ledger")
    await servers.put(replace(config, args=(*config.args, "--extra", "2"), confirmed=False))
    assert servers.status("ledger").state == "draft"
    assert not any(alive(pid) for pid in processes)


async def test_a_removed_server_is_gone(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger))
    processes = family(servers, "ledger")
    await servers.remove("ledger")
    assert servers.configs() == [] and not any(alive(pid) for pid in processes)
    with pytest.raises(NotFound):
        servers.status("ledger")


async def test_one_slug_one_server(servers: Servers, ledger: Ledger) -> None:
    await servers.put(ledger_config(ledger))
    with pytest.raises(Conflict, match="slug"):
        await servers.put(replace(ledger_config(ledger), id="srv-other"))
    with pytest.raises(NotFound):
        servers.start("nobody")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"slug": "Not A Slug"}, "slug"),
        ({"command": ""}, "command"),
        ({"args": ("a\0b",)}, "args"),
        ({"env": {"A=B": "x"}}, "env"),
        ({"transport": "http", "url": "file:///etc/passwd"}, "url"),
        ({"transport": "http", "url": "http://"}, "url"),
        ({"transport": "sse", "url": "http://a:99999/"}, "url"),
        ({"transport": "http", "url": "http://user:password@a/"}, "url"),
        ({"transport": "http", "url": "http://a/", "headers": {"A": "x\r\nB: y"}}, "headers"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"parallel": 0}, "parallel"),
        ({"retries": -1}, "retries"),
    ],
)
async def test_a_config_that_cannot_work_names_its_field(
    servers: Servers, change: dict[str, object], field: str
) -> None:
    with pytest.raises(BadInput) as caught:
        await servers.put(replace(ServerConfig("srv-1", "one", command="cat"), **change))  # type: ignore[arg-type]
    assert caught.value.detail == {"field": field}


async def test_children_get_none_of_our_secrets(
    servers: Servers, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("LD_PRELOAD_CANARY", "canary")
    await run(servers, ledger_config(ledger, env={"DECLARED": "yes"}))
    seen = json.loads(text_of(await servers.call("ledger", "env_dump", "{}")))
    assert seen["DECLARED"] == "yes" and seen["PATH"]
    assert "canary" not in json.dumps(seen)


async def test_secrets_are_revealed_to_the_child_only(ledger: Ledger) -> None:
    servers = Servers(reveal=lambda value: {"secret:1": "s3cret"}.get(value, value))
    await run(servers, ledger_config(ledger, env={"TOKEN": "secret:1"}))
    seen = json.loads(text_of(await servers.call("ledger", "env_dump", "{}")))
    assert seen["TOKEN"] == "s3cret" and "s3cret" not in repr(servers.status("ledger"))
    await servers.aclose()


async def test_a_grandchild_ends_with_its_server(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger))
    alone = family(servers, "ledger")
    await servers.call("ledger", "spawn", "{}")
    await servers.call("ledger", "spawn", '{"hold_pipes": true}')
    processes = family(servers, "ledger")
    assert len(processes) == len(alone) + 2
    await servers.stop("ledger")
    assert not any(alive(pid) for pid in processes)


async def test_a_server_that_ignores_every_hint_is_killed(servers: Servers) -> None:
    stubborn = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        + STATELESS
        + "while True: time.sleep(60)"
    )
    await run(servers, program([sys.executable, "-c", stubborn]))
    pid = servers.status("server").pid
    assert pid is not None
    await servers.stop("server")
    assert not alive(pid)


async def test_a_server_started_again_while_it_is_being_stopped_can_be_used(servers: Servers) -> None:
    await run(servers, program([sys.executable, "-c", SLOW_TO_GO]))
    old = servers.status("server").pid
    stopping = asyncio.create_task(servers.stop("server"))
    await turns_of_the_loop()
    servers.start("server")
    await stopping
    status = await servers.wait_ready("server", PATIENCE_S)
    assert (status.state, status.tools) == ("running", 1)
    assert status.pid not in (None, old)


@pytest.mark.parametrize("started_again", [False, True])
async def test_every_stop_returns_when_no_process_is_left(servers: Servers, started_again: bool) -> None:
    """Also the second of two, and one after a start that still waits for the old process to go."""
    await run(servers, program([sys.executable, "-c", SLOW_TO_GO]))
    processes = family(servers, "server")
    first = asyncio.create_task(servers.stop("server"))
    await turns_of_the_loop()
    if started_again:
        servers.start("server")
    await servers.stop("server")
    assert [pid for pid in processes if alive(pid)] == []
    await first
    assert servers.status("server").state == "stopped"


async def test_a_stop_that_nobody_waits_for_any_more_stops_all_the_same(servers: Servers) -> None:
    await run(servers, program([sys.executable, "-c", SLOW_TO_GO]))
    stopping = asyncio.create_task(servers.stop("server"))
    await turns_of_the_loop()
    stopping.cancel()
    await asyncio.wait([stopping])
    await until(lambda: servers.status("server").state == "stopped", "it to be stopped")
    assert servers.status("server").pid is None


async def test_a_change_that_nobody_waits_for_any_more_is_not_taken_back(servers: Servers) -> None:
    config = program([sys.executable, "-c", SLOW_TO_GO])
    await run(servers, config)
    changing = asyncio.create_task(servers.put(replace(config, args=("-c", "other"), confirmed=False)))
    await turns_of_the_loop()
    changing.cancel()
    await asyncio.wait([changing])
    await until(lambda: servers.status("server").state == "draft", "it to be stopped")
    with pytest.raises(Conflict):
        servers.start("server")


@pytest.mark.slow
async def test_a_hundred_restarts_leave_nothing_behind(servers: Servers, ledger: Ledger) -> None:
    census = Census()
    rounds = 100 if os.environ.get("SCALE") == "full" else 10
    descriptors = psutil.Process().num_fds()
    for _ in range(rounds):
        await run(servers, ledger_config(ledger))
        await servers.call("ledger", "spawn", "{}")
        await servers.stop("ledger")
    assert len(ledger.pids()) == rounds
    await servers.aclose()
    assert await census.newcomers_gone() == []
    assert psutil.Process().num_fds() <= descriptors + 2


async def test_twenty_servers_start_at_the_same_time(servers: Servers, ledger: Ledger) -> None:
    for number in range(20):
        await servers.put(ledger_config(ledger, "--start-gate", ledger.gate(), slug=f"s{number}"))
    servers.start_all()
    await ledger.seen("born", times=20)
    ledger.open()
    for number in range(20):
        assert (await servers.wait_ready(f"s{number}", PATIENCE_S)).state == "running"


async def test_a_thousand_tools_over_twenty_servers_keep_their_names(servers: Servers, ledger: Ledger) -> None:
    for number in range(20):
        await servers.put(ledger_config(ledger, "--only", "echo", "--extra", "50", slug=f"s{number:02}"))
    servers.start_all()

    async def names() -> dict[tuple[str, str], str]:
        for config in servers.configs():
            assert (await servers.wait_ready(config.id, PATIENCE_S)).state == "running"
        return offered_names((c.slug, tool.name) for c in servers.configs() for tool in servers.tools(c.id))

    before = await names()
    assert len(set(before.values())) == len(before) == 20 * 51
    await servers.restart("s07")
    assert await names() == before


async def test_nothing_is_left_when_windlass_is_killed(ledger: Ledger, tmp_path: Path) -> None:
    host = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        HOST,
        json.dumps(ledger.argv()),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    assert host.stdout is not None
    family = json.loads(await asyncio.wait_for(host.stdout.readline(), PATIENCE_S))
    assert all(alive(pid) for pid in family)
    host.kill()
    await host.wait()
    await until(lambda: not any(alive(pid) for pid in family), "the end of all children")


STATELESS = """
import json, sys
def answer(result):
    message = json.loads(sys.stdin.buffer.readline())
    body = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": body}), flush=True)
answer({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
answer({"tools": []})
"""

SLOW_TO_GO = (
    STATELESS.replace('"tools": []', '"tools": [{"name": "look", "inputSchema": {"type": "object"}}]')
    + "import time\nsys.stdin.buffer.read()\ntime.sleep(1)"
)

HOST = """
import asyncio, json, sys
from tests.servers.kit import family, program, run
from windlass.servers import Servers

async def main():
    servers = Servers()
    await run(servers, program(json.loads(sys.argv[1]), slug="one"))
    await run(servers, program(json.loads(sys.argv[1]), slug="two"))
    await servers.stop("two")
    await servers.call("one", "spawn", "{}")
    orphan_guard = servers._orphan_guard.pid
    print(json.dumps([*family(servers, "one"), orphan_guard]), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""
