"""`python -m benchmarks [scenario ...]`: run, print the table, and with --check fail on a missed budget."""

import argparse
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import uvloop

from benchmarks import page, standing, turns
from benchmarks.figures import with_speed
from benchmarks.instructions import instructions
from benchmarks.peers.environments import PEERS, Spec
from benchmarks.picture import draw
from benchmarks.report import Run, as_json, from_json, machine, table
from benchmarks.rows import Row
from benchmarks.subjects import CACHE, Stage

Scenario = Callable[[Stage, bool], Awaitable[list[Row]]]

SCENARIOS: dict[str, tuple[Scenario, str]] = {
    "s1": (turns.s1, "two rounds of one tool call, then the answer"),
    "s2": (turns.s2, "one round of eight parallel calls of 200 ms"),
    "s3": (turns.s3, "S1 after 200 messages"),
    "s4": (turns.s4, "S1 in 50 and 200 conversations at once"),
    "long": (turns.long, "S1 in a conversation of 10,000 messages"),
    "first-token": (standing.first_token, "how soon a token is passed on, 50 streams at once"),
    "memory": (standing.memory, "resident memory, with and without an MCP server"),
    "tool-cost": (standing.tool_cost, "one tool call, against the bare SDK"),
    "tools": (standing.tools, "1,000 tools of 20 servers"),
    "start": (standing.start, "from the command to /health"),
    "help": (standing.show_help, "windlass --help"),
    "watchers": (standing.watchers, "10,000 idle watchers"),
    "page": (page.page, "the page in a real browser: a long conversation, a long stream"),
    "instructions": (instructions, "instructions per turn, by valgrind; minutes, so only by name"),
}
BY_NAME = {"instructions"}


def main() -> int:
    options = _options()
    run = from_json(options.again.read_bytes()) if options.again else _measured(options)
    print(f"\n{table(run.rows)}\n\n{run.about}")
    if options.json:
        options.json.write_bytes(as_json(run))
    if options.plot:
        draw(run, options.plot)
    if options.figures:
        picture = os.path.relpath(options.plot, options.figures.parent) if options.plot else ""
        options.figures.write_text(with_speed(options.figures.read_text(), run, picture))
    missed = [row for row in run.rows if row.met is False]
    return 1 if options.check and missed else 0


def _measured(options: argparse.Namespace) -> Run:
    names = options.scenarios or [name for name in SCENARIOS if name not in BY_NAME]
    rows = uvloop.run(_run(names, options.quick, PEERS if options.peers else ()))
    return Run(machine(), tuple(rows))


async def _run(names: list[str], quick: bool, peers: Sequence[Spec]) -> list[Row]:
    rows: list[Row] = []
    standing.allow_files()
    stage = Stage(CACHE)
    try:
        await stage.invite(peers)
        for name in names:
            began = time.perf_counter()
            rows += await SCENARIOS[name][0](stage, quick)
            print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    finally:
        stage.close()
    return rows


def _options() -> argparse.Namespace:
    told = "\n".join(f"  {name:<12} {about}" for name, (_, about) in SCENARIOS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Windlass beside hand-written floors that do the same work.",
        epilog=f"scenarios (default: all):\n{told}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("scenarios", nargs="*", metavar="scenario", choices=[*SCENARIOS, []], help="run only these")
    parser.add_argument("--quick", action="store_true", help="about a minute: fewer rounds, wider spread")
    parser.add_argument("--check", action="store_true", help="fail when a budget is missed")
    parser.add_argument("--peers", action="store_true", help="measure others beside it, each in its own environment")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a picture: .svg, or .png in light and dark")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="write the section on speed of a page again")
    parser.add_argument("--again", type=Path, metavar="FILE", help="measure nothing; take what --json wrote")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
