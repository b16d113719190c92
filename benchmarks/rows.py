"""What a run finds: one row per figure, with its budget where there is one."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """`low` and `high` are the spread over rounds. `limit` is the budget: at most, or at least. `subject` is who was
    measured, where the row is that and no more. Without a figure the value is not a number, and the note says why."""

    scenario: str
    what: str
    value: float
    unit: str
    low: float
    high: float
    limit: float | None = None
    at_least: bool = False
    note: str = ""
    subject: str = ""

    @property
    def absent(self) -> bool:
        return math.isnan(self.value)

    @property
    def met(self) -> bool | None:
        if self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def row(
    scenario: str,
    what: str,
    values: Sequence[float],
    unit: str,
    *,
    limit: float | None = None,
    at_least: bool = False,
    note: str = "",
    subject: str = "",
) -> Row:
    """The median of the rounds, and how far they lie apart."""
    middle = statistics.median(values)
    return Row(scenario, what, middle, unit, min(values), max(values), limit, at_least, note, subject)


def absent(scenario: str, what: str, why: str, subject: str = "") -> Row:
    return Row(scenario, what, math.nan, "", math.nan, math.nan, note=why, subject=subject)


def ratios(values: Sequence[float], floor: Sequence[float]) -> list[float]:
    """Round by round, so that what disturbs the machine disturbs both sides."""
    return [value / least for value, least in zip(values, floor, strict=True)]


def percentile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
