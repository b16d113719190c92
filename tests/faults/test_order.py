"""What comes before what: a commit before anyone is told of it, an intent before its call is sent, and the disk's own
word before a promise is given. A kill cannot show the last, as the page cache survives it; traced system calls do."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

from tests.faults.killing import Scene, Script
from tests.faults.watching import Client, watching
from tests.kit.ledger_file import Ledger
from tests.kit.tracing import STRACE
from tests.kit.waiting import until
from tests.kit.windlass_process import WindlassProcess
from tests.proof.figures import note
from windlass.testing import StrictLLM

LOOKS = 20  # so many answered requests while a flush is held are time enough for anything to slip out


async def test_nobody_is_told_of_an_end_that_is_not_on_disk(tmp_path: Path, ledger: Ledger) -> None:
    async with StrictLLM(Script(1)) as llm:
        scene = Scene(tmp_path, ledger, llm)
        scene.write_settings()
        server = scene.server()
        await _started_before(server)
        await server.start(WINDLASS_FAULT="journal_unflushed:5:sleep")
        try:
            await server.running("ledger")
            conversation = await _conversation(server)
            async with watching(server, conversation) as client:
                asking = asyncio.create_task(server.call("POST", f"/conversations/{conversation}/chat", GO))
                await _held(server)
                assert not asking.done()
                await until(lambda: "tool_finished" in told(client), "all that is on disk to be told")
                client.transcript.whole = False
                await server.kill()
                await asyncio.gather(asking, return_exceptions=True)
        finally:
            await server.kill()
        assert told(client)[-1] == "tool_finished"
        assert scene.faults(client.transcript) == []


async def test_nothing_is_sent_while_its_intent_is_not_on_disk(tmp_path: Path, ledger: Ledger) -> None:
    async with StrictLLM(Script(3)) as llm:
        scene = Scene(tmp_path, ledger, llm)
        scene.write_settings()
        server = scene.server()
        await _started_before(server)
        await server.start(WINDLASS_FAULT="journal_unflushed:4:sleep")
        try:
            await server.running("ledger")
            conversation = await _conversation(server)
            asking = asyncio.create_task(server.call("POST", f"/conversations/{conversation}/chat", GO))
            await _held(server)
            assert ledger.counts() == {}
            await server.kill()
            await asyncio.gather(asking, return_exceptions=True)
        finally:
            await server.kill()


def told(client: Client) -> list[str]:
    return [kind for *_, kind in client.transcript.seen]


async def _started_before(server: WindlassProcess) -> None:
    """What the first start of a server writes once would be counted among the flushes of a turn."""
    await server.start()
    await server.running("ledger")
    assert await server.stop() == 0


async def _held(server: WindlassProcess) -> None:
    await until(lambda: "held at" in server.log, "the flush to be held")
    for _ in range(LOOKS):
        assert (await server.call("GET", "/health")).status == 200


async def _conversation(server: WindlassProcess) -> str:
    return str((await server.post("/conversations", {}))["conversation"]["id"])


GO = {"content": "go: MARK-OF-THE-MESSAGE"}
CALLS = "trace=write,writev,sendto,sendmsg,pwrite64,fdatasync,fsync"


@STRACE
async def test_each_promise_waits_for_the_disk(tmp_path: Path, ledger: Ledger) -> None:
    """The message before its acknowledgement, an unsafe call's intent before the call, a person's word before its
    acknowledgement, the end before the answer is returned."""
    trace = tmp_path / "trace"
    async with StrictLLM(Script(1)) as llm:
        scene = Scene(tmp_path, ledger, llm)
        scene.write_settings(approval="ask")
        server = scene.server()
        server.around = ("strace", "-D", "-f", "-y", "-s", "70000", "-e", CALLS, "-o", str(trace))
        await server.start()
        try:
            await server.running("ledger")
            conversation = await _conversation(server)
            waiting = await server.post(f"/conversations/{conversation}/chat", GO)
            call = waiting["pending_calls"][0]["call_id"]
            where = f"/turns/{waiting['turn_id']}"
            await server.post(f"{where}/calls/{call}/decision", {"decision": "allow", "reason": "MARK-OF-THE-WORD"})
            await server.settled(waiting["turn_id"])
            assert await server.stop() == 0
        finally:
            await server.kill()
        await until(lambda: "+++ exited with 0 +++" in trace.read_text().splitlines()[-1], "the end of the trace")
    lines = trace.read_text(errors="replace").splitlines()
    promises = {
        "a message": (r"MARK-OF-THE-MESSAGE", r"socket:.*pending_calls"),
        "an intent": (rf"tool_started.*{call}", r"socket:.*tools/call"),
        "a word": (r"MARK-OF-THE-WORD", r'socket:.*\\"message\\":\\"Decided'),
        "an end": (r"turn_finished", r'socket:.*\\"outcome\\":\\"answered'),
    }
    for promise, (kept, told) in promises.items():
        assert synced_between(lines, kept, told), f"{promise} was acknowledged before the disk had it"
    note("barriers", count=len(promises))


def synced_between(lines: Sequence[str], kept: str, told: str) -> bool:
    """Whether a sync of the write-ahead log ended after the last write that holds `kept` and before the first line
    that tells of it."""
    wal = r"\d+ +pwrite64\(\d+<[^>]*-wal>.*"
    sent = r"\d+ +(write|writev|sendto|sendmsg)\(\d+<"
    telling = next((n for n, line in enumerate(lines) if re.match(sent + told, line)), None)
    assert telling is not None, f"nothing was sent that says {told}"
    written = [n for n, line in enumerate(lines[:telling]) if re.match(wal + kept, line)]
    assert written, f"nothing was written that says {kept} before it was told"
    return any(_sync_ended(lines, n) for n in range(written[0], telling))


def _sync_ended(lines: Sequence[str], place: int) -> bool:
    """A sync that another thread's call interrupted in the trace ends with its `resumed` line."""
    line = lines[place]
    if re.match(r"\d+ +fdatasync\(\d+<[^>]*-wal>\) += 0", line):
        return True
    resumed = re.match(r"(\d+) +<\.\.\. fdatasync resumed>.*= 0", line)
    if not resumed:
        return False
    begun = next((one for one in reversed(lines[:place]) if re.match(rf"{resumed[1]} +fdatasync\(", one)), "")
    return "-wal>" in begun
