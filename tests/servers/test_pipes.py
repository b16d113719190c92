"""The pipes by themselves: a reader that is slow holds the writer back, and loses nothing; a message that cannot be
parsed is known by its ends."""

import sys

import psutil
import pytest

from tests.kit.waiting import until
from windlass.servers.orphan_guard import OrphanGuard
from windlass.servers.pipes import Peeked, Pipes, peek
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
    orphan_guard = OrphanGuard()
    lost: list[bool] = []
    pipes = Pipes(
        lambda on_line, on_long, on_end: StdioProcess(
            [sys.executable, "-S", "-c", FLOOD],
            env={},
            line_cap=1 << 20,
            orphan_guard=orphan_guard,
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
    orphan_guard.close()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"jsonrpc":"2.0","id":5,"result":{"content":[', Peeked("result", 5)),
        (b'{"id":"a-1","jsonrpc":"2.0","result":{', Peeked("result", "a-1")),
        (b' { "jsonrpc" : "2.0" , "id" : -7 , "error" : {', Peeked("error", -7)),
        (b'{"result":{"id":9},"jsonrpc":"2.0","id":5}', Peeked("result", 5)),
        (b'{"result":{"a":{"x":1,"id":9}},"id":5,"jsonrpc":"2.0"}', Peeked("result", 5)),
        (b'{"result":{"a":{"x":1,"id":9}}}', Peeked("result", None)),
        (b'{"jsonrpc":"2.0","id":5,"method":"roots/list"', Peeked("other")),
        (b'{"jsonrpc":"2.0","method":"x","params":{"id":5}', Peeked("other")),
        (b'{"jsonrpc":"2.0","params":{"id":5}', Peeked("other")),
        (b"rubbish", Peeked("other")),
        (b'{"id":"\\ud800bad\\x","result":', Peeked("result", None)),
    ],
)
def test_a_message_is_known_by_its_ends(line: bytes, found: Peeked) -> None:
    assert peek(line[:4096], line[-4096:]) == found
