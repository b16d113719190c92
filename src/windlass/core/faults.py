"""Named points at which a test may kill, break or hold this process: `WINDLASS_FAULT=point:n:kill|raise|sleep` acts the
n-th time the point is reached."""

import os
import signal
import time
from collections.abc import Callable

_ARMED = os.environ.get("WINDLASS_FAULT", "")
_HOLD_S = 3600


class _Count:
    reached = 0


def _reach(point: str) -> None:
    if _ARMED.startswith(f"{point}:"):
        _act(*_ARMED.split(":"))


def _act(point: str, number: str, action: str) -> None:
    _Count.reached += 1
    if _Count.reached != int(number):
        return
    match action:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "sleep":
            os.write(2, f"held at {point}\n".encode())
            time.sleep(_HOLD_S)
        case _:
            raise RuntimeError(f"fault at {point}")


# Outside tests a point calls a builtin that does nothing: cheaper than any function of ours, on the path of every turn.
reach: Callable[[str], object] = _reach if _ARMED else bool
