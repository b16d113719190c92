"""One-time keys for login links, in memory alone. A key opens a session of the token it was made with."""

import secrets
import time

from windlass.web.private_file import digest

KEY_S = 24 * 3600
MOST_KEYS = 20


class LoginKeys:
    def __init__(self) -> None:
        self._open: dict[bytes, tuple[float, str]] = {}  # until when, and which token's

    def make(self, token_id: str) -> str:
        """Good for one login within a day."""
        now = time.time()
        self._open = {key: kept for key, kept in self._open.items() if kept[0] > now}
        while len(self._open) >= MOST_KEYS:
            del self._open[next(iter(self._open))]
        key = secrets.token_urlsafe(32)
        self._open[digest(key)] = now + KEY_S, token_id
        return key

    def token_of(self, key: str) -> str:
        """The token that the key stands for; "" if it does not fit."""
        due, token_id = self._open.get(digest(key), (0.0, ""))
        return token_id if due > time.time() else ""

    def spend(self, key: str) -> None:
        self._open.pop(digest(key), None)

    def drop(self, token_id: str) -> None:
        self._open = {key: kept for key, kept in self._open.items() if kept[1] != token_id}
