"""How many requests a minute each address may send. Streams, which last, and the page's own files are not counted."""

import ipaddress
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from windlass.web.errors import TooMany

USUAL = 6000  # from other machines, where the operator says nothing
MOST_ADDRESSES = 10_000
MINUTE_S = 60.0


@dataclass(slots=True)
class Rates:
    """`most` holds for everybody; None means the usual for other machines and no limit for this one. A minute's worth
    may come at once, and flows back evenly."""

    most: int | None = None
    now: Callable[[], float] = time.monotonic
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)  # how many are left, and when that was

    def count(self, address: str) -> None:
        most = self.most
        if most is None:
            if _is_this_machine(address):
                return
            most = USUAL
        left = self._left_of(address, most) - 1
        if left < 0:
            wait = math.ceil(-left * MINUTE_S / most)
            raise TooMany(
                f"More than {most} requests in a minute.", hint=f"Wait {wait} s.", detail={"retry_after": wait}
            )
        self._left[address] = (left, self.now())

    def _left_of(self, address: str, most: int) -> float:
        known = self._left.pop(address, None)  # put back at the end: the first is the one that was quiet longest
        if known is None:
            if len(self._left) >= MOST_ADDRESSES:
                del self._left[next(iter(self._left))]
            return most
        left, since = known
        back = min(float(most), left + (self.now() - since) * most / MINUTE_S)
        self._left[address] = (back, self.now())
        return back


@lru_cache(maxsize=256)
def _is_this_machine(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return True  # no network address at all: a socket file, or a program's own process
