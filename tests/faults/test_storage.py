"""The disk's own faults: full, failing at any write, held by another program, not writable, a file gone or damaged.
What was acknowledged stays, what was not is not there by halves, and when the fault is over nothing needs repair."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.faults.killing import Scene, finished
from tests.kit.ledger_file import Ledger
from tests.kit.tracing import STRACE
from tests.kit.waiting import until
from tests.kit.windlass_process import Said, WindlassProcess, model_settings, windlass
from tests.proof.figures import FULL, note
from windlass.testing import ChatRequest, Gate, StrictLLM, call, say, wait_for
from windlass.testing.replies import Scripted

WRITES = 40 if FULL else 6
LOCKED_S = 10 if FULL else 1.0


def one_effect(request: ChatRequest) -> Scripted:
    return say("Done.") if request.rounds else call("record", effect_id=request.user_text)


@contextlib.asynccontextmanager
async def running(
    folder: Path, ledger: Ledger, script: object = one_effect
) -> AsyncIterator[tuple[Scene, WindlassProcess]]:
    async with StrictLLM(script) as llm:  # type: ignore[arg-type]
        scene = Scene(folder, ledger, llm)
        scene.write_settings()
        server = scene.server()
        await server.start()
        try:
            await server.running("ledger")
            yield scene, server
        finally:
            await server.kill()
    assert llm.refused == []


async def stubborn(server: WindlassProcess, conversation: str, text: str) -> list[Said]:
    """Send a message as often as it takes; gives every answer, the last of which is a good one."""
    answers: list[Said] = []
    while not answers or answers[-1].status >= 400:
        body = {"content": text, "client_message_id": text}
        answers.append(await server.call("POST", f"/conversations/{conversation}/chat", body))
        assert answers[-1].status in (200, 202, 503, 507), f"{answers[-1].body}\n{server.log[-6000:]}"
        assert len(answers) < 200, answers[-1]
        if answers[-1].status >= 400:
            assert answers[-1].body["error"]["hint"], answers[-1].body
            await asyncio.sleep(0.05)  # space comes back in its own time
    await finished(server, answers[-1].body["turn_id"])
    return answers


async def conversation_of(server: WindlassProcess) -> str:
    return str((await server.post("/conversations", {}))["conversation"]["id"])


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small disk")
async def test_a_full_disk_at_any_moment_loses_nothing_acknowledged(tmp_path: Path, ledger: Ledger) -> None:
    with small_disk(tmp_path / "disk") as disk:
        async with running(disk, ledger) as (scene, server):
            conversation = await conversation_of(server)
            for number in range(6 if FULL else 2):
                await stubborn(server, conversation, f"before-{number}")
                scene.acknowledged.append(f"before-{number}")
                with filled(disk):
                    refused = await server.call("POST", f"/conversations/{conversation}/chat", {"content": "full"})
                    assert (await server.call("GET", "/health")).status == 200
                    assert (await server.call("GET", f"/conversations/{conversation}/messages")).status == 200
                assert refused.status in (503, 507), refused
                assert "full" in refused.body["error"]["hint"], refused.body
                await stubborn(server, conversation, f"after-{number}")
                scene.acknowledged.append(f"after-{number}")
            assert await server.stop() == 0
            assert scene.faults() == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small disk")
async def test_a_turn_under_way_waits_for_space_and_goes_on_by_itself(tmp_path: Path, ledger: Ledger) -> None:
    gate = Gate()

    def script(request: ChatRequest) -> Scripted:
        return say("Done.") if request.rounds else call("record", effect_id="a") + wait_for(gate)

    with small_disk(tmp_path / "disk") as disk:
        async with running(disk, ledger, script) as (scene, server):
            conversation = await conversation_of(server)
            path = f"/conversations/{conversation}/chat"
            asking = asyncio.create_task(server.call("POST", path, {"content": "go"}))
            await gate.reached()
            with filled(disk):
                gate.open()
                await until(lambda: "is paused" in server.log, "the turn to pause")
                assert ledger.counts() == {}
            answer = await asking
            assert (answer.status, answer.body["outcome"]) == (200, "answered"), answer
            assert await server.stop() == 0
            assert scene.faults() == []
    assert ledger.counts() == {"a": 1}


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small disk")
async def test_f4_a_full_disk_is_507_for_writes_and_not_ready(tmp_path: Path, ledger: Ledger) -> None:
    keyed = {"name": "Mine", "base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key": "a-key"}
    keyless = {name: value for name, value in keyed.items() if name != "api_key"}
    far = {"name": "Far", "slug": "far", "url": "http://127.0.0.1:9/mcp", "headers": {"X-Key": "a-key"}}
    writes = [("/providers", keyed), ("/providers", keyless), ("/servers", far), ("/conversations", {})]
    with small_disk(tmp_path / "disk") as disk:
        async with running(disk, ledger) as (_, server):
            assert (await server.call("GET", "/ready")).status == 200
            with filled(disk):
                for _ in range(2):
                    refused = [await server.call("POST", path, body) for path, body in writes]
                    assert [answer.status for answer in refused] == [507] * 4, refused
                    assert all("full" in answer.body["error"]["hint"] for answer in refused)
                    login = await server.call("POST", "/session", {"token": server.token})
                    assert login.status == 507
                    ready = await server.call("GET", "/ready")
                    assert ready.status == 503 and "full" in ready.body["error"]["hint"]
                    assert (await server.call("GET", "/health")).status == 200
            assert (await server.call("GET", "/ready")).status == 200
            assert [(await server.call("POST", path, body)).status for path, body in writes] == [201] * 4
            assert "Internal error" not in server.log


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    if subprocess.run(argv, capture_output=True, check=False).returncode:
        pytest.skip("root may not mount a small disk here, as in a container without that right")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def filled(disk: Path) -> Iterator[None]:
    ballast = disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    try:
        yield
    finally:
        ballast.unlink()


@STRACE
@pytest.mark.timeout(600)
async def test_any_failing_write_leaves_no_half_record(tmp_path: Path, ledger: Ledger) -> None:
    """The N-th write to the log of the database fails, for every N of a turn."""
    async with running(tmp_path, ledger) as (scene, server):
        conversation = await conversation_of(server)
        failed = 0
        for number in range(1, WRITES + 1):
            async with failing(server, scene, f"pwrite64:error=ENOSPC:when={number}"):
                answers = await stubborn(server, conversation, f"m{number}")
            failed += len(answers) > 1 or "is paused" in server.log
            scene.acknowledged.append(f"m{number}")
        assert await server.stop() == 0
        assert failed
        assert scene.faults() == []
        assert ledger.counts() == {f"m{number}": 1 for number in range(1, WRITES + 1)}
    note("failing writes", count=WRITES)


@contextlib.asynccontextmanager
async def failing(server: WindlassProcess, scene: Scene, what: str) -> AsyncIterator[None]:
    """System calls on the database's log fail as `strace -e inject=` says."""
    wal = scene.home / "windlass.db-wal"
    log = scene.folder / "strace"
    argv = ["strace", "-f", "-p", str(server.pid), "-P", str(wal), "-e", "trace=pwrite64,fdatasync", "-o", str(log)]
    tracer = await asyncio.create_subprocess_exec(*argv, "-e", f"inject={what}", stderr=asyncio.subprocess.PIPE)
    assert tracer.stderr
    while b"attached" not in (line := await tracer.stderr.readline()):
        assert line, "strace did not attach"
    try:
        yield
    finally:
        tracer.send_signal(signal.SIGINT)
        await tracer.wait()


@STRACE
async def test_a_database_that_cannot_be_written_is_said_plainly(tmp_path: Path, ledger: Ledger) -> None:
    async with running(tmp_path, ledger) as (scene, server):
        conversation = await conversation_of(server)
        async with failing(server, scene, "pwrite64:error=EROFS"):
            refused = await server.call("POST", f"/conversations/{conversation}/chat", {"content": "x"})
            assert refused.status == 503
            assert "writable" in refused.body["error"]["hint"]
            assert (await server.call("GET", "/ready")).status == 503
            assert (await server.call("GET", "/health")).status == 200
        await stubborn(server, conversation, "after")
        assert scene.faults() == []


async def test_a_turn_waits_while_another_program_holds_the_database(tmp_path: Path, ledger: Ledger) -> None:
    gate = Gate()

    def script(request: ChatRequest) -> Scripted:
        return say("Done.") if request.rounds else call("record", effect_id="a") + wait_for(gate)

    async with running(tmp_path, ledger, script) as (scene, server):
        conversation = await conversation_of(server)
        path = f"/conversations/{conversation}/chat"
        asking = asyncio.create_task(server.call("POST", path, {"content": "go"}))
        await gate.reached()
        slowest = 0.0
        with contextlib.closing(sqlite3.connect(scene.home / "windlass.db")) as holder:
            holder.execute("begin immediate")
            gate.open()
            until_s = time.monotonic() + LOCKED_S
            while time.monotonic() < until_s:
                began = time.monotonic()
                assert (await server.call("GET", "/health")).status == 200
                slowest = max(slowest, time.monotonic() - began)
            holder.rollback()
        answer = await asking
        assert (answer.status, answer.body["outcome"]) == (200, "answered"), answer
        assert slowest < 1 or not FULL, f"the loop stood still for {slowest:.1f} s"
        assert scene.faults() == []
    assert ledger.counts() == {"a": 1}


async def test_a_deleted_log_file_leaves_a_sound_database(tmp_path: Path, ledger: Ledger) -> None:
    async with running(tmp_path, ledger) as (scene, server):
        conversation = await conversation_of(server)
        await stubborn(server, conversation, "before")
        assert await server.stop() == 0
        await server.start()
        (scene.home / "windlass.db-wal").unlink(missing_ok=True)
        await server.kill()
        await server.start()
        await server.running("ledger")
        await stubborn(server, conversation, "after")
        scene.acknowledged += ["before", "after"]
        assert await server.stop() == 0
        assert scene.faults() == []


@pytest.mark.parametrize("place", ["the head", "a page"])
async def test_a_corrupt_database_is_said_plainly(place: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with StrictLLM([say("Hello.")]) as llm, windlass(home, env=model_settings(llm.base_url)) as server:
        conversation = await conversation_of(server)
        await server.post(f"/conversations/{conversation}/chat", {"content": "hello"})
        assert await server.stop() == 0
        file = home / "windlass.db"
        body = bytearray(file.read_bytes())
        start = 0 if place == "the head" else 4096
        body[start : start + 4096] = os.urandom(4096)
        file.write_bytes(body)
        answers = await _whatever_it_answers(server, "/conversations", f"/conversations/{conversation}/messages")
        words = server.log
    assert 500 not in answers, answers
    assert "Traceback" not in words, words[-2000:]
    assert "windlass.db" in words or "malformed" in words or "not a database" in words, words[-500:]


async def _whatever_it_answers(server: WindlassProcess, *paths: str) -> list[int]:
    """A damaged file may be found at the start, which is then refused, or later."""
    try:
        await server.start()
    except AssertionError:
        return []
    return [(await server.call("GET", path)).status for path in paths]
