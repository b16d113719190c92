"""What the operator sees: log lines and counters, made by listening. No prompt, argument, result or key is ever in
them above DEBUG, and keys not even there."""

import logging
from collections import Counter

from windlass.bus import Frame
from windlass.core.events import (
    ModelFailed,
    ModelReplied,
    Recorded,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from windlass.core.ports import Hear, Model, ModelRequest, Reply

log = logging.getLogger("windlass")


class Telemetry:
    """A listener on the bus. The words are the seed's where the step exists."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._names: dict[str, dict[str, str]] = {}

    def listen(self, frame: Frame) -> None:
        if not isinstance(frame.what, Recorded):
            return
        match frame.what.event:
            case TurnStarted():
                self.counts["turns_started"] += 1
            case ModelReplied() as reply:
                self._replied(frame.turn_id, reply)
            case ModelFailed() as failed if failed.cause != "stopped":
                self.counts["model_failures"] += 1
                log.warning("Model call failed: %s (%s)", failed.cause, failed.message)
            case ToolStarted(call_id=call_id):
                log.info("Processing tool: %s (id: %s)", self._name(frame.turn_id, call_id), call_id)
            case ToolFinished() as end:
                self._tool_finished(frame.turn_id, end)
            case TurnFinished() as finished:
                self.counts[f"turns_{finished.outcome}"] += 1
                self._names.pop(frame.turn_id, None)
            case _:
                pass

    def _replied(self, turn_id: str, reply: ModelReplied) -> None:
        self.counts["model_replies"] += 1
        self.counts["tokens_prompt"] += reply.usage.prompt
        self.counts["tokens_completion"] += reply.usage.completion
        if reply.calls:
            self._names.setdefault(turn_id, {}).update((call.id, call.name) for call in reply.calls)
            log.info("Tool calls detected: %d tools", len(reply.calls))
        else:
            log.info("Final response received: %d chars", len(reply.text))

    def _tool_finished(self, turn_id: str, end: ToolFinished) -> None:
        name = self._name(turn_id, end.call_id)
        self.counts[f"calls_{end.state}"] += 1
        if end.state == "ok":
            log.info("Tool execution completed: %s in %d ms", name, end.took_ms)
        else:
            log.warning("Tool execution failed: %s - %s", name, end.cause or end.state)

    def _name(self, turn_id: str, call_id: str) -> str:
        return self._names.get(turn_id, {}).get(call_id, "?")


class LoggedModel:
    """Says when results go back to the model; the log of events knows only what came of it."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def reply(self, request: ModelRequest, hear: Hear) -> Reply:
        current = request.prompt.current
        if any(message.role == "tool" for message in current):
            count = len(current) + sum(len(turn.messages) for turn in request.prompt.past)
            log.info("Sending tool results to model (messages: %d)", count)
        return await self._model.reply(request, hear)
