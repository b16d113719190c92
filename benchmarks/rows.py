"""What a run finds: one row per figure, with its budget where there is one."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """`low` and `high` are the spread over rounds. `limit` is the budget: at most, or at least."""

    scenario: str
    what: str
    value: float
    unit: str
    low: float
    high: float
    limit: float | None = None
    at_least: bool = False
    note: str = ""

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
) -> Row:
    """The median of the rounds, and how far they lie apart."""
    middle = statistics.median(values)
    return Row(scenario, what, middle, unit, min(values), max(values), limit, at_least, note)


def ratios(values: Sequence[float], floor: Sequence[float]) -> list[float]:
    """Round by round, so that what disturbs the machine disturbs both sides."""
    return [value / least for value, least in zip(values, floor, strict=True)]


def percentile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
