"""How often somebody may be wrong: failed tries per address, and the digits that the server's terminal shows."""

import hmac
import secrets
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from windlass.web.errors import TooMany

PER_S = 60
MOST_ADDRESSES = 10_000
CODE_TRIES = 5
CODE_LOCKED_S = 600


@dataclass(slots=True)
class Failures:
    """Failed tries of the last minute, per address."""

    most: int
    tries: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(deque))

    def check(self, address: str) -> None:
        now = time.monotonic()
        tries = self.tries[address]
        while tries and tries[0] < now - PER_S:
            tries.popleft()
        if not tries:
            del self.tries[address]
        if len(tries) >= self.most:
            raise TooMany("Too many failed tries.", hint=f"Wait {PER_S} seconds.", detail={"retry_after": PER_S})

    def add(self, address: str) -> None:
        if len(self.tries) >= MOST_ADDRESSES:
            del self.tries[next(iter(self.tries))]
        self.tries[address].append(time.monotonic())


class ConfirmCode:
    """Eight digits. After five wrong tries there are new ones, and none counts for ten minutes: guessing takes ages."""

    def __init__(self) -> None:
        self.code = _digits()
        self.show: Callable[[str], None] = lambda code: None  # where the terminal is; set by `windlass serve`
        self._wrong = 0
        self._locked_until = 0.0

    def fits(self, given: str) -> bool:
        left_s = self._locked_until - time.monotonic()
        if left_s > 0:
            raise TooMany(
                "Too many wrong codes.",
                hint="Enter the token, or open a link of `windlass token --url`.",
                detail={"retry_after": round(left_s) + 1},
            )
        if hmac.compare_digest("".join(given.split()).encode(), self.code.encode()):
            self._wrong = 0
            return True
        self._wrong += 1
        if self._wrong >= CODE_TRIES:
            self.code, self._wrong = _digits(), 0
            self._locked_until = time.monotonic() + CODE_LOCKED_S
            self.show(self.code)
        return False


def _digits() -> str:
    return f"{secrets.randbelow(10**8):08d}"
