"""On the path of a server under test, this moves its wall clock by the seconds that a file says, at any moment."""

import os
import time

_FILE = os.environ.get("CLOCK_OFFSET_FILE", "")
_real_time, _real_time_ns = time.time, time.time_ns


def _offset() -> float:
    with open(_FILE) as file:
        return float(file.read() or 0)


if _FILE:
    time.time = lambda: _real_time() + _offset()
    time.time_ns = lambda: _real_time_ns() + int(_offset() * 1_000_000_000)
