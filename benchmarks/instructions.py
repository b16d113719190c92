"""Instructions per turn, counted by valgrind: steadier than the clock, but not the same on every machine, since what
waits for a timer waits less often where each step takes so long. Slow, so run by name."""

import asyncio
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import Child, Failed
from benchmarks.rows import Row, row
from benchmarks.subjects import Server, Stage, until_healthy

TOTALS = re.compile(r"^(?:totals|summary): (\d+)", re.MULTILINE)
START_S = 600


async def instructions(stage: Stage, quick: bool) -> list[Row]:
    turns = 10 if quick else 40
    floor = stage.floor("normal", counted(stage.folder("count floor")))
    windlass = stage.fresh_windlass("count windlass", "normal", {"echo": []}, counted(stage.folder("count windlass")))
    await until_healthy(windlass.child, START_S)
    await windlass.until_tools(2, START_S)
    found: dict[str, float] = {}
    for server, folder in ((floor, "count floor"), (windlass, "count windlass")):
        found[server.name] = await per_turn(server, stage.folder(folder), turns)
    least, ours = found[floor.name], found[windlass.name]
    return [
        row("instructions", "floor, server, normal, S1", [least / 1e6], "million"),
        row("instructions", "Windlass, normal, S1", [ours / 1e6], "million"),
        row("instructions", "Windlass / floor", [ours / least], "x"),
    ]


def counted(folder: Path) -> list[str]:
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'counts'}", "--quiet"]


async def per_turn(server: Server, folder: Path, turns: int) -> float:
    await server.turns("s1", 10)
    conversations = await server.conversations(turns)
    await _control(server.child, "--zero")
    await server.turns_in("s1", conversations)
    await _control(server.child, "--dump")
    counts = [int(found[1]) for path in folder.glob("counts.*") if (found := TOTALS.search(path.read_text()))]
    if not counts:
        raise Failed("valgrind left no counts")
    return max(counts) / turns


async def _control(child: Child, word: str) -> None:
    command: Sequence[str] = ["callgrind_control", word, str(child.process.pid)]
    await asyncio.to_thread(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)
    await asyncio.sleep(1)  # the process does it when it next runs
