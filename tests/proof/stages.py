"""The stages of the proof: which tests run together, and what becomes of a stage that does not come to its end."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.proof.figures import add
from tests.proof.incidents import INCIDENTS, PAINS
from tests.proof.rows import ROWS
from tests.proof.scoreboard import BACKUP, BROWSING, DETACHED, FLOOD, GUARD, ISOLATION, SELF_APPROVAL, SPELLINGS, SSRF

ROOT = Path(__file__).parents[2]
RAN = (0, 1)  # pytest's exit codes when every test came to its end, well or badly
LONGEST_S = 90 * 60  # every test has a limit of its own; this is for what hangs outside of them


@dataclass(frozen=True, slots=True)
class Stage:
    """`part` is what `make proof PART=` calls it."""

    part: str
    name: str
    tests: tuple[str, ...]
    workers: int = 2
    options: tuple[str, ...] = ()


def stages() -> list[Stage]:
    """Measures run alone, so that nothing else is in their figures."""
    mapped = {test for table in (ROWS, INCIDENTS, PAINS) for tests in table.values() for test in tests}
    own = ("tests/faults/", "tests/proof/", "tests/browser/")
    elsewhere = sorted(
        test for test in {*mapped, *SSRF, *GUARD, *SPELLINGS, *BACKUP, BROWSING} if not test.startswith(own)
    )
    return [
        Stage("kills", "kills, faults and races", ("tests/faults",)),
        Stage("abuse", "injections, secrets and incidents", ABUSE),
        Stage("isolation", "isolation of tool servers", (*ISOLATION, *DETACHED, *SELF_APPROVAL)),
        Stage("matrix", "the matrix as other tests show it", tuple(elsewhere)),
        Stage("routes", "every route, by its description", ("tests/web/test_fuzz.py",)),
        Stage("coverage", "coverage of core and store", COVERING, 1, COVERED),
        Stage("page", "the page in a browser", BROWSER),
        Stage("proxies", "behind real proxies", ("tests/proof/test_proxies.py", "tests/browser/test_names.py")),
        Stage("clients", "unchanged clients of OpenAI's API", ("tests/proof/test_clients.py", "tests/clients"), 1),
        Stage("conformance", "the protocol's own suite, and servers that others wrote", CONFORMANCE, 1),
        Stage("mutations", "broken on purpose", ("tests/proof/test_mutations.py",)),
        Stage("seeds", "statements of the seeds made untrue", ("tests/proof/test_seeds.py",)),
        Stage("measures", "measures", (*ALONE, *FLOOD), 1),
    ]


def chosen(wanted: str) -> list[Stage]:
    """Those of this part, or with these words in their name; all when nothing is wanted."""
    return [stage for stage in stages() if wanted in (stage.part, "") or wanted in stage.name]


ABUSE = tuple(
    f"tests/proof/test_{name}.py"
    for name in ("injection", "side_by_side", "canaries", "incidents", "incidents_access", "incidents_peers", "rows")
)
ALONE = tuple(f"tests/proof/test_{name}.py" for name in ("measures", "loop_delay", "isolation_cost"))
BROWSER = tuple(
    f"tests/browser/test_{name}.py" for name in ("xss", "screens", "keyboard", "incidents", "newcomer", "folding")
)
CONFORMANCE = (
    *("tests/servers/test_conformance.py", "tests/gateway/test_conformance.py"),
    "tests/proof/test_third_party.py",
)
COVERING = (
    *("tests/core", "tests/store", "tests/test_runner.py", "tests/faults/test_races.py"),
    *("tests/web/test_conversations.py", "tests/web/test_messages.py"),
)
COVERED = ("--cov=windlass.core", "--cov=windlass.store", "--cov-branch", "--cov-report=json:{folder}/coverage.json")


def run(stage: Stage, figures: Path, folder: Path, *, quick: bool = False, longest_s: float = LONGEST_S) -> None:
    """What its tests found is in `figures` afterwards; so is a stage that crashed, or hung until its time was up."""
    print(f"\n== {stage.name}", flush=True)
    began = time.monotonic()
    env = {**os.environ, "SCALE": "small" if quick else "full", "PROOF_FIGURES": str(figures)}
    code = _code(_argv(stage, folder), env, longest_s)
    if code not in RAN:
        add(figures, "crash", stage=stage.name, tests=stage.tests, code=code)
    coverage = folder / "coverage.json"
    if coverage.exists():
        add(figures, "coverage", percent=json.loads(coverage.read_text())["totals"]["percent_covered"])
        coverage.unlink()
    seconds = time.monotonic() - began
    add(figures, "stage", name=stage.name, seconds=round(seconds))
    print(f"== {stage.name}: {'' if code in RAN else f'CRASHED ({code}) after '}{seconds:.0f} s", flush=True)


def _argv(stage: Stage, folder: Path) -> list[str]:
    workers = ("-n", str(stage.workers), "--dist", "worksteal") if stage.workers > 1 else ("-p", "no:xdist")
    options = [option.format(folder=folder) for option in stage.options]
    plugin = ("--timeout=600", "-p", "tests.proof.figures")
    return [sys.executable, "-m", "pytest", "-q", *plugin, *workers, *options, *stage.tests]


def _code(argv: list[str], env: dict[str, str], longest_s: float) -> int:
    """In a group of its own, so that nothing of a stage that hangs is left to disturb the next."""
    process = subprocess.Popen(argv, cwd=ROOT, env=env, start_new_session=True)
    try:
        return process.wait(longest_s)
    except subprocess.TimeoutExpired:
        return -signal.SIGALRM
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
