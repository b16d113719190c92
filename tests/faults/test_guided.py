"""The parser of a model's stream under a coverage-guided fuzzer, for as long as the budget says: no crash, no hang, no
memory without bound. It starts from the recorded streams."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proof.figures import FULL, note
from tests.providers.test_corpus import CASES, load

BUDGET_S = 120 if FULL else 2
MOST_MB = 512
ONE_INPUT_S = 5 if FULL else 60
SEED = 13
ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(BUDGET_S + 120)
@pytest.mark.skipif(not importlib.util.find_spec("atheris"), reason="Atheris has no build for this machine")
def test_no_stream_that_the_fuzzer_finds_breaks_the_parser(tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    for path in CASES:
        body = load(path)[1]
        (inputs / path.stem).write_bytes(b"\x3f" + body)
        if body.startswith(b"{"):
            (inputs / f"{path.stem}-whole").write_bytes(b"\xff" + body)
    options = (
        f"-max_total_time={BUDGET_S}",
        f"-seed={SEED}",
        f"-rss_limit_mb={MOST_MB}",
        f"-timeout={ONE_INPUT_S}",
        "-max_len=8192",
        "-print_final_stats=1",
        f"-artifact_prefix={tmp_path}/",
    )
    argv = [sys.executable, "-m", "tests.faults.guided_stream", *options, str(inputs)]
    # A process counts the memory of the one it was forked from, so a small one stands between.
    done = subprocess.run(
        ["sh", "-c", '"$@"; exit $?', "sh", *argv], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    stats = dict(re.findall(r"stat::(\w+):\s+(\d+)", done.stderr))
    covered = [int(found) for found in re.findall(r" cov: (\d+)", done.stderr)]
    note("guided fuzz", count=int(stats["number_of_executed_units"]), rss_mb=int(stats["peak_rss_mb"]), seed=SEED)
    assert covered[-1] > 100, "nothing was instrumented"
