"""Lines on a program's standard output that are no message of MCP. Many good servers print some, a few with every call
and for weeks: what counts is their rate, never their sum."""

from collections import deque

MOST = 1000
WITHIN_S = 10.0


class StrayLines:
    def __init__(self) -> None:
        self.count = 0
        self._since_good = 0
        self._times: deque[float] = deque(maxlen=MOST)  # of the last ones

    def add(self, now: float) -> bool:
        """Whether there are too many now: `MOST` of them within `WITHIN_S`, or without a good message in between."""
        self.count += 1
        self._since_good += 1
        self._times.append(now)
        in_a_burst = len(self._times) == MOST and now - self._times[0] <= WITHIN_S
        return in_a_burst or self._since_good >= MOST

    def good_message(self) -> None:
        self._since_good = 0
