"""One call in flight: whether its request was sent, and how long it may still take. Progress renews the deadline; while
a person answers a question of the server's, the deadline is suspended."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from windlass.servers.values import OnInput


@dataclass(slots=True)
class CallDeadline:
    """`quiet_s` without progress ends the call; `longest_s` ends it whatever the progress."""

    quiet_s: float
    longest_s: float
    on_input: OnInput | None = None
    asked: tuple[str, str | None] = ("", None)  # id and state of its open question, in the stateless era
    sent: bool = False  # set once the request may have left us: a lost call may then have had its effect
    status: int = 0  # of the last HTTP response, 0 without one
    delivered: bool = False  # whether any of its HTTP requests was answered
    over: asyncio.Event = field(default_factory=asyncio.Event)  # set when the caller has gone: open questions end too
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
        # asyncio refuses to reschedule an expired timeout; its RuntimeError would pass for a malformed answer.
        if self._timeout and not self._waits and not self._timeout.expired():
            self._timeout.reschedule(min(_now() + self.quiet_s, self._end))

    @contextmanager
    def person_answers(self) -> Iterator[None]:
        """Several questions may be open at once; the deadline runs on when the last is answered."""
        self._waits += 1
        if self._waits == 1:
            self._suspend()
        try:
            yield
        finally:
            self._waits -= 1
            if self._waits == 0:
                self._resume()

    def _suspend(self) -> None:
        if self._timeout and not self._timeout.expired():
            now = _now()
            due = self._timeout.when()
            self._left = ((due or now) - now, self._end - now)
            self._timeout.reschedule(None)

    def _resume(self) -> None:
        if self._timeout and not self._timeout.expired():
            now = _now()
            quiet, total = self._left
            self._end = now + total
            self._timeout.reschedule(now + quiet)


# Set around each call in the task that makes it: the transport reads it to mark the call as sent, whatever layers of
# the SDK lie between.
current: ContextVar[CallDeadline | None] = ContextVar("call_deadline", default=None)


def _now() -> float:
    return asyncio.get_running_loop().time()
