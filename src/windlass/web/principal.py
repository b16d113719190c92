"""Who is asking: a token, or a browser session that one opened. It says what may be done, and its end is the end of the
streams it reads."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import inf


class Principal:
    """One object for as long as the token or session lives: requests that come later find the same one."""

    __slots__ = ("_readers", "confirmed_until", "expires_at", "id", "is_session", "last_used_at", "name", "scopes")

    def __init__(
        self,
        id: str,
        name: str,
        scopes: Iterable[str],
        *,
        is_session: bool = False,
        expires_at: float = inf,
        last_used_at: float = 0.0,
    ) -> None:
        self.id = id
        self.name = name
        self.scopes = frozenset(scopes)
        self.is_session = is_session
        self.expires_at = expires_at
        self.last_used_at = last_used_at
        self.confirmed_until = 0.0
        self._readers: set[Callable[[], None]] = set()

    @property
    def left_s(self) -> float:
        return max(0.0, self.expires_at - time.time())

    @contextmanager
    def reading(self, stop: Callable[[], None]) -> Iterator[None]:
        """Inside, `stop` is called once when this principal is revoked, signs out or expires."""
        self._readers.add(stop)
        timer = asyncio.get_running_loop().call_later(self.left_s, stop) if self.expires_at < inf else None
        try:
            yield
        finally:
            self._readers.discard(stop)
            if timer:
                timer.cancel()

    def end(self) -> None:
        self.expires_at = 0.0
        readers, self._readers = self._readers, set()
        for stop in readers:
            stop()
