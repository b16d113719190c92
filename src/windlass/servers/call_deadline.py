"""One call under way: whether it left us, and how long it may still take. Signs of progress renew the time; while a
person answers a question of the server's, it stands still."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from windlass.servers.values import OnInput


@dataclass(slots=True)
class CallDeadline:
    """`quiet_s` without a sign of life ends the call; `longest_s` ends it whatever the signs."""

    quiet_s: float
    longest_s: float
    on_input: OnInput | None = None
    asked: tuple[str, str | None] = ("", None)  # the one question it stands at, in the stateless era, and its state
    sent: bool = False
    status: int = 0  # of the last HTTP answer, where there was one
    delivered: bool = False  # whether any HTTP request of it was answered
    over: asyncio.Event = field(default_factory=asyncio.Event)
    _timeout: asyncio.Timeout | None = None
    _end: float = 0
    _waits: int = 0
    _left: tuple[float, float] = (0, 0)

    def begin(self) -> asyncio.Timeout:
        now = _now()
        self._end = now + max(self.longest_s, self.quiet_s)
        self._timeout = asyncio.timeout_at(now + self.quiet_s)
        return self._timeout

    def renew(self) -> None:
        if self._timeout and not self._waits and not self._timeout.expired():
            self._timeout.reschedule(min(_now() + self.quiet_s, self._end))

    @contextmanager
    def person_answers(self) -> Iterator[None]:
        """Several questions may be open at once; time runs on when the last is answered."""
        self._waits += 1
        if self._waits == 1:
            self._stand_still()
        try:
            yield
        finally:
            self._waits -= 1
            if self._waits == 0:
                self._run_on()

    def _stand_still(self) -> None:
        if self._timeout and not self._timeout.expired():
            now = _now()
            due = self._timeout.when()
            self._left = ((due or now) - now, self._end - now)
            self._timeout.reschedule(None)

    def _run_on(self) -> None:
        if self._timeout and not self._timeout.expired():
            now = _now()
            quiet, total = self._left
            self._end = now + total
            self._timeout.reschedule(now + quiet)


current: ContextVar[CallDeadline | None] = ContextVar("flight", default=None)


def _now() -> float:
    return asyncio.get_running_loop().time()
