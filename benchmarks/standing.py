"""What it costs to be there: start, help, memory, watchers, many tools, and how soon a token is passed on."""

import asyncio
import itertools
import re
import resource
import sys
import time

import msgspec

from benchmarks.load import run_turns
from benchmarks.peers.compared import resident, started
from benchmarks.processes import seconds_of, start_module
from benchmarks.rows import Row, percentile, row
from benchmarks.subjects import TOKEN, WINDLASS, Server, Stage, WindlassServer, environment, until_healthy
from benchmarks.wire import request

STAMP = re.compile(rb'"text":"(\d{6,}) ')
WATCHERS = 10_000
STREAMS = 50
PACE_MS = 50  # between two tokens of one stream


async def first_token(stage: Stage, quick: bool) -> list[Row]:
    """50 streams under way, begun evenly one after the other; and 50 begun in one moment, which is as much about how
    quickly turns are opened. Each token carries the moment it left the model."""
    turns, tokens = (100, 10) if quick else (500, 20)
    rows: list[Row] = []
    for server, limit in ((stage.floor("normal"), None), (await stage.windlass("normal"), 2.0)):
        for what, spread_s, most in (
            ("p99 of 50 streams", tokens * PACE_MS / 1000, limit),
            ("p99 of 50 begun in one moment", 0.0, None),
        ):
            first, every = await _delays(server, turns, tokens, spread_s)
            slow = [percentile(first, 0.99)]
            note = f"median {percentile(first, 0.5):.2f}; all tokens p99 {percentile(every, 0.99):.2f}"
            rows.append(row("first-token", f"{server.name}, {what}", slow, "ms", limit=most, note=note))
    return rows


async def _delays(server: Server, turns: int, tokens: int, spread_s: float) -> tuple[list[float], list[float]]:
    first: list[float] = []
    every: list[float] = []
    begun = itertools.count()

    async def ask(conversation: str, text: str) -> bytes:
        heard: list[float] = []

        def on_body(piece: bytes) -> None:
            now = time.monotonic_ns()
            heard.extend((now - int(stamp)) / 1e6 for stamp in STAMP.findall(piece) if b"text_delta" in piece)

        if (place := next(begun)) < STREAMS:
            await asyncio.sleep(spread_s * place / STREAMS)
        answer = await server.chat(conversation, text, on_body)
        first.append(heard[0])
        every.extend(heard)
        return answer

    order = f"paced:{tokens}:{PACE_MS}"
    await run_turns(ask, order, await server.conversations(STREAMS), STREAMS)
    first.clear()
    every.clear()
    begun = itertools.count()
    await run_turns(ask, order, await server.conversations(turns), STREAMS)
    return first, every


async def watchers(stage: Stage, quick: bool) -> list[Row]:
    count = 1000 if quick else WATCHERS
    server = await stage.windlass("normal")
    conversations = await server.conversations(100)
    before = server.child.rss_mb
    began = time.perf_counter()
    open_ones = [await _watch(server, conversations[place % 100]) for place in range(count)]
    took = time.perf_counter() - began
    await asyncio.sleep(1)
    each = (server.child.rss_mb - before) * 1000 / count
    sample = await server.turns("s1", 20)
    for writer in open_ones:
        writer.close()
    note = f"{count / took:.0f} watchers/s; S1 meanwhile {percentile(sample.ms, 0.5):.2f} ms"
    return [row("watchers", f"Windlass, {count:,} idle", [each], "KB each", limit=25, note=note)]


async def _watch(server: Server, conversation: str) -> asyncio.StreamWriter:
    port = server.child.port
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4096)
    path = f"/conversations/{conversation}/events"
    writer.write(request("GET", path, port, token=TOKEN, accept="text/event-stream"))
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise RuntimeError(f"a watcher was refused: {head!r}")
    return writer


def allow_files() -> None:
    """As many as watchers need. Before any server starts: it inherits what is allowed here."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def tools(stage: Stage, quick: bool) -> list[Row]:
    """Twenty servers with fifty tools each, all enabled and in every request."""
    servers: dict[str, list[str]] = {"echo": ["--extra", "48"]}
    servers |= {f"more{n}": ["--extra", "50", "--prefix", f"more{n}"] for n in range(1, 20)}
    server = stage.fresh_windlass("Windlass, 1,000 tools", "normal", servers)
    await until_healthy(server.child)
    ready = await server.until_tools(1000)
    await server.turns("s1", 5)
    sample = await server.turns("s1", 10 if quick else 40)
    rss = server.child.rss_mb
    server.child.stop(gently=True)
    return [
        row("tools", "1,000 tools of 20 servers, S1", sample.ms, "ms", note=f"{sample.cpu_us:.0f} us CPU a turn"),
        row("tools", "1,000 tools of 20 servers, all running", [ready], "s", note="after /health"),
        row("tools", "1,000 tools of 20 servers, RSS", [rss], "MB"),
    ]


async def start(stage: Stage, quick: bool) -> list[Row]:
    took: list[float] = []
    for number in range(3 if quick else 7):
        server = stage.fresh_windlass(f"start {number}", "full", {"echo": []})
        took.append(await until_healthy(server.child))
        server.child.stop(gently=True)
    return [row("start", "windlass serve to /health", took, "s", limit=0.7), *started(stage.peers)]


async def show_help(stage: Stage, quick: bool) -> list[Row]:
    count = 3 if quick else 9
    env = environment(stage.folder("help"))
    bare = [seconds_of([sys.executable, "-c", "pass"], env) for _ in range(count)]
    took = [seconds_of([WINDLASS, "--help"], env) for _ in range(count)]
    return [row("help", "python -c pass", bare, "s"), row("help", "windlass --help", took, "s", limit=0.25)]


async def memory(stage: Stage, quick: bool) -> list[Row]:
    """After turns, at rest; the server's own process, its children left out."""
    turns = 50 if quick else 200
    alone = await _rss(stage.fresh_windlass("memory alone", "normal", {}), "stream:20", turns, 0)
    with_one = await _rss(stage.fresh_windlass("memory with one", "normal", {"echo": []}), "s1", turns, 2)
    return [
        row("memory", "Windlass, no MCP server", [alone], "MB RSS", limit=70),
        row("memory", "Windlass, one MCP server", [with_one], "MB RSS", limit=110),
        row("memory", "floor, server", [stage.floor("normal").child.rss_mb], "MB RSS"),
        *await resident(stage.peers, turns),
    ]


async def _rss(server: WindlassServer, order: str, turns: int, tool_count: int) -> float:
    await until_healthy(server.child)
    await server.until_tools(tool_count)
    await server.turns(order, turns)
    found = server.child.rss_mb
    server.child.stop(gently=True)
    return found


async def tool_cost(stage: Stage, quick: bool) -> list[Row]:
    """One call of the echo tool: down a bare pipe, through the SDK's client, through Windlass's."""
    child = start_module("benchmarks.tool_cost")
    rounds, calls = (3, 200) if quick else (9, 500)
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        line = await asyncio.to_thread(child.order, str(calls).encode())
        for name, us in msgspec.json.decode(line, type=dict[str, float]).items():
            found.setdefault(name, []).append(us)
    child.stop()
    return [row("tool-cost", name, values, "us") for name, values in found.items()]
