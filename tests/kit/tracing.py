"""System calls of a server under test, seen or spoilt with strace; where that cannot be done, tests say so."""

import shutil
import subprocess
from functools import cache

import pytest


@cache
def can_trace() -> bool:
    argv = ["strace", "-o", "/dev/null", "true"]
    return shutil.which("strace") is not None and subprocess.run(argv, capture_output=True, check=False).returncode == 0


STRACE = pytest.mark.skipif(not can_trace(), reason="strace is not installed, or may not trace here")
