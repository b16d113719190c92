"""The table as text and as JSON, and what machine it is from."""

import math
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks.rows import Row

NUMBERS = ("value", "low", "high")  # null where there is no figure
VERDICTS = {None: "", True: "ok", False: "MISSED"}


def table(rows: Sequence[Row]) -> str:
    head = ("", "what", "figure", "spread", "budget", "", "")
    lines = [head, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    made: list[str] = []
    for before, line in zip([head, *lines], lines, strict=False):
        gap = "" if line[0] == before[0] else "\n"
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        cells[2] = line[2].rjust(widths[2])
        made.append(gap + "  ".join(cells).rstrip())
    return "\n".join(made)


@dataclass(frozen=True, slots=True)
class Run:
    """All that a table, a picture or a page is made from."""

    machine: dict[str, str | int | float]
    rows: tuple[Row, ...]

    @property
    def about(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.machine.items())


def as_json(run: Run) -> bytes:
    rows = [{**msgspec.to_builtins(row), "met": row.met} for row in run.rows]
    return msgspec.json.format(msgspec.json.encode({"machine": run.machine, "rows": rows}))


def from_json(written: bytes) -> Run:
    found = msgspec.json.decode(written)
    rows = [
        {name: math.nan if value is None and name in NUMBERS else value for name, value in row.items()}
        for row in found["rows"]
    ]
    return msgspec.convert({"machine": found["machine"], "rows": rows}, Run)


def machine() -> dict[str, str | int | float]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": sys.version.split()[0],
    }


def number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _cells(row: Row) -> tuple[str, ...]:
    if row.absent:
        return row.scenario, row.what, "-", "", "", "", row.note
    spread = f"{number(row.low)} .. {number(row.high)}" if row.low != row.high else ""
    sign = ">=" if row.at_least else "<="
    budget = f"{sign} {row.limit:g}" if row.limit is not None else ""
    return row.scenario, row.what, f"{number(row.value)} {row.unit}", spread, budget, VERDICTS[row.met], row.note


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
