"""`python -m benchmarks.against REV`: Windlass as it stands beside an earlier commit of it, A against B in one run.

Three servers take turns: the earlier one, the same once more, and the present one. How far the first two lie apart is
the run's own noise; what the present one differs by more than that is real."""

import argparse
import io
import statistics
import subprocess
import tarfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import uvloop

from benchmarks import standing
from benchmarks.instructions import counted, per_turn
from benchmarks.load import Sample
from benchmarks.processes import ROOT
from benchmarks.report import Run, machine, table
from benchmarks.rows import Row, ratios, row
from benchmarks.subjects import CACHE, Stage, WindlassServer, until_healthy

BEFORE, AGAIN, NOW = "before", "before, once more", "now"
Figure = Callable[[WindlassServer], Awaitable[Sample]]
Rounds = dict[str, list[Sample]]


def main() -> None:
    options = _options()
    standing.allow_files()
    rows = uvloop.run(_run(source_of(options.revision), options.rounds, options.instructions))
    print(f"\n{table(rows)}\n\n{Run(machine(), tuple(rows)).about}; before is {options.revision}")


def source_of(revision: str) -> Path:
    """The package as it was then, unpacked once."""
    commit = subprocess.check_output(["git", "rev-parse", f"{revision}^{{commit}}"], cwd=ROOT, text=True).strip()
    folder = ROOT / ".cache" / "against" / commit
    if not folder.exists():
        packed = subprocess.check_output(["git", "archive", commit, "src"], cwd=ROOT)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
    return folder / "src"


async def _run(earlier: Path, rounds: int, with_instructions: bool) -> list[Row]:
    sources = {BEFORE: earlier, AGAIN: earlier, NOW: ROOT / "src"}
    stage = Stage(CACHE)
    try:
        rows = await _start(stage, sources, rounds)
        for durability in ("normal", "full"):
            servers = [await _server(stage, name, source, durability) for name, source in sources.items()]
            rows += _compared(f"S1, {durability}", await _interleaved(servers, rounds, _turns(40)))
            if durability == "normal":
                rows += _compared("S3, first turn", await _interleaved(servers, rounds, _turns(10, prior=194)))
                rows += _compared("S3, later turns", await _interleaved(servers, rounds, _later(10)))
            rows += _compared(f"S4 at 50, {durability}", await _interleaved(servers, rounds, _turns(300, at_once=50)))
        if with_instructions:
            rows += await _instructions(stage, sources)
        return rows
    finally:
        stage.close()


def _turns(count: int, at_once: int = 1, prior: int = 0) -> Figure:
    return lambda server: server.turns("s1", count, at_once, prior)


def _later(count: int) -> Figure:
    """Turns of conversations that are in memory already."""

    async def measured(server: WindlassServer) -> Sample:
        conversations = await server.conversations(count, 194)
        await server.turns_in("s1", conversations)
        return await server.turns_in("s1", conversations)

    return measured


async def _interleaved(servers: Sequence[WindlassServer], rounds: int, figure: Figure) -> Rounds:
    """Back and forth, so that whoever goes first does not always go first."""
    found: Rounds = {server.name: [] for server in servers}
    for number in range(rounds):
        for server in servers if number % 2 else reversed(servers):
            found[server.name].append(await figure(server))
    return found


def _compared(scenario: str, found: Rounds) -> list[Row]:
    by_name = {name.partition(" (")[0]: samples for name, samples in found.items()}
    clock = {name: [statistics.median(one.ms) for one in samples] for name, samples in by_name.items()}
    cpu = {name: [one.cpu_s / len(one.ms) for one in samples] for name, samples in by_name.items()}
    return [*_ratios(scenario, "clock", clock), *_ratios(scenario, "processor time", cpu)]


def _ratios(scenario: str, what: str, found: dict[str, list[float]]) -> list[Row]:
    return [
        row(scenario, f"{what}, now / before", ratios(found[NOW], found[BEFORE]), "x"),
        row(scenario, f"{what}, noise (before / before)", ratios(found[AGAIN], found[BEFORE]), "x"),
    ]


async def _start(stage: Stage, sources: dict[str, Path], rounds: int) -> list[Row]:
    took: dict[str, list[float]] = {name: [] for name in sources}
    for number in range(rounds + 1):
        for name, source in sources.items():
            server = stage.fresh_windlass(f"start {name} {number}", "full", {"echo": []}, source=source)
            seconds = await until_healthy(server.child)
            server.child.stop(gently=True)
            if number:  # the first start compiles
                took[name].append(seconds)
    return _ratios("start", "to /health", took)


async def _server(stage: Stage, name: str, source: Path, durability: str) -> WindlassServer:
    full = durability == "full"
    server = stage.fresh_windlass(f"{name} ({durability})", "full" if full else "normal", {"echo": []}, source=source)
    await until_healthy(server.child)
    await server.until_tools(2)
    await server.turns("s1", 20)
    return server


async def _instructions(stage: Stage, sources: dict[str, Path]) -> list[Row]:
    found: dict[str, list[float]] = {}
    for name, source in sources.items():
        folder = stage.folder(f"count {name}")
        server = stage.fresh_windlass(f"count {name}", "normal", {"echo": []}, counted(folder), source=source)
        await until_healthy(server.child, 600)
        await server.until_tools(2, 600)
        found[name] = [await per_turn(server, folder, 20)]
        server.child.stop(gently=True)
    return [
        row("instructions", "a turn of S1, now", [found[NOW][0] / 1e6], "million"),
        *_ratios("instructions", "a turn of S1", found),
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("revision", nargs="?", default="edition-1")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--instructions", action="store_true", help="count them too, by valgrind; some minutes more")
    return parser.parse_args()


if __name__ == "__main__":
    main()
