"""When things were said, as other programs write it down. A time that cannot be is taken for none: whoever reads a
date should be able to believe it."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

PARSED = ("timestamp", "created_at", "create_time", "createdAt")
BEGAN = ("created_at", "create_time", "createdAt")
CHANGED = ("updated_at", "update_time", "updatedAt")
_IN_MS = 1e11  # as seconds this is the year 5138

Span = tuple[float, float]  # when a turn began and ended


def moment(given: Mapping[str, Any], names: Sequence[str] = PARSED) -> float:
    """In seconds; 0 where nothing tells. Text is ISO 8601, in UTC where it names no zone."""
    found = (_seconds(given.get(name)) for name in names)
    return next((at for at in found if 0 < at <= time.time()), 0)


def spans(turns: Sequence[Sequence[float]], otherwise: float) -> list[Span]:
    """A turn of which nothing tells the time is put after the one before it."""
    last = next((at for turn in turns for at in turn if at), otherwise)
    found: list[Span] = []
    for turn in turns:
        known = [at for at in turn if at] or [last]
        last = max(known[0], known[-1])
        found.append((known[0], last))
    return found


def _seconds(value: object) -> float:
    match value:
        case bool():
            return 0
        case int() | float() if 0 < value < _IN_MS * 1000:
            return value / 1000 if value > _IN_MS else float(value)
        case str():
            return _from_text(value)
        case _:
            return 0


def _from_text(text: str) -> float:
    try:
        read = datetime.fromisoformat(text)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0
