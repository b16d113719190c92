"""What it costs to survive: figures that need a whole server and nothing else on the machine. Small scale checks that
the measuring works; the floors are held at full scale."""

import asyncio
import json
import random
import re
import resource
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest
from aiohttp import web

from tests.faults.killing import Scene
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S
from tests.kit.waiting import until as settled
from tests.kit.windlass_process import WindlassProcess, model_settings, windlass
from tests.proof.figures import FULL, note
from windlass.testing import ChatRequest, StrictLLM, call, hang, say
from windlass.testing.replies import Scripted

SEED = 3
SOAK_S = 600 if FULL else 4
WARM_UP = (100_000, 0)  # what is added to a message, phase by phase
MOST_GROWTH = 1.1 if FULL else 1.5  # a short run has no time to warm up
WATCHERS = 10_000 if FULL else 200
STOPS = 100 if FULL else 6
STREAMS = 200 if FULL else 10
CONVERSATIONS = 100_000 if FULL else 1_000
MEGABYTES = 100 if FULL else 8
PIECES, PACE_S = 20, 0.25 if FULL else 0.05
STAMP = re.compile(rb"(\d{9,}) ")


@asynccontextmanager
async def app(folder: Path, ledger: Ledger, script: Any, settings: str = "") -> AsyncIterator[WindlassProcess]:
    async with StrictLLM(script) as llm:
        scene = Scene(folder, ledger, llm, "full")
        scene.write_settings()
        with (scene.home / "windlass.toml").open("a") as file:
            file.write(settings)
        server = scene.server()
        await server.start()
        try:
            await server.running("ledger")
            yield server
        finally:
            await server.kill()
        assert scene.faults() == []


async def conversation_of(server: WindlassProcess) -> str:
    return str((await server.post("/conversations", {}))["conversation"]["id"])


@pytest.mark.timeout(SOAK_S * 2 + 240)
async def test_a_long_run_leaves_nothing_behind(tmp_path: Path, ledger: Ledger) -> None:
    """Conversations made, used, watched, exported and deleted again and again; then memory, descriptors and children
    are compared with those after the warm-up."""
    async with app(tmp_path, ledger, busy) as server:
        process, rng = psutil.Process(server.pid), random.Random(SEED)
        await _warm_up(server, rng)
        first, turns, until = _state(process), 0, time.monotonic() + SOAK_S
        while time.monotonic() < until:
            turns += await _lives(server, rng)
        await settled(lambda: _grown(first, _state(process)) == [])  # what was let go of is closed a moment later
        last = _state(process)
    note(
        "soak",
        minutes=SOAK_S / 60,
        turns=turns,
        memory=last["memory"] / first["memory"] - 1,
        descriptors=last["descriptors"] - first["descriptors"],
        children=last["children"] - first["children"],
        seed=SEED,
    )
    assert _grown(first, last) == []


async def _warm_up(server: WindlassProcess, rng: random.Random) -> None:
    """The caches have limits, the largest 16 MiB of encoded turns; small turns would take most of the soak to fill it,
    and its filling would look like a leak. Large ones fill it in a moment, then small ones take their places."""
    for size in WARM_UP:
        for _ in range(50 if FULL else 2):
            await _lives(server, rng, "x" * size)


def busy(request: ChatRequest) -> Scripted:
    if request.rounds >= 2:
        return say("Done ", "with ", "it.")
    return call("echo", text="x" * 2000) + call("read_only")


async def _lives(server: WindlassProcess, rng: random.Random, text: str = "") -> int:
    """Four at once; gives how many turns they had."""
    return sum(await asyncio.gather(*(_life(server, rng, text) for _ in range(4))))


async def _life(server: WindlassProcess, rng: random.Random, text: str) -> int:
    conversation = await conversation_of(server)
    for number in range(2):
        answer = await server.post(f"/conversations/{conversation}/chat", {"content": f"message {number} {text}"})
        assert answer["outcome"] == "answered", answer
    await server.get(f"/conversations/{conversation}/export?format=json")
    await server.get(f"/turns/{answer['turn_id']}/log")
    if rng.random() < 0.8:
        await server.call("DELETE", f"/conversations/{conversation}")
    return 2


def _grown(first: dict[str, float], last: dict[str, float]) -> list[str]:
    most = {
        "children": first["children"],
        "descriptors": first["descriptors"] + 10,
        "memory": first["memory"] * MOST_GROWTH,
    }
    return [name for name, limit in most.items() if last[name] > limit]


def _state(process: psutil.Process) -> dict[str, float]:
    return {
        "memory": process.memory_info().rss,
        "descriptors": process.num_fds(),
        "children": len(process.children(recursive=True)),
    }


@pytest.mark.timeout(300)
async def test_a_huge_result_costs_little_memory_and_holds_up_nobody(tmp_path: Path, ledger: Ledger) -> None:
    def script(request: ChatRequest) -> Scripted:
        return say("Done.") if request.rounds else call("big", megabytes=MEGABYTES)

    async with app(tmp_path, ledger, script) as server:
        process = psutil.Process(server.pid)
        conversation = await conversation_of(server)
        await server.get("/health")
        before, peak, lags = process.memory_info().rss, 0, []
        asking = asyncio.create_task(server.call("POST", f"/conversations/{conversation}/chat", {"content": "go"}))
        while not asking.done():
            began = time.monotonic()
            await server.get("/health")
            lags.append((time.monotonic() - began) * 1000)
            peak = max(peak, process.memory_info().rss)
            await asyncio.sleep(0.002)  # looking all the time would be a load of its own
        answer = await asking
        assert answer.status == 200, answer
    grown, lag = (peak - before) / 1e6, percentile(lags, 0.99)
    note("big result", memory_mb=grown, lag_ms=lag, megabytes=MEGABYTES)
    assert grown < 200
    assert lag < 2000 or not FULL


@pytest.mark.timeout(300)
async def test_a_stop_is_confirmed_soon_whatever_is_under_way(tmp_path: Path, ledger: Ledger) -> None:
    def script(request: ChatRequest) -> Scripted:
        if request.user_text == "model":
            return say("Let me ") + hang()
        return say("Done.") if request.rounds else call("hang", effect_id="x") + call("hang", effect_id="y")

    took: list[float] = []
    async with app(tmp_path, ledger, script, "timeout_s = 600\n") as server:
        for number in range(STOPS):
            conversation = await conversation_of(server)
            text = "model" if number % 2 else "tool"
            path = f"/conversations/{conversation}/chat"
            asking = asyncio.create_task(server.call("POST", path, {"content": text}))
            turn = await _under_way(server, conversation, "" if number % 2 else "tool_started")
            began = time.monotonic()
            stopped = (await server.post(f"/turns/{turn}/stop"))["turn"]
            took.append((time.monotonic() - began) * 1000)
            assert stopped["outcome"] == "stopped" or not FULL, stopped
            assert (await server.settled(turn))["outcome"] == "stopped"
            await asking
    note("stop", ms=percentile(took, 0.99), count=STOPS)
    assert percentile(took, 0.99) < 2000 or not FULL


async def _under_way(server: WindlassProcess, conversation: str, kind: str) -> str:
    until = time.monotonic() + PATIENCE_S
    log: list[dict[str, Any]] = []
    while time.monotonic() < until:
        turns = (await server.get(f"/conversations/{conversation}/turns"))["turns"]
        log = (await server.get(f"/turns/{turns[0]['id']}/log"))["events"] if turns else []
        if turns and (not kind or any(event["event"] == kind for event in log)):
            return str(turns[0]["id"])
        await asyncio.sleep(0.005)  # the log of another process is looked at
    raise AssertionError(f"no {kind or 'turn'} in {PATIENCE_S} s: {log} {server.log[-2000:]}")


@pytest.mark.timeout(300)
async def test_many_streams_at_once_are_passed_on_in_time(tmp_path: Path) -> None:
    """Each piece says when it left the model's server; what it took to a client is what Windlass added, and the test's
    own reading of it."""
    home, delays = tmp_path / "home", list[float]()
    home.mkdir()
    (home / "windlass.toml").write_text(f"[limits]\nat_once = {STREAMS}\n")
    async with stamping_model() as base_url, windlass(home, env=model_settings(base_url)) as server:
        ids = [await conversation_of(server) for _ in range(STREAMS)]
        headers = {"Authorization": f"Bearer {server.token}", "Accept": "text/event-stream"}
        async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0)) as session:
            await asyncio.gather(*(_timed(session, f"{server.url}/conversations/{id}/chat", delays) for id in ids))
    assert len(delays) >= STREAMS * PIECES * 0.9
    note("streams", count=STREAMS, ms=percentile(delays, 0.99), median_ms=percentile(delays, 0.5))


@asynccontextmanager
async def stamping_model() -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for _ in range(PIECES):
            await asyncio.sleep(PACE_S * (0.5 + random.random()))  # as a model takes its time
            stamp = f'{{"choices":[{{"index":0,"delta":{{"content":"{time.monotonic_ns()} "}}}}]}}'
            await response.write(f"data: {stamp}\n\n".encode())
        end = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
        await response.write(end)
        return response

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def _timed(session: aiohttp.ClientSession, url: str, delays: list[float]) -> None:
    async with session.post(url, json={"content": "go"}) as answer:
        assert answer.status == 200
        async for line in answer.content:
            if line.startswith(b"data: ") and b'"text":"' in line and b'"attempt"' in line:
                now = time.monotonic_ns()
                delays.extend((now - int(stamp)) / 1e6 for stamp in STAMP.findall(line))


@pytest.mark.timeout(400)
async def test_a_start_with_many_conversations_is_quick(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with windlass(home) as server:
        conversation = await conversation_of(server)
        await server.post(f"/conversations/{conversation}/chat", {"content": "hello"})
        assert await server.stop() == 0
        _multiply(home / "windlass.db", CONVERSATIONS)
        began = time.monotonic()
        await server.start()
        assert (await server.call("GET", "/health")).status == 200
        took = time.monotonic() - began
        assert (await server.get("/conversations?limit=1"))["count"] == 1
    note("restart", s=took, conversations=CONVERSATIONS)
    assert took < 20 or not FULL


def _multiply(database: Path, count: int) -> None:
    """Copies of the one conversation there is, turn and events included."""
    with closing(sqlite3.connect(database)) as db:
        columns = {
            name: [row[1] for row in db.execute(f"pragma table_info({name})")]
            for name in ("conversations", "turns", "events")
        }
        rows = {name: db.execute(f"select {', '.join(columns[name])} from {name}").fetchall() for name in columns}
        for number in range(2, count + 1):
            for name, kept in rows.items():
                for row in kept:
                    values = dict(zip(columns[name], row, strict=True))
                    values |= {"n": number} if name == "conversations" else {}
                    values |= {"conversation": number} if name == "turns" else {}
                    for key in ("id", "turn_id"):
                        if key in values:
                            values[key] = f"{values[key][:-6]}{number:06}"
                    for key in ("place", "first_place", "last_place"):
                        if key in values:
                            values[key] = number << 32 | values[key] & 0xFFFFFFFF
                    values.pop("client_message_id", None)
                    marks = ", ".join("?" * len(values))
                    db.execute(f"insert into {name}({', '.join(values)}) values({marks})", list(values.values()))
        db.commit()


@pytest.mark.timeout(400)
async def test_idle_watchers_cost_little_and_too_many_are_survived(tmp_path: Path, ledger: Ledger) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, WATCHERS * 2 + 1000), hard))
    try:
        async with app(tmp_path, ledger, lambda request: say("Hi.")) as server:
            process = psutil.Process(server.pid)
            conversation = await conversation_of(server)
            before = process.memory_info().rss
            writers = [await _watch(server, conversation) for _ in range(WATCHERS)]
            kb = (process.memory_info().rss - before) / 1000 / WATCHERS
            assert (await server.post(f"/conversations/{conversation}/chat", {"content": "x"}))["outcome"] == "answered"
            for writer in writers:
                writer.close()
            await _too_many(server, conversation, process)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    note("idle watchers", count=WATCHERS, kb=kb)


async def _watch(server: WindlassProcess, conversation: str, patience_s: float = PATIENCE_S) -> asyncio.StreamWriter:
    host, _, port = server.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
    head = f"GET /conversations/{conversation}/events HTTP/1.1\r\nHost: {host}:{port}\r\n"
    writer.write(f"{head}Authorization: Bearer {server.token}\r\n\r\n".encode())
    try:
        assert b"200" in await asyncio.wait_for(reader.readline(), patience_s)
    except BaseException:
        writer.close()
        raise
    return writer


async def _too_many(server: WindlassProcess, conversation: str, process: psutil.Process) -> None:
    """No descriptor is left for another client; then some are free again, and it goes on."""
    used = process.num_fds()
    limits = resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (used + 5, used + 5000))
    writers = []
    for _ in range(20):
        try:
            writers.append(await _watch(server, conversation, 1))
        except (OSError, TimeoutError, AssertionError):
            break
    for writer in writers:
        writer.close()
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (min(limits[0], used + 5000), used + 5000))
    async with asyncio.timeout(PATIENCE_S):
        while (await server.call("GET", "/health")).status != 200:  # noqa: ASYNC110 - descriptors come back in their time
            await asyncio.sleep(0.1)
    assert (await server.post(f"/conversations/{conversation}/chat", {"content": "y"}))["outcome"] == "answered"


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.99) == 3.0
    assert json.dumps(percentile([1.0], 0.5)) == "1.0"
