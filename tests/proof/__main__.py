"""The survival table: `make proof`, or `python -m tests.proof [--quick] [--only WORD] [--json FILE]`, see `--help`.

Runs the fault, kill and abuse tests at full scale, then prints the scoreboard with our figure beside floor and aim.
Ends with 1 when a floor is missed or a test failed. What is not measured is listed, and never counts as passed.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.proof.figures import Figures, read_figures
from tests.proof.incidents import INCIDENTS
from tests.proof.rows import ROWS
from tests.proof.scoreboard import GUARD, SSRF, drawn, figures_of

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    tests: tuple[str, ...]
    workers: int = 2
    options: tuple[str, ...] = ()


def stages() -> list[Stage]:
    """Measures run alone, so that nothing else is in their figures."""
    mapped = {test for table in (ROWS, INCIDENTS) for tests in table.values() for test in tests}
    own = ("tests/faults/", "tests/proof/")
    elsewhere = sorted(test for test in {*mapped, *SSRF, *GUARD} if not test.startswith(own))
    abuse = ("tests/proof/test_injection.py", "tests/proof/test_canaries.py", "tests/proof/test_incidents.py")
    return [
        Stage("kills, faults and races", ("tests/faults",)),
        Stage("injections, secrets and incidents", (*abuse, "tests/proof/test_rows.py")),
        Stage("the matrix as other tests show it", tuple(elsewhere)),
        Stage("coverage of core and store", COVERING, 1, COVERED),
        Stage("the page in a browser", ("tests/browser/test_screens.py",), 1),
        Stage("broken on purpose", ("tests/proof/test_mutations.py",)),
        Stage("measures", ("tests/proof/test_measures.py",), 1),
    ]


COVERING = (
    *("tests/core", "tests/store", "tests/test_runner.py", "tests/faults/test_races.py"),
    *("tests/web/test_conversations.py", "tests/web/test_messages.py"),
)
COVERED = ("--cov=windlass.core", "--cov=windlass.store", "--cov-branch", "--cov-report=json:{folder}/coverage.json")


def main() -> int:
    options = _options()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = options.figures.resolve() if options.figures else Path(folder) / "figures"
        print(_machine(), flush=True)
        for stage in stages():
            if options.only in stage.name:
                _run(stage, file, Path(folder), options.quick)
        _count_findings(file)
        found = read_figures(file)
    return _tell(found, time.monotonic() - began, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the sizes of `make test`; floors are then missed")
    parser.add_argument("--only", default="", metavar="WORD", help="only the stages whose name has this word")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="add to what stages run earlier left there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    return parser.parse_args()


def _run(stage: Stage, figures: Path, folder: Path, quick: bool) -> None:
    print(f"\n== {stage.name}", flush=True)
    began = time.monotonic()
    env = {**os.environ, "SCALE": "small" if quick else "full", "PROOF_FIGURES": str(figures)}
    workers = ("-n", str(stage.workers), "--dist", "worksteal") if stage.workers > 1 else ("-p", "no:xdist")
    more = [option.format(folder=folder) for option in stage.options]
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--timeout=600",
        "-p",
        "tests.proof.figures",
        *workers,
        *more,
        *stage.tests,
    ]
    subprocess.run(argv, cwd=ROOT, env=env, check=False)
    coverage = folder / "coverage.json"
    if coverage.exists():
        percent = json.loads(coverage.read_text())["totals"]["percent_covered"]
        _add(figures, measure="coverage", percent=percent)
        coverage.unlink()
    print(f"== {stage.name}: {time.monotonic() - began:.0f} s", flush=True)


def _count_findings(figures: Path) -> None:
    """The linter has bandit's rules; what needs the network (audits of packages) is not run."""
    argv = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--select",
        "S",
        "--ignore",
        "S603",
        "--output-format",
        "json",
        "src",
    ]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode in (0, 1):
        _add(figures, measure="linters", count=len(json.loads(done.stdout)))


def _add(figures: Path, **numbers: object) -> None:
    with figures.open("a") as lines:
        lines.write(json.dumps(numbers) + "\n")


def _tell(found: Figures, seconds: float, options: argparse.Namespace) -> int:
    rows = figures_of(found)
    failed = sorted(id for id, outcome in found.outcomes.items() if outcome == "failed")
    skipped = sorted(id for id, outcome in found.outcomes.items() if outcome == "skipped")
    missed = [measure.name for measure, figure in rows if figure.met is False]
    unmeasured = [measure.name for measure, figure in rows if figure.met is None]
    seeds = sorted({str(note["seed"]) for notes in found.notes.values() for note in notes if "seed" in note})
    print(f"\n{_machine()}; {seconds / 60:.0f} min; seeds {', '.join(seeds) or 'none'}")
    print(f"{len(found.outcomes)} tests, {len(failed)} failed, {len(skipped)} skipped\n\n{drawn(rows)}\n")
    for title, names in (("failed", failed), ("skipped", skipped), ("missed", missed), ("not measured", unmeasured)):
        if names:
            print(f"{title}:\n" + "\n".join(f"  {name}" for name in names))
    if options.json:
        figures = {measure.name: {"here": figure.text, "met": figure.met} for measure, figure in rows}
        options.json.write_text(json.dumps({"machine": _machine(), "seeds": seeds, "figures": figures}, indent=1))
    return 1 if failed or missed else 0


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
