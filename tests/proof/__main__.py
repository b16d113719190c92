"""The survival table: `make proof`, or `python -m tests.proof [--quick] [--only PART] [--json FILE]`, see `--help`.

Runs the fault, kill and abuse tests at full scale, then prints the scoreboard with our figure beside floor and aim.
Ends with 1 when a floor is missed, a test failed, a stage broke off or a figure is missing without a known reason.
What is not measured is listed, and never counts as passed.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from tests.proof.audits import audit
from tests.proof.figures import Figures, read_figures
from tests.proof.scoreboard import drawn, figures_of
from tests.proof.stages import chosen, run, stages


def main() -> int:
    options = _options()
    wanted = chosen(options.only)
    if not wanted:
        print(f"There is no part {options.only!r} of the proof. The parts are:")
        print("\n".join(f"  {stage.part:9}  {stage.name}" for stage in stages()))
        return 2
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = options.figures.resolve() if options.figures else Path(folder) / "figures"
        print(_machine(), flush=True)
        for stage in wanted:
            run(stage, file, Path(folder), quick=options.quick)
        audit(file)
        found = read_figures(file)
    return _tell(found, time.monotonic() - began, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the sizes of `make test`; floors are then missed")
    parser.add_argument("--only", default="", metavar="PART", help="only this part; an unknown one lists them")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="add to what stages run earlier left there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    return parser.parse_args()


def _tell(found: Figures, seconds: float, options: argparse.Namespace) -> int:
    rows = figures_of(found)
    failed = sorted(id for id, outcome in found.outcomes.items() if outcome == "failed")
    skipped = sorted(id for id, outcome in found.outcomes.items() if outcome == "skipped")
    missed = [measure.name for measure, figure in rows if figure.met is False]
    unmeasured = [f"{measure.name}: {figure.text}" for measure, figure in rows if figure.met is None]
    unexplained = [measure.name for measure, figure in rows if figure.met is None and not measure.elsewhere]
    crashed = [f"{one['stage']} ({one['code']})" for one in found.notes.get("crash", [])]
    seeds = sorted({str(note["seed"]) for notes in found.notes.values() for note in notes if "seed" in note})
    print(f"\n{_machine()}; load {os.getloadavg()[0]:.1f}; {seconds / 60:.0f} min; seeds {', '.join(seeds) or 'none'}")
    print(f"{len(found.outcomes)} tests, {len(failed)} failed, {len(skipped)} skipped\n\n{drawn(rows)}\n")
    lists = {"stages that broke off": crashed, "failed": failed, "skipped": skipped, "missed": missed}
    for title, names in {**lists, "not measured": unmeasured}.items():
        if names:
            print(f"{title}:\n" + "\n".join(f"  {name}" for name in names))
    if options.json:
        figures = {measure.name: {"here": figure.text, "met": figure.met} for measure, figure in rows}
        options.json.write_text(json.dumps({"machine": _machine(), "seeds": seeds, "figures": figures}, indent=1))
    return 1 if failed or missed or crashed or (unexplained and not options.only) else 0


def _machine() -> str:
    cpu = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), ""
    )
    memory = next((int(line.split()[1]) >> 20 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    system = f"{platform.system()} {platform.release()}"
    return f"{system}, {os.cpu_count()} x {cpu or platform.machine()}, {memory} GiB, Python {platform.python_version()}"


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


if __name__ == "__main__":
    sys.exit(main())
