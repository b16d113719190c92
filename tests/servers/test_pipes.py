"""The pipes by themselves: a reader that is slow holds the writer back, and loses nothing."""

import sys

import psutil

from tests.kit.waiting import until
from windlass.servers.orphan_guard import OrphanGuard
from windlass.servers.pipes import Pipes
from windlass.servers.sdk import SessionMessage, types
from windlass.servers.stdio import StdioProcess

NOTICES = 50_000
FLOOD = f"""
import sys
for n in range({NOTICES}):
    sys.stdout.write('{{"jsonrpc":"2.0","method":"notifications/n","params":{{"n":%d}}}}\\n' % n)
sys.stdout.flush()
sys.stderr.write("all written")
sys.stderr.flush()
sys.stdin.read()
"""


async def test_what_nobody_reads_is_not_piled_up_and_not_lost() -> None:
    guardian = OrphanGuard()
    lost: list[bool] = []
    pipes = Pipes(
        lambda on_line, on_long, on_end: StdioProcess(
            [sys.executable, "-S", "-c", FLOOD],
            env={},
            line_cap=1 << 20,
            guardian=guardian,
            on_line=on_line,
            on_long=on_long,
            on_end=on_end,
        ),
        lambda: lost.append(True),
    )
    async with pipes as (inbox, _):
        await until(lambda: inbox.size > 256, "a crowd")
        writer = psutil.Process(pipes.process.pid)
        await until(lambda: writer.status() == psutil.STATUS_SLEEPING, "the writer to be held back")
        assert "all written" not in pipes.process.stderr
        assert 256 < inbox.size < NOTICES // 5
        seen = []
        for _number in range(NOTICES):
            item = await inbox.receive()
            assert isinstance(item, SessionMessage) and isinstance(item.message, types.JSONRPCNotification)
            seen.append((item.message.params or {})["n"])
        assert seen == list(range(NOTICES)) and not lost
        await until(lambda: "all written" in pipes.process.stderr, "the writer to come to its end")
    assert lost == [True]
    guardian.close()


async def test_a_kill_for_what_came_before_the_start_was_over_is_not_forgotten() -> None:
    guardian = OrphanGuard()
    process = StdioProcess(
        [sys.executable, "-S", "-c", "import sys; sys.stdin.read()"],
        env={},
        line_cap=1 << 20,
        guardian=guardian,
        on_line=lambda line: None,
        on_long=lambda line: None,
        on_end=lambda: None,
    )
    process.kill()
    await process.start()
    await until(lambda: process.returncode is not None, "its end")
    assert process.returncode == -9
    await process.stop()
    guardian.close()
