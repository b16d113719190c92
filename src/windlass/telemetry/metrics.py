"""Log lines and counters for the operator, from events on the bus. Prompts, arguments and results appear at DEBUG at
most; keys never do."""

import asyncio
import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from windlass.bus import Bus
from windlass.core.events import (
    ModelFailed,
    ModelReplied,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)

LAG_EVERY_S = 0.25
LAG_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

log = logging.getLogger("windlass")


class Telemetry:
    """Listens on the bus. The text of these log lines is public: docs/public-names.txt lists each of them."""

    def __init__(self, bus: Bus) -> None:
        self.counts: Counter[str] = Counter()
        self.loop_lag = LoopLag()
        self._names: dict[str, dict[str, str]] = {}
        bus.listen(TurnStarted, self._started)
        bus.listen(ModelReplied, self._replied)
        bus.listen(ModelFailed, self._failed)
        bus.listen(ToolStarted, self._tool_started)
        bus.listen(ToolFinished, self._tool_finished)
        bus.listen(TurnFinished, self._finished)

    def _started(self, turn_id: str, started: TurnStarted) -> None:
        self.counts["turns_started"] += 1

    def _replied(self, turn_id: str, reply: ModelReplied) -> None:
        self.counts["model_replies"] += 1
        self.counts["tool_lists_grown"] += "loaded" in reply.moved
        self.counts["tokens_prompt"] += reply.usage.prompt
        self.counts["tokens_completion"] += reply.usage.completion
        if reply.calls:
            self._names.setdefault(turn_id, {}).update((call.id, call.name) for call in reply.calls)
            log.info("Tool calls detected: %d tools", len(reply.calls))
        elif reply.promised:
            log.info("A search was announced and not made; asking again")
        else:
            log.info("Final response received: %d chars", len(reply.text))

    def _failed(self, turn_id: str, failed: ModelFailed) -> None:
        if failed.cause != "stopped":
            self.counts["model_failures"] += 1
            log.warning("Model call failed: %s (%s)", failed.cause, failed.message)

    def _tool_started(self, turn_id: str, start: ToolStarted) -> None:
        log.info("Processing tool: %s (id: %s)", self._name(turn_id, start.call_id), start.call_id)

    def _tool_finished(self, turn_id: str, end: ToolFinished) -> None:
        name = self._name(turn_id, end.call_id)
        if end.cause == "handed_over":
            self.counts["calls_handed_over"] += 1
            return log.info("Tool call handed over: %s", name)
        self.counts[f"calls_{end.state}"] += 1
        if end.state == "ok":
            log.info("Tool execution completed: %s in %d ms", name, end.took_ms)
        else:
            log.warning("Tool execution failed: %s - %s", name, end.cause or end.state)

    def _finished(self, turn_id: str, end: TurnFinished) -> None:
        self.counts[f"turns_{end.outcome}"] += 1
        self._names.pop(turn_id, None)

    def _name(self, turn_id: str, call_id: str) -> str:
        return self._names.get(turn_id, {}).get(call_id, "?")


class LoopLag:
    """How late the event loop is: what holds it up holds up every request and every turn. A timer looks at it from
    `start` to `stop`."""

    def __init__(self) -> None:
        self.sum_s = 0.0
        self._counts = [0] * (len(LAG_BUCKETS_S) + 1)
        self._timer: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        return sum(self._counts)

    def buckets(self) -> Iterator[tuple[str, int]]:
        """Upper bounds as Prometheus writes them, and how many were at most so late."""
        names = [*(f"{bound:g}" for bound in LAG_BUCKETS_S), "+Inf"]
        return zip(names, accumulate(self._counts), strict=True)

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + LAG_EVERY_S
        self._timer = loop.call_at(due, self._look, loop, due)

    def stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def observe(self, seconds: float) -> None:
        late = max(seconds, 0.0)  # a timer may fire within the clock's resolution before its time
        self._counts[bisect_left(LAG_BUCKETS_S, late)] += 1
        self.sum_s += late

    def _look(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        self.observe(loop.time() - due)
        self.start()
