"""How much an address may have open before it has shown a credential: connections (web/protocol.py), or behind a
trusted proxy, whose connections carry many clients, requests."""

from collections import Counter
from collections.abc import Callable

from windlass.web.errors import TooMany

STRANGERS = 64  # of another machine's address


def too_many_open() -> TooMany:
    return TooMany(
        "This address has too many open connections without a credential.",
        hint="Close some of them, or send the token.",
        code="too_many_connections",
    )


class OpenRequests:
    """Requests that a trusted proxy passed on and that are being answered, by the client's address."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def enter(self, address: str) -> Callable[[], None]:
        """Gives what is called with the first credential that fits, and when the request is over."""
        if self._open[address] >= STRANGERS:
            raise too_many_open()
        self._open[address] += 1
        counted = True

        def leave() -> None:
            nonlocal counted
            if counted:
                counted = False
                self._open[address] -= 1
                if not self._open[address]:
                    del self._open[address]

        return leave
