"""Who is asking: a token, or a browser session that one opened. It says what may be done, and its end is the end of the
streams it reads."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import inf

from starlette.types import Scope

from windlass.web.errors import Forbidden

INCLUDES = {  # what each scope of a token allows
    "ops": {"ops"},
    "read": {"read"},
    "chat": {"chat", "read"},
    "approve": {"approve", "read"},
    "admin": {"admin", "approve", "chat", "ops", "read"},
}


class Principal:
    """One object for as long as the token or session lives: requests that come later find the same one. A session names
    the token that opened it; a token's `token_id` is its own."""

    __slots__ = (
        *("_readers", "allows", "confirmed_until", "expires_at"),
        *("id", "is_session", "last_used_at", "name", "scopes", "token_id"),
    )

    def __init__(
        self,
        id: str,
        name: str,
        scopes: Iterable[str],
        *,
        token_id: str = "",
        expires_at: float = inf,
        last_used_at: float = 0.0,
    ) -> None:
        self.id = id
        self.name = name
        self.scopes = frozenset(scopes)
        self.allows = frozenset({"any"}.union(*(INCLUDES[scope] for scope in self.scopes)))
        self.token_id = token_id or id
        self.is_session = bool(token_id)
        self.expires_at = expires_at
        self.last_used_at = last_used_at
        self.confirmed_until = 0.0
        self._readers: set[Callable[[], object]] = set()

    @property
    def is_valid(self) -> bool:
        return self.expires_at > time.time()

    @contextmanager
    def reading(self, stop: Callable[[], object]) -> Iterator[None]:
        """Inside, `stop` is called when this principal is revoked, signs out or expires."""
        left_s = self.expires_at - time.time()
        timer = asyncio.get_running_loop().call_later(max(0.0, left_s), stop) if left_s < inf else None
        self._readers.add(stop)
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


def check_scope(principal: Principal, scope: str) -> None:
    if scope not in principal.allows:
        raise Forbidden(
            f"This needs the scope `{scope}`, which the token {principal.name} does not have.",
            code="scope_required",
            hint=f"Use a token that has it; `windlass token new NAME --scope {scope}` makes one.",
            detail={"scope": scope},
        )


def principal_of(scope: Scope) -> Principal:
    """Who was admitted with this request."""
    found: Principal = scope["state"]["principal"]
    return found
