"""One attempt at a request: what it waits for, told as it happens, and the time it spends with the request out."""

import asyncio
import time

from windlass.core.ports import Emit, ModelRequest, Waiting
from windlass.providers.answer import Deadline, Spent
from windlass.providers.failures import Patience

WORTH_TRYING = 0.02  # of a limit of time: with less left, another attempt would be cut before it could answer


class Attempt:
    def __init__(self, request: ModelRequest, emit: Emit, host: str, model: str, usual_s: float | None) -> None:
        self.emit = emit
        self.host = host
        self.model = model
        self.spent = Spent()
        self.spent_before = Spent(
            sum(failed.first_byte_ms for failed in request.failures) / 1000,
            sum(failed.silence_ms for failed in request.failures) / 1000,
        )
        self._began = time.time()
        self._usual_s = round(usual_s, 1) if usual_s else None
        self._retry = len(request.failures)
        self._retries = request.settings.limits.attempts - 1 if self._retry else 0
        self._deadline: Deadline | None = None

    def queued(self, ahead: int, pause_s: float) -> None:
        """It waits for a slot, or with everybody else for the end of a pause."""
        until = time.time() + pause_s if pause_s else None
        self.emit(
            Waiting(
                "rate_limit" if pause_s else "slot",
                self._began,
                until,
                self.host,
                self.model,
                attempt=self._retry,
                attempts=self._retries,
                ahead=ahead,
            )
        )

    def sent(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._waits_for_token(time.time(), deadline.until)

    def quiet(self, since: float, until: float) -> None:
        """Nothing came for a while; the times are those of the loop's clock."""
        began = time.time() - (asyncio.get_running_loop().time() - since)
        if self._deadline and self._deadline.first_at:
            self.emit(Waiting("silence", began, self._wall(until), self.host, self.model))
        else:
            self._waits_for_token(began, until)

    def ended(self, deadline: Deadline) -> None:
        self.spent.first_byte_s += deadline.spent.first_byte_s
        self.spent.silence_s += deadline.spent.silence_s
        self._deadline = None  # it knows this attempt: a circle would wait for the garbage collector

    def is_out_of_time(self, patience: Patience) -> bool:
        first_byte_s = self.spent_before.first_byte_s + self.spent.first_byte_s
        silence_s = self.spent_before.silence_s + self.spent.silence_s
        most = 1 - WORTH_TRYING
        return first_byte_s >= patience.first_byte_s * most or silence_s >= patience.silence_s * most

    def _waits_for_token(self, since: float, until: float) -> None:
        self.emit(
            Waiting(
                "first_token",
                since,
                self._wall(until),
                self.host,
                self.model,
                attempt=self._retry,
                attempts=self._retries,
                usual_s=self._usual_s,
            )
        )

    def _wall(self, until: float) -> float:
        return time.time() + until - asyncio.get_running_loop().time()
