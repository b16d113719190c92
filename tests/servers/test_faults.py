"""The MCP fault rows over stdio: what a broken or hostile server does to itself, and to nobody else."""

import asyncio
import json
import sys

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import PATIENCE_S, turns_of_the_loop, until
from tests.servers.kit import ERAS, alive, ledger_config, program, run, text_of
from windlass.core.errors import ToolError
from windlass.servers import ServerConfig, Servers
from windlass.servers.stdio import MOST_STRAY, STDERR_CAP, STRAY_WITHIN_S


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "fault", ["junk", "utf8", "half", "split", "wrong-id", "duplicate", "server-request", "stderr"]
)
async def test_noise_around_an_answer_is_ignored(servers: Servers, ledger: Ledger, era: str, fault: str) -> None:
    await run(servers, ledger_config(ledger, "--era", era, "--fault", fault))
    for number in range(3):
        assert text_of(await servers.call("ledger", "record", json.dumps({"effect_id": str(number)})))
    assert ledger.counts() == {"0": 1, "1": 1, "2": 1}


async def test_bad_bytes_in_an_answer_are_repaired(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, "--fault", "utf8-answer"))
    assert text_of(await servers.call("ledger", "echo", '{"text": "a~b"}')) == "a\ufffdb"


async def test_noise_is_counted(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, "--fault", "junk"))
    before = servers.status("ledger").bad_lines
    await servers.call("ledger", "echo", "{}")
    assert servers.status("ledger").bad_lines == before + 1


async def test_a_server_that_only_makes_noise_is_cut_off(servers: Servers) -> None:
    noise = f"import sys, time\nfor _ in range({MOST_STRAY}): print('noise')\nsys.stdout.flush()\ntime.sleep(60)"
    await servers.put(program([sys.executable, "-c", noise]))
    servers.start("server")
    await until(lambda: servers.status("server").state == "failed", "the end of the noise")
    assert "code -9" in servers.status("server").reason


@pytest.mark.parametrize("era", ERAS)
async def test_b6_a_server_that_prints_beside_its_answers_may_do_so_all_its_life(
    servers: Servers, ledger: Ledger, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = LoopClock(monkeypatch)
    await run(servers, ledger_config(ledger, "--era", era, "--fault", "junk", "--times", "300"))
    pid = servers.status("ledger").pid
    for number in range(10):
        clock.jump(STRAY_WITHIN_S + 1)
        assert text_of(await servers.call("ledger", "echo", json.dumps({"text": str(number)}))) == str(number)
    assert servers.status("ledger").pid == pid and servers.status("ledger").bad_lines > 3 * MOST_STRAY


async def test_b6_a_burst_between_good_answers_still_ends_it(servers: Servers, ledger: Ledger) -> None:
    await servers.put(ledger_config(ledger, "--fault", "junk", "--times", str(MOST_STRAY - 1)))
    servers.start("ledger")
    await until(lambda: servers.status("ledger").state == "failed", "the end of the noise")
    assert servers.status("ledger").starts == 1 and servers.status("ledger").tools == 0


async def test_an_answer_too_long_to_parse_is_given_whole_in_a_file(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, line_cap=1 << 20))
    result = await servers.call("ledger", "big", '{"megabytes": 3}')
    assert result.spilled is not None and result.spilled.file is not None
    result.spilled.file.seek(0)
    answer = json.loads(result.spilled.file.read())
    assert len(answer["result"]["content"][0]["text"]) == 3 << 20
    result.spilled.file.close()
    assert text_of(await servers.call("ledger", "echo", '{"text": "next"}')) == "next"


async def test_an_answer_of_many_small_things_is_not_parsed_on_the_loop(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger))
    result = await servers.call("ledger", "big", '{"megabytes": 4, "kind": "structured"}')
    assert result.spilled is not None and result.spilled.file is not None
    result.spilled.file.close()
    result = await servers.call("ledger", "big", '{"megabytes": 4}')
    assert result.spilled is None and len(text_of(result)) == 4 << 20


async def test_an_answer_longer_than_can_be_kept_fails_only_its_own_call(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, "--gate", ledger.gate()))
    other = asyncio.create_task(servers.call("ledger", "record_slow", '{"effect_id": "other"}'))
    await ledger.seen("started", "other")
    with pytest.raises(ToolError, match="longer than can be kept") as caught:
        await servers.call("ledger", "big", '{"megabytes": 70}')
    assert (caught.value.code, caught.value.sent) == ("bad_result", True)
    ledger.open()
    assert text_of(await other) == "recorded other slowly"


async def test_a_long_line_of_rubbish_before_an_answer_costs_that_answer(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, "--fault", "endless"))
    with pytest.raises(ToolError) as caught:
        await servers.call("ledger", "record", '{"effect_id": "a"}', timeout_s=2)
    assert caught.value.sent


async def test_an_answer_that_never_becomes_readable_fails_its_call(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.servers.pipes.SECOND_CHANCE_S", 0.05)
    await run(servers, script('read(); print(\'{"jsonrpc":"2.0","id":3,"result":{{{\', flush=True); read()'))
    with pytest.raises(ToolError, match="not readable") as caught:
        await servers.call("server", "t", "{}")
    assert (caught.value.code, caught.value.sent) == ("bad_result", True)


@pytest.mark.parametrize(
    ("text", "read"),
    [(r'"a\ud800b"', "a?b"), (r'"\u0000\u001b[31m"', "\x00\x1b[31m"), ("[" * 5000 + "]" * 5000, None)],
    ids=["half a letter", "control letters", "nested deep"],
)
async def test_odd_text_in_an_answer_is_read_or_fails_its_own_call(
    servers: Servers, monkeypatch: pytest.MonkeyPatch, text: str, read: str | None
) -> None:
    monkeypatch.setattr("windlass.servers.pipes.SECOND_CHANCE_S", 0.05)
    result = '{"content":[{"type":"text","text":' + text + '}],"resultType":"complete"}'
    answer = 'print(\'{"jsonrpc":"2.0","id":%d,"result":\' % read()[\'id\'] + ' + repr(result) + " + '}', flush=True)"
    await run(servers, script(f"{answer}\nread()"))
    if read is None:
        with pytest.raises(ToolError, match="not readable"):
            await servers.call("server", "t", "{}")
    else:
        assert text_of(await servers.call("server", "t", "{}")) == read


async def test_a_flood_of_notices_is_taken_in_turns(servers: Servers) -> None:
    notice = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    flood = f"message = read()\nfor _ in range(20000): sys.stdout.write({notice + chr(10)!r})\n"
    await run(servers, script(f"{flood}reply(message, {{'content': [{{'type': 'text', 'text': 'through'}}]}})\nread()"))
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await turns_of_the_loop()

    turning = asyncio.create_task(turn())
    assert text_of(await servers.call("server", "t", "{}")) == "through"
    turning.cancel()
    assert turns > 1000


async def test_a_flood_on_stderr_is_read_and_only_its_end_kept(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, "--fault", "stderr"))
    for _ in range(3):
        await servers.call("ledger", "echo", "{}")
    assert len(servers.stderr("ledger")) == STDERR_CAP


async def test_a_server_that_does_not_read_fails_the_write_in_time(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.servers.stdio.WRITE_S", 0.3)
    deaf = "import os, sys, time\n" + ANSWER_ONCE + "time.sleep(60)"
    await servers.put(program([sys.executable, "-c", deaf]))
    servers.start("server")
    await until(lambda: servers.status("server").state == "running", "the start")
    big = json.dumps({"text": "x" * (4 << 20)})
    first = asyncio.create_task(servers.call("server", "t", big))
    await until(lambda: servers.status("server").calls == 1, "the first call")
    with pytest.raises(ToolError, match="does not read") as caught:
        await servers.call("server", "t", "{}")
    assert not caught.value.sent
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_mute_server_fails_in_time_and_holds_up_nobody(
    servers: Servers, ledger: Ledger, clock: LoopClock
) -> None:
    await servers.put(ledger_config(ledger, "--fault", "mute", slug="mute", connect_s=200))
    await servers.put(ledger_config(ledger, slug="good"))
    servers.start_all()
    assert (await servers.wait_ready("good", PATIENCE_S)).state == "running"
    assert servers.status("mute").state == "starting"
    clock.jump(200)
    await until(lambda: servers.status("mute").state == "failed", "the deadline")
    assert "did not answer within 200 s" in servers.status("mute").reason


async def test_a_server_that_exits_at_once_says_why(servers: Servers, ledger: Ledger) -> None:
    await servers.put(ledger_config(ledger, "--fault", "exit"))
    servers.start("ledger")
    await until(lambda: servers.status("ledger").state == "failed", "its end")
    assert servers.status("ledger").reason == "It ended with code 1: ledger: exiting at once as asked"
    assert "exiting at once" in servers.stderr("ledger")


@pytest.mark.parametrize(
    ("argv", "cwd", "reason"),
    [
        (["no-such-program"], "", "'no-such-program' was not found"),
        (["cat"], "/no/such/folder", "'/no/such/folder' does not exist"),
        (["/etc/passwd"], "", "was not found"),
    ],
)
async def test_what_cannot_be_started_says_why(servers: Servers, argv: list[str], cwd: str, reason: str) -> None:
    await servers.put(program(argv, cwd=cwd))
    servers.start("server")
    await until(lambda: servers.status("server").state == "failed", "its failure")
    assert reason in servers.status("server").reason


async def test_a_storm_of_changes_is_followed_once_it_calms_down(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger))
    for number in range(40):
        await servers.call("ledger", "change_tools", json.dumps({"name": "record", "description": f"No. {number}."}))
    await until(lambda: servers.tools("ledger")[0].description == "No. 39.", "the last description")
    assert len(servers.tools("ledger")) > 1, "the others are still there"


async def test_a_deaf_server_is_replaced_after_a_timeout(
    servers: Servers, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.servers.connection.CHECK_S", 0.3)
    deaf = "import os, sys, time\n" + ANSWER_ONCE + "time.sleep(60)"
    await run(servers, program([sys.executable, "-c", deaf]))
    first = servers.status("server").pid
    assert first is not None
    with pytest.raises(ToolError, match="within"):
        await servers.call("server", "t", "{}", timeout_s=0.1)
    await until(lambda: servers.status("server").reason == "It stopped answering.", "the reason")
    assert not alive(first)


def script(then: str) -> ServerConfig:
    """A stateless server with one tool that does this when it is called."""
    return program([sys.executable, "-c", f"import os, sys, time\n{ANSWER_ONCE}\n{then}"])


# Answers the discovery, then one list of tools, then nothing more.
ANSWER_ONCE = """
import json
def read():
    return json.loads(sys.stdin.buffer.readline() or b"null")
def reply(message, result):
    body = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": body}), flush=True)
reply(read(), {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
reply(read(), {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})
"""
