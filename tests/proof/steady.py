"""Whether tests that depend on time hold on a busy machine: `make steady`, or `python -m tests.proof.steady --help`.

Runs the files below again and again beside processes that do nothing but work, and names each test that ever failed.
"""

import argparse
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUSY = "while True: pass"
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
TIMED = (  # deadlines, retries, pings, kills and pipes: what a slow moment could break
    *("tests/bus", "tests/faults/test_clock.py", "tests/faults/test_races.py", "tests/faults/test_stopping.py"),
    *("tests/kit/test_kit.py", "tests/kit/test_ledger_http.py", "tests/kit/test_ledger_server.py"),
    *("tests/providers/test_limiter.py", "tests/providers/test_retries.py", "tests/providers/test_http_client.py"),
    *("tests/servers/test_call_deadline.py", "tests/servers/test_connection.py", "tests/servers/test_supervisor.py"),
    *("tests/store/test_writer.py", "tests/store/test_turnlog.py", "tests/test_runner.py", "tests/test_closing.py"),
    *("tests/toolbox/test_questions.py", "tests/web/test_rates.py", "tests/web/test_sse.py", "tests/cli/test_ask.py"),
)


def main() -> int:
    options = _options()
    failures: Counter[str] = Counter()
    with busy(options.load):
        for number in range(1, options.times + 1):
            began = time.monotonic()
            found, code = _run(options.files or TIMED)
            failures.update(found)
            print(f"{number} of {options.times}: {len(found)} failed, {time.monotonic() - began:.0f} s", flush=True)
            if code not in (0, 1):
                print(f"pytest ended with {code}")
                return code
    print("\n".join(f"  {count} x {name}" for name, count in failures.most_common()) or "None failed.")
    return 1 if failures else 0


@contextmanager
def busy(processes: int) -> Iterator[None]:
    working = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in working:
            process.kill()
            process.wait()


def _run(files: tuple[str, ...]) -> tuple[list[str], int]:
    argv = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "--tb=short", *files]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-6000:], flush=True)
    return FAILED.findall(done.stdout), done.returncode


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.proof.steady", description=__doc__)
    parser.add_argument("files", nargs="*", help="instead of the usual ones")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--load", type=int, default=6, help="how many processes work beside the tests")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
