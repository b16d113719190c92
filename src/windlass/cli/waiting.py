"""What a turn waits for, on one line for a terminal."""

import time
from dataclasses import dataclass
from typing import assert_never

from rich.spinner import Spinner
from rich.text import Text

from windlass.cli.output import line
from windlass.core.ports import Waiting


def waiting_line(waiting: Waiting, name: str = "", now: float | None = None) -> str:
    """`name` is the tool's, where a call is waited for."""
    now = time.time() if now is None else now
    lasted, left = _seconds(now - waiting.since), _seconds((waiting.until or 0) - now)
    model, server, tool = line(waiting.model or waiting.host, 80), line(waiting.server, 80), line(name, 80)
    gives_up = f" Gives up in {left}." if waiting.until else ""
    match waiting.for_:
        case "slot":
            return f"Waiting for a free slot{f' at {line(waiting.host, 80)}' if waiting.host else ''}.{_ahead(waiting)}"
        case "rate_limit":
            return f"{line(waiting.host, 80) or model} is limiting requests. {_retry(waiting, now)}{_ahead(waiting)}"
        case "first_token":
            usual = f" Usually {waiting.usual_s:g} s." if waiting.usual_s else ""
            return f"Waiting for {model}, {lasted}.{usual}"
        case "silence":
            return f"No text from {model} for {lasted}.{gives_up}"
        case "server":
            return f"Starting {server}, {lasted}."
        case "tool":
            return f"No progress from {tool or server or 'a tool'} for {lasted}.{gives_up}"
        case "sign_in":
            return f"{server} needs you to sign in. Calls are waiting, nothing is lost."
        case "person":
            return "Waiting for your decision."
        case "budget":
            return "Stopped at your budget."
        case other:
            assert_never(other)


def failed_line(message: str, wait_s: float, attempt: int, attempts: int) -> str:
    """The statement, then what happens next, then the details."""
    statement, _, details = message.partition(". ")
    return f"{statement.removesuffix('.')}. {retrying(wait_s, attempt, attempts)} {details}".rstrip()


def retrying(wait_s: float, attempt: int, attempts: int) -> str:
    when = f" in {_seconds(wait_s)}" if wait_s >= 1 else ""
    return f"Retrying{when} ({attempt} of {attempts})."


@dataclass(slots=True)
class WaitingStatus:
    """Drawn again and again, so that its seconds move."""

    waiting: Waiting
    name: str = ""

    def __rich__(self) -> Spinner:
        return Spinner("dots", Text(waiting_line(self.waiting, self.name), style="dim"))


def _retry(waiting: Waiting, now: float) -> str:
    left_s = max(0.0, (waiting.until or now) - now)
    if waiting.attempt:
        return retrying(left_s, waiting.attempt, waiting.attempts)
    return f"Asking in {_seconds(left_s)}."


def _ahead(waiting: Waiting) -> str:
    if not waiting.ahead:
        return ""
    return f" {waiting.ahead} {'turn' if waiting.ahead == 1 else 'turns'} ahead."


def _seconds(seconds: float) -> str:
    return f"{max(0, round(seconds))} s"
