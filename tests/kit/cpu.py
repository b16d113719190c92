"""What a program costs, in measures that a slow or busy machine does not stretch: modules instead of the time to load
them, and the processor's clock where only a wrong order of growth could meet the limit."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

MOST_CPU_S = 30.0


def modules_loaded(*argv: str) -> int:
    """How many modules a Python program imports from its start to its end."""
    env = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=100)
    return done.stderr.count(b"import time:")


@contextmanager
def linear() -> Iterator[None]:
    """For work of a second at most, and of minutes if its time grew with the square of its input."""
    began = time.process_time()
    yield
    assert time.process_time() - began < MOST_CPU_S
